"""Figures for tables: a JSON file with one row for each method on each dataset, as ``--results FILE`` writes it.

A row is found by its dataset, method, embedder, triples, number of questions and model, and by ``keyword_passages`` of
an index that was not built with the default, if the method reads the graph of passages; measured again, its figures are
replaced. The tables of README and docs are made from such a file (benchmarks/tables.py).
"""

import json
import re
from collections.abc import Iterable, Iterator, Mapping
from datetime import UTC, datetime
from pathlib import Path
from typing import TypeAlias

from triplebeam.errors import BadInputError
from triplebeam.evaluate.measures import summary
from triplebeam.evaluate.run import Evaluation, Run, code_version
from triplebeam.index.manifest import MAX_PASSAGES

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
