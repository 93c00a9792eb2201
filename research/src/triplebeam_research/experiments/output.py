"""An evaluation as files: a report to read, a page to look at, and data for tools."""

import json
import re
from collections.abc import Sequence
from dataclasses import asdict
from pathlib import Path

import numpy as np

from triplebeam.errors import BadInputError
from triplebeam.evaluate.measures import measure_all, summary
from triplebeam.evaluate.run import Evaluation, Run
from triplebeam_research.experiments.trec import write_judgements, write_run
from triplebeam_research.report import html_report, markdown_report


def write_evaluation(folder: Path, evaluation: Evaluation) -> list[Path]:
    """Write ``report.html``, ``report.md``, ``results.json``, ``qrels.txt`` and ``runs/METHOD.trec``."""
    try:
        return _write_files(folder, evaluation)
    except OSError as error:
        raise BadInputError(
            f"the report cannot be written to {folder} ({error.strerror}): name another folder with --out; results are"
            " kept and not computed again."
        ) from error


def _write_files(folder: Path, evaluation: Evaluation) -> list[Path]:
    (folder / "runs").mkdir(parents=True, exist_ok=True)
    page, text, data = folder / "report.html", folder / "report.md", folder / "results.json"
    page.write_text(html_report(evaluation), encoding="utf-8")
    text.write_text(markdown_report(evaluation), encoding="utf-8")
    data.write_text(json.dumps(make_json(evaluation), indent=1, ensure_ascii=False) + "\n", encoding="utf-8")
    write_judgements(folder / "qrels.txt", evaluation.questions)
    for run in evaluation.runs:
        write_run(folder / "runs" / f"{file_name(run.method)}.trec", run.method, run.results)
    return [page, text, data]


def make_json(evaluation: Evaluation) -> dict[str, object]:
    """Return all results of all questions, with the measures of each."""
    return {
        "title": evaluation.title,
        "facts": dict(evaluation.facts),
        "advice": evaluation.advice,
        "methods": {run.method: summary(evaluation, run) for run in evaluation.runs},
        "questions": [
            {name: value for name, value in asdict(question).items() if name != "unresolved"}
            for question in evaluation.questions
        ],
        "results": {run.method: _results(evaluation, run) for run in evaluation.runs},
    }


def _results(evaluation: Evaluation, run: Run) -> list[dict[str, object]]:
    columns = measure_all(evaluation, run)
    return [
        {
            **result.to_json(),
            "measures": {name: float(column[row]) for name, column in columns.items() if not np.isnan(column[row])},
        }
        for row, result in enumerate(run.results)
    ]


def render_across(evaluations: Sequence[Evaluation], names: Sequence[str], measures: Sequence[str]) -> str:
    """Render one Markdown table of a method's figures on several datasets, in the form papers print them."""
    methods = list(dict.fromkeys(run.method for evaluation in evaluations for run in evaluation.runs))
    cells = {
        (run.method, name): [_per_cent(summary(evaluation, run).get(measure)) for measure in measures]
        for evaluation, name in zip(evaluations, names, strict=True)
        for run in evaluation.runs
    }
    head = ["method", *(f"{name} {' / '.join(measures)}" for name in names)]
    rows = [[f"`{method}`", *(" / ".join(cells.get((method, name), ["–"])) for name in names)] for method in methods]
    lines = [head, ["---"] * len(head), *rows]
    return "".join(f"| {' | '.join(line)} |\n" for line in lines)


def _per_cent(share: float | None) -> str:
    return "–" if share is None else f"{100 * share:.1f}"


def file_name(method: str) -> str:
    """Return a method's name as the name of a file."""
    return re.sub(r"[^\w.=+-]+", "_", method).strip("_")
