"""The questions on technical manuals that are shipped: a person can read them, and half of them need two files."""

from pathlib import Path

import pytest

from triplebeam.evaluate.gold import Entry, Place
from triplebeam.evaluate.questions import read_questions

FOLDER = Path(__file__).parents[2] / "benchmarks" / "technical-docs"


def files(entry: Entry) -> set[str]:
    return {place.file for place in entry if isinstance(place, Place)}


@pytest.mark.parametrize("name", ["aptitude", "borgbackup", "exim"])
def test_half_of_the_questions_need_two_files_and_quotations_are_short(name: str) -> None:
    questions = read_questions(FOLDER / f"{name}.jsonl")
    two = [question for question in questions if question.hops == 2]
    assert (len(questions), len(two)) == (22, 11)
    for question in two:
        first, second = question.unresolved
        assert not files(first) & files(second), question.id
    assert all(len(question.unresolved) == question.hops for question in questions)
    places = [each for question in questions for entry in question.unresolved for each in entry]
    assert all(isinstance(place, Place) and place.file and 2 < len(place.phrase.split()) < 20 for place in places)


def test_the_questions_on_process_managers_need_two_files_or_one() -> None:
    questions = read_questions(FOLDER.parent / "process-manuals" / "questions.jsonl")
    two = [question for question in questions if question.hops == 2]
    assert (len(two), len(questions)) == (63, 93)
    assert all(not files(first) & files(second) for first, second in (question.unresolved for question in two))
