"""The benchmark of split documents: its gold passages are named by ids, which our cut must still give."""

from pathlib import Path

import pytest

from triplebeam.evaluate.questions import read_questions
from triplebeam.ingest import read_sources
from triplebeam.ingest.split import split
from triplebeam.passage import Document

FOLDER = Path(__file__).parents[3] / "benchmarks" / "split-documents"


@pytest.mark.parametrize(("tokens", "passages"), [(60, 162), (120, 79)])
def test_the_cut_still_gives_the_gold_passages(tokens: int, passages: int, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(FOLDER)
    documents = [read for read in read_sources([Path("documents")]) if isinstance(read, Document)]
    ids = [passage.id for document in documents for passage in split(document, tokens)]
    questions = read_questions(FOLDER / f"questions-{tokens}-tokens.jsonl")
    assert (len(documents), len(ids), len(questions)) == (10, passages, 38)
    for question in questions:
        first, second = question.gold
        assert {first, second} <= set(ids)
        within = first.partition("#")[0] == second.partition("#")[0]
        assert question.type == ("one document" if within else "two documents")
