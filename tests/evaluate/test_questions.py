"""Questions: what is read, and what is refused with its place.

Gold that a person wrote, by file, phrase or alternatives: looked up in an index, found again after another cut.
"""

import gzip
import json
from pathlib import Path

import pytest

from triplebeam.errors import BadInputError
from triplebeam.evaluate.questions import MAX_MISSING_SHOWN, Question, find_gold, read_questions
from triplebeam.index.arrays.array_set import MemoryArrays
from triplebeam.index.folder.tables import PassageTable, write_passages
from triplebeam.passage import Passage

ROW = {"id": "q1", "question": "Who directed it?", "gold": ["film", "director", "film"]}


def write(path: Path, *rows: object) -> Path:
    text = "\n".join(row if isinstance(row, str) else json.dumps(row) for row in rows) + "\n"
    if path.suffix == ".gz":
        path.write_bytes(gzip.compress(text.encode()))
    else:
        path.write_text(text, encoding="utf-8")
    return path


@pytest.mark.parametrize("name", ["q.jsonl", "q.jsonl.gz"])
def test_reads_lines_plain_and_gzipped(tmp_path: Path, name: str) -> None:
    path = write(tmp_path / name, ROW, "", {"question": "No id?", "gold": ["lake"], "answers": ["Ann"], "hops": 2})
    assert read_questions(path) == [
        Question(id="q1", question="Who directed it?", gold=("film", "director")),
        Question(id="3", question="No id?", gold=("lake",), answers=("Ann",), hops=2),
    ]


@pytest.mark.parametrize(
    ("rows", "message"),
    [
        ([], "holds no questions"),
        ([ROW, "{broken"], "line 2 is not JSON"),
        ([ROW, "[1, 2]"], "line 2 is not a JSON object"),
        ([ROW, ROW], "line 2: the id 'q1' is already used in line 1"),
        ([{"id": "q", "gold": ["film"]}], "line 1 has no question"),
        ([{"id": "q", "question": " ", "gold": ["film"]}], "line 1 has no question"),
        ([{"id": "q", "question": "?"}], "line 1 has neither gold passages"),
        ([{"id": "q", "question": "?", "gold": []}], "line 1 has neither gold passages"),
        ([{"id": "q", "question": "?", "gold": "film"}], "line 1: 'gold' is not a list"),
        ([{"id": "q", "question": "?", "answers": [["a"]]}], "line 1: 'answers' is not a list"),
        ([ROW | {"gold": [{}]}], "line 1: {} is no gold"),
        ([ROW | {"gold": [{"file": " "}]}], 'is no gold: a passage id is expected, or an object with "file", "phrase"'),
        ([ROW | {"gold": [{"page": "faq.html"}]}], "is no gold"),
        ([ROW | {"gold": [{"any": []}]}], "line 1: 'any' is not a list"),
        ([ROW | {"gold": [{"any": [["faq.html"]]}]}], "is no gold"),
        ([ROW | {"gold": [None]}], "line 1: null is no gold"),
    ],
)
def test_what_cannot_be_used_is_refused_with_its_line(tmp_path: Path, rows: list[object], message: str) -> None:
    with pytest.raises(BadInputError, match=message):
        read_questions(write(tmp_path / "q.jsonl", *rows))


def test_no_id_is_the_line_a_repeated_row_counts_once_and_a_mark_of_byte_order_does_no_harm(tmp_path: Path) -> None:
    rows = [json.dumps({"id": None, "question": " Who? ", "gold": gold}) for gold in (["film"], ["lake"], ["film"])]
    (tmp_path / "q.jsonl").write_text("\n".join(rows), encoding="utf-8-sig")
    assert [(each.id, each.question) for each in read_questions(tmp_path / "q.jsonl")] == [("1", "Who?"), ("2", "Who?")]
    path = write(tmp_path / "q.jsonl", ROW, ROW | {"id": "q2", "duplicate_of": "q1"})
    assert [question.id for question in read_questions(path)] == ["q1"]


@pytest.mark.parametrize(
    ("name", "content"),
    [
        ("gone.jsonl", None),
        ("latin.jsonl", '{"question": "é"}'.encode("latin-1")),
        ("cut.jsonl.gz", gzip.compress(b"{}" * 99, mtime=0)[:-9]),
    ],
)
def test_a_file_that_cannot_be_read_is_named(tmp_path: Path, name: str, content: bytes | None) -> None:
    if content is not None:
        (tmp_path / name).write_bytes(content)
    with pytest.raises(BadInputError, match=rf"{name} cannot be read \(.*\): name a readable file"):
        read_questions(tmp_path / name)


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
    return read_questions(write(tmp_path / "questions.jsonl", {"id": "q1", "question": "How long?", "gold": gold}))


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
def test_an_entry_is_looked_up(tmp_path: Path, passages: PassageTable, entry: object, expected: list[str]) -> None:
    assert find_entries(tmp_path, passages, entry) == [expected]


def test_parts_come_first_and_gold_by_id_is_left_as_it_is(tmp_path: Path, passages: PassageTable) -> None:
    [question] = find_gold(read(tmp_path, {"file": "prune.html"}, "/docs/faq.html#0"), passages)
    prune = "/docs/usage/prune.html"
    assert question.gold == (f"{prune}#0", "/docs/faq.html#0", f"{prune}#1")
    assert not question.unresolved
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
