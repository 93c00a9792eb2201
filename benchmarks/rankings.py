"""Writes the rankings of every method that needs no language model, to compare two commits digit by digit.

    python benchmarks/rankings.py before.json      # at one commit
    python benchmarks/rankings.py after.json before.json      # at another: lists the methods that differ

Indexes are built anew, with hashed words instead of a model, so a difference comes from the code alone. Corpora with
extracted triples use these; the local extractor reads the first passages of the others.
"""

import gzip
import json
import os
import sys
import tempfile
import time
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import triplebeam
from triplebeam.testing.hashed_words import HashedWords

TRIPLES = "triples.gpt-3.5-turbo-1106.jsonl.gz"
#: Corpus: the number of its first passages that are indexed.
CORPORA = {
    "musique": 12_000,
    "2wikimultihopqa": 12_000,
    "hotpotqa": 12_000,
    "beyond/multihoprag": 800,
    "beyond/lihuaworld": 250,
    "beyond/graphragbench_novel": 800,
}
METHODS = [
    "blend",
    "blend[share=1]",
    "bm25",
    "dense",
    "hybrid",
    "scaled_hybrid",
    "hybrid+naive_ge",
    "bm25+naive_ge[scorer=pooled]",
    "gnn_ret",
    "scaled_hybrid+gnn_ret",
    "hipporag[entities=verbatim]",
    "hipporag2",
    "title_link",
]
QUESTIONS = 60
#: Scores are compared to nine digits: sums in another order differ beyond.
DIGITS = 9


def read_rows(path: Path) -> list[dict[str, Any]]:
    """Read a gzipped file of JSON lines."""
    with gzip.open(path, "rt", encoding="utf-8") as lines:
        return [json.loads(line) for line in lines]


def build_index(folder: Path, data: Path, passages: int) -> Any:
    """Index the first passages of a dataset."""
    index = triplebeam.Index(folder, embedder=HashedWords(64))
    rows = read_rows(data / "corpus.jsonl.gz")[:passages]
    rows = [row | {"half": "even" if number % 2 == 0 else "odd"} for number, row in enumerate(rows)]
    known = {row["id"] for row in rows}
    if (data / TRIPLES).exists():
        triples = folder.parent / "triples.jsonl"
        lines = (json.dumps(row) for row in read_rows(data / TRIPLES) if row["passage_id"] in known)
        triples.write_text("\n".join(lines), encoding="utf-8")
        index.add_documents(rows, triples=triples)
    else:
        index.add_documents(rows, extractor="local")
    return index


def rank_questions(index: Any, questions: list[str]) -> Iterator[tuple[str, list[Any]]]:
    """Yield the 15 best passages of every question by every method, whole and under a filter."""
    for method in METHODS:
        yield method, [rank(index, question, method) for question in questions]
    view = index.filter('half = "even"')
    yield "blend, filtered", [rank(view, question, "blend") for question in questions]


def rank(index: Any, question: str, method: str) -> list[tuple[str, float]]:
    """Rank passages by one method."""
    return [(hit.passage.id, round(hit.score, DIGITS)) for hit in index.search(question, method=method, k=15)]


def main() -> None:
    data = Path(os.environ["TRIPLEBEAM_DATA"])
    found: dict[str, Any] = {}
    for name, passages in CORPORA.items():
        started = time.process_time()
        with tempfile.TemporaryDirectory() as scratch:
            index = build_index(Path(scratch) / "index", data / name, passages)
            questions = [row["question"] for row in read_rows(data / name / "questions.dev.jsonl.gz")][:QUESTIONS]
            found |= {f"{name} {method}": rankings for method, rankings in rank_questions(index, questions)}
        print(f"{name}: {time.process_time() - started:.0f} s of CPU", file=sys.stderr)
    Path(sys.argv[1]).write_text(json.dumps(found, indent=0), encoding="utf-8")
    if len(sys.argv) > 2:
        before = json.loads(Path(sys.argv[2]).read_text(encoding="utf-8"))
        different = [key for key in before if json.loads(json.dumps(found.get(key))) != before[key]]
        print("\n".join(different) or f"all {len(before)} lists of rankings are identical")


if __name__ == "__main__":
    main()
