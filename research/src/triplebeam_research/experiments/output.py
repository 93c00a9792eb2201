"""An evaluation as files: a report to read, a page to look at, and data for tools.

Runs and judgements are in the formats of TREC, which every tool of the field reads: a run has a line ``question Q0
passage rank score tag``, judgements (qrels) a line ``question 0 passage relevance``. Both are split at white space, so
an id that holds some is written with ``_`` in its place.

Figures for tables are a JSON file with one row for each method on each dataset, as ``--results FILE`` writes it. A row
is found by its dataset, method, embedder, triples, number of questions and model, and by ``keyword_passages`` of an
index that was not built with the default, if the method reads the graph of passages; measured again, its figures are
replaced. The tables of README and docs are made from such a file (benchmarks/tables.py).
"""

import json
import re
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import asdict
from datetime import UTC, datetime
from pathlib import Path
from typing import TypeAlias

import numpy as np

from triplebeam.errors import BadInputError
from triplebeam.evaluate.measures import measure_all, summary
from triplebeam.evaluate.questions import Question, open_text
from triplebeam.evaluate.run import Evaluation, QuestionResult, Run, code_version
from triplebeam.index.source import MAX_PASSAGES
from triplebeam.text.phrases import NOTHING, percent
from triplebeam_research.report import write_report


def write_evaluation(folder: Path, evaluation: Evaluation) -> list[Path]:
    """Write ``report.html``, ``report.md`` with its plots, ``results.json``, ``qrels.txt``, ``runs/METHOD.trec``."""
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
    report = write_report(evaluation)
    page.write_text(report.page(), encoding="utf-8")
    text.write_text(report.text, encoding="utf-8")
    for name, drawing in report.plots.items():
        (folder / name).write_text(drawing, encoding="utf-8")
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
        (run.method, name): [
            NOTHING if share is None else percent(share) for share in map(summary(evaluation, run).get, measures)
        ]
        for evaluation, name in zip(evaluations, names, strict=True)
        for run in evaluation.runs
    }
    head = ["method", *(f"{name} {' / '.join(measures)}" for name in names)]
    rows = [
        [f"`{method}`", *(" / ".join(cells.get((method, name), [NOTHING])) for name in names)] for method in methods
    ]
    lines = [head, ["---"] * len(head), *rows]
    return "".join(f"| {' | '.join(line)} |\n" for line in lines)


def file_name(method: str) -> str:
    """Return a method's name as the name of a file."""
    return re.sub(r"[^\w.=+-]+", "_", method).strip("_")


_SPACE = re.compile(r"\s+")


def write_run(path: Path, tag: str, results: Sequence[QuestionResult]) -> None:
    """Write a run. Scores fall with the rank: tools that order by score again find the same order, without ties."""
    lines = [
        f"{_word(result.question_id)} Q0 {_word(passage_id)} {rank} {1 / rank:.6f} {_word(tag)}\n"
        for result in results
        for rank, passage_id in enumerate(result.passage_ids, start=1)
    ]
    path.write_text("".join(lines), encoding="utf-8")


def write_judgements(path: Path, questions: Sequence[Question]) -> None:
    """Write the gold passages as qrels. Where any of several is enough, all are in it: other tools count each."""
    lines = [f"{_word(question.id)} 0 {_word(gold)} 1\n" for question in questions for gold in question.gold]
    path.write_text("".join(lines), encoding="utf-8")


def read_run(path: Path) -> dict[str, tuple[str, ...]]:
    """Read another system's run, to compare with ours: question id to passage ids, best first.

    Also as JSON lines of ``id`` and ``retrieved``, plain or gzipped.
    """
    with open_text(path) as file:
        lines = file.read().splitlines()
    read = _json_row if ".jsonl" in path.name else _trec_row
    found: dict[str, list[tuple[int, str]]] = {}
    for number, line in enumerate(lines, start=1):
        try:
            question_id, ranked = read(line)
        except (ValueError, KeyError, TypeError):
            raise BadInputError(
                f"{path}, line {number} is not a line of a run: question, Q0, passage, rank, score and tag are"
                " expected, or in JSON lines an object with id and retrieved."
            ) from None
        found.setdefault(question_id, []).extend(ranked)
    return {id_: tuple(dict.fromkeys(passage_id for _, passage_id in sorted(each))) for id_, each in found.items()}


def _trec_row(line: str) -> tuple[str, list[tuple[int, str]]]:
    question_id, _, passage_id, rank, _, _ = line.split()
    return question_id, [(int(rank), passage_id)]


