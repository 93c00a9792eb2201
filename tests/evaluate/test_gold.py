"""Gold that a person wrote, by file, phrase or alternatives: looked up in an index, found again after another cut."""

import json
from pathlib import Path

import pytest

from triplebeam.errors import BadInputError
from triplebeam.evaluate.questions import MAX_MISSING_SHOWN, Question, find_gold, read_questions
from triplebeam.index.arrays.array_set import MemoryArrays
from triplebeam.index.folder.tables import PassageTable, write_passages
from triplebeam.passage import Passage

PAGES = {
    "/docs/usage/lock.html": [
        "Locking. The option --lock-wait says how long a command waits.",
        "A stale\n  lock is removed with break-lock.",
    ],
    "/docs/usage/prune.html": ["Pruning keeps the newest archives.", "It waits for the lock as well."],
    "/docs/faq.html": ["Why does it wait? Another process holds the lock."],
}


def table(pages: dict[str, list[str]]) -> PassageTable:
    passages = [
        Passage(id=f"{document}#{position}", text=text, document_id=document, position=position)
        for document, texts in pages.items()
        for position, text in enumerate(texts)
    ]
    arrays = MemoryArrays()
    write_passages(arrays, passages)
    return PassageTable(arrays)


@pytest.fixture
def passages() -> PassageTable:
    return table(PAGES)


def read(tmp_path: Path, *gold: object) -> list[Question]:
    path = tmp_path / "questions.jsonl"
    path.write_text(json.dumps({"id": "q1", "question": "How long?", "gold": gold}), encoding="utf-8")
    return read_questions(path)


def find_entries(tmp_path: Path, passages: PassageTable, *gold: object) -> list[list[str]]:
    """The passages of each entry, without the folder."""
    [question] = find_gold(read(tmp_path, *gold), passages)
    return [[each.removeprefix("/docs/") for each in group] for group in question.groups]


@pytest.mark.parametrize(
    ("entry", "expected"),
    [
        ({"file": "usage/lock.html", "phrase": "how long a command waits"}, ["usage/lock.html#0"]),
        ({"file": "lock.html", "phrase": "STALE LOCK is"}, ["usage/lock.html#1"]),  # case and white space are folded
        ({"file": "/docs/usage/prune.html"}, ["usage/prune.html#0", "usage/prune.html#1"]),
        ({"phrase": "the lock"}, ["usage/prune.html#1", "faq.html#0"]),
        (
            {"any": [{"file": "faq.html", "phrase": "holds the lock"}, "/docs/usage/lock.html#0"]},
            ["faq.html#0", "usage/lock.html#0"],
        ),
    ],
)
def test_an_entry_is_looked_up_in_the_index(
    tmp_path: Path, passages: PassageTable, entry: object, expected: list[str]
) -> None:
    assert find_entries(tmp_path, passages, entry) == [expected]


def test_the_first_passage_of_every_part_comes_first_in_the_gold(tmp_path: Path, passages: PassageTable) -> None:
    [question] = find_gold(read(tmp_path, {"file": "prune.html"}, "/docs/faq.html#0"), passages)
    prune = "/docs/usage/prune.html"
    assert question.gold == (f"{prune}#0", "/docs/faq.html#0", f"{prune}#1")
    assert not question.unresolved


def test_gold_by_passage_id_is_left_as_it_is(tmp_path: Path, passages: PassageTable) -> None:
    questions = read(tmp_path, "/docs/faq.html#0", "/docs/usage/lock.html#1")
    assert find_gold(questions, passages) == questions
    assert questions[0].gold == ("/docs/faq.html#0", "/docs/usage/lock.html#1")
    assert not questions[0].groups


def test_a_phrase_is_found_again_when_the_documents_are_cut_anew(tmp_path: Path) -> None:
    entry = {"file": "lock.html", "phrase": "stale lock is removed"}
    whole = table({page: [" ".join(texts)] for page, texts in PAGES.items()})
    assert find_entries(tmp_path, whole, entry) == [["usage/lock.html#0"]]
    inside = table({"/docs/lock.html": ["How long?", "A stale lock", "is removed.", "So it is."]})
    assert find_entries(tmp_path, inside, entry) == [["lock.html#1", "lock.html#2"]]  # each holds a half of it


@pytest.mark.parametrize(
    ("entry", "message"),
    [
        (
            {"file": "locks.html", "phrase": "how long"},
            r"question 'q1' names the phrase 'how long' in the file 'locks.html', but the index has no such file"
            r" \(near: '/docs/usage/lock.html'\)",
        ),
        (
            {"file": "faq.html", "phrase": "how long"},
            r"question 'q1' names the phrase 'how long' in the file 'faq.html', but no passage contains it"
            r" \(it is in '/docs/usage/lock.html'\)",
        ),
        ({"phrase": "not there"}, "question 'q1' names the phrase 'not there', but no passage contains it: copy"),
        ({"any": [{"file": "faq.html"}, {"phrase": "nowhere"}]}, "the phrase 'nowhere'"),
        ("/docs/faq.html#9", r"'/docs/faq.html#9' of question 'q1' is not in the index \(did you mean '/docs/faq"),
        ({"any": ["/docs/faq.html#9"]}, r"'/docs/faq.html#9' of question 'q1' is not in the index \(did you mean"),
    ],
)
def test_what_is_not_in_the_index_is_named(tmp_path: Path, passages: PassageTable, entry: object, message: str) -> None:
    with pytest.raises(BadInputError, match=message):
        find_gold(read(tmp_path, entry), passages)


def test_all_gold_that_is_missing_is_named_at_once_up_to_a_limit(tmp_path: Path, passages: PassageTable) -> None:
    asked = [Question(id=str(number), question="?", gold=(f"no-{number}",)) for number in range(30)]
    with pytest.raises(BadInputError, match=r"'no-0' of question '0'.*\n.*'no-1' of question '1'") as few:
        find_gold(asked[:2], passages)
    assert len(str(few.value).splitlines()) == 2
    with pytest.raises(BadInputError, match=r"Later questions were not looked at\.$") as many:
        find_gold(asked, passages)
    assert len(str(many.value).splitlines()) == MAX_MISSING_SHOWN + 1


@pytest.mark.parametrize(
    ("entry", "message"),
    [
        ({}, "line 1: {} is no gold"),
        ({"file": " "}, 'is no gold: a passage id is expected, or an object with "file", "phrase" or both'),
        ({"page": "faq.html"}, "is no gold"),
        ({"any": []}, "line 1: 'any' is not a list"),
        ({"any": [["faq.html"]]}, "is no gold"),
        (None, "line 1: null is no gold"),
    ],
)
def test_what_is_no_gold_is_refused_with_its_line(tmp_path: Path, entry: object, message: str) -> None:
    with pytest.raises(BadInputError, match=message):
        read(tmp_path, entry)
