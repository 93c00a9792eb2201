"""The questions that come with the benchmarks: their gold is where they say, and half need two files."""

from pathlib import Path

import pytest

from triplebeam.evaluate.gold import Entry, Place
from triplebeam.evaluate.questions import read_questions
from triplebeam.ingest import read_sources
from triplebeam.ingest.split import split
from triplebeam.passage import Document

BENCHMARKS = Path(__file__).parents[2] / "benchmarks"


def files(entry: Entry) -> set[str]:
    return {place.file for place in entry if isinstance(place, Place)}


@pytest.mark.parametrize("name", ["aptitude", "borgbackup", "exim"])
def test_half_of_the_questions_need_two_files_and_quotations_are_short(name: str) -> None:
    questions = read_questions(BENCHMARKS / "technical-docs" / f"{name}.jsonl")
    two = [question for question in questions if question.hops == 2]
    assert (len(questions), len(two)) == (22, 11)
    for question in two:
        first, second = question.unresolved
        assert not files(first) & files(second), question.id
    assert all(len(question.unresolved) == question.hops for question in questions)
    places = [each for question in questions for entry in question.unresolved for each in entry]
    assert all(isinstance(place, Place) and place.file and 2 < len(place.phrase.split()) < 20 for place in places)


def test_the_questions_on_process_managers_need_two_files_or_one() -> None:
    questions = read_questions(BENCHMARKS / "process-manuals" / "questions.jsonl")
    two = [question for question in questions if question.hops == 2]
    assert (len(two), len(questions)) == (63, 93)
    assert all(not files(first) & files(second) for first, second in (question.unresolved for question in two))


@pytest.mark.parametrize(("tokens", "passages"), [(60, 162), (120, 79)])
def test_the_cut_still_gives_the_gold_passages(tokens: int, passages: int, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(BENCHMARKS / "split-documents")
    documents = [read for read in read_sources([Path("documents")]) if isinstance(read, Document)]
    ids = [passage.id for document in documents for passage in split(document, tokens)]
    questions = read_questions(Path(f"questions-{tokens}-tokens.jsonl"))
    assert (len(documents), len(ids), len(questions)) == (10, passages, 38)
    for question in questions:
        first, second = question.gold
        assert {first, second} <= set(ids)
        within = first.partition("#")[0] == second.partition("#")[0]
        assert question.type == ("one document" if within else "two documents")