def _json_row(line: str) -> tuple[str, list[tuple[int, str]]]:
    row = json.loads(line)
    return str(row["id"]), [(rank, str(passage_id)) for rank, passage_id in enumerate(row["retrieved"], start=1)]


def find_in_run(question: Question, run: Mapping[str, tuple[str, ...]]) -> QuestionResult | None:
    """Find a question's result in a run. A gold passage is also recognised by the id that `write_run` gives it."""
    found = run.get(question.id, run.get(_word(question.id)))
    if found is None:
        return None
    gold = {_word(passage_id): passage_id for passage_id in question.gold}
    return QuestionResult(question_id=question.id, passage_ids=tuple(gold.get(each, each) for each in found))


def _word(text: str) -> str:
    return _SPACE.sub("_", text)


Row: TypeAlias = dict[str, object]
Key: TypeAlias = tuple[str, ...]
KEY = ("dataset", "method", "embedder", "triples", "questions", "model", "keyword_passages")
#: Methods that read the graph of passages.
_ON_PASSAGE_GRAPH = re.compile(r"\b(?:gnn_ret|kgp)\b")
_IN_PER_CENT = ("R@5", "R@10", "R@15", "EM", "F1", "Accuracy", "Judged")
_EXTRACTOR = re.compile(r"[\d,]+ by (?:given:(?:triples\.)?(?P<file>[^:]+?)(?:\.jsonl)?(?:\.gz)?:|(?P<name>[^:, ]+))")


def add_results(path: Path, index: Path, dataset: str, evaluation: Evaluation) -> None:
    """Put the evaluation's figures into the file; without a name, a dataset is called after its index."""
    add_rows(
        path,
        [
            _row(dataset or index.name.partition(".")[0], evaluation, run)
            for run in evaluation.runs
            if any(result.seconds for result in run.results)  # another system's run is not ours to publish
        ],
    )


def add_rows(path: Path, added: Iterable[Row]) -> None:
    """Put rows into the file; each replaces the one with its key."""
    rows = _read(path)
    for row in added:
        rows[_key(row)] = rows.get(_key(row), {}) | row
    lines = ",\n".join(f" {json.dumps(rows[key], ensure_ascii=False)}" for key in sorted(rows))
    try:
        path.write_text(f"[\n{lines}\n]\n", encoding="utf-8")
    except OSError as error:
        raise BadInputError(f"the results cannot be written to {path}: {error.strerror}.") from error


def _read(path: Path) -> dict[Key, Row]:
    if not path.exists():
        return {}
    try:
        return {_key(row): row for row in json.loads(path.read_text(encoding="utf-8"))}
    except (OSError, ValueError, KeyError, TypeError, RecursionError):
        raise BadInputError(f"{path} is not a file of results: name one that --results wrote, or a new one.") from None


def _key(row: Row) -> Key:
    return str(row["dataset"]), str(row["method"]), *(str(row.get(name, "")) for name in KEY[2:])


def _row(dataset: str, evaluation: Evaluation, run: Run) -> Row:
    figures, facts = summary(evaluation, run), evaluation.facts
    called = any(result.usage.all_calls for result in run.results)
    return {
        "dataset": dataset,
        "method": run.method,
        "embedder": facts["embedder"],
        "triples": "+".join(_extractors(facts["triples"])),
        "questions": len(run.results),
        **({"model": facts["model"]} if called and "model" in facts else {}),
        **_keyword_passages(run.method, facts),
        **{name: round(100 * share, 2) for name in _IN_PER_CENT if (share := figures.get(name)) is not None},
        **({"encodings": figures["encodings"]} if figures["encodings"] else {}),  # 0 also where they were not counted
        "measured": f"{datetime.now(UTC):%Y-%m-%d}",
        "code": code_version(),
    }


def _keyword_passages(method: str, facts: Mapping[str, str]) -> Row:
    bound = int(facts.get("keyword_passages", MAX_PASSAGES))
    return {"keyword_passages": bound} if bound != MAX_PASSAGES and _ON_PASSAGE_GRAPH.search(method) else {}


def _extractors(words: str) -> Iterator[str]:
    """Shorten ``109,144 by given:triples.gpt-3.5.jsonl.gz:1f2e…`` to ``gpt-3.5``; other words stay as they are."""
    found = [match["file"] or match["name"] for match in _EXTRACTOR.finditer(words)]
    yield from sorted(found) or [words]
