"""Questions: what is read, and what is refused with its place."""

import gzip
import json
from pathlib import Path

import pytest

from triplebeam.errors import BadInputError
from triplebeam.evaluate.questions import Question, find_gold, read_questions
from triplebeam.index.folder.snapshot import Snapshot

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


def test_a_repeated_question_counts_once(tmp_path: Path) -> None:
    path = write(tmp_path / "q.jsonl", ROW, ROW | {"id": "q2", "duplicate_of": "q1"})
    assert [question.id for question in read_questions(path)] == ["q1"]


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
    ],
)
def test_what_cannot_be_used_is_refused_with_its_line(tmp_path: Path, rows: list[object], message: str) -> None:
    with pytest.raises(BadInputError, match=message):
        read_questions(write(tmp_path / "q.jsonl", *rows))


def test_no_id_is_the_line_a_repeated_row_counts_once_and_a_mark_of_byte_order_does_no_harm(tmp_path: Path) -> None:
    rows = [json.dumps({"id": None, "question": " Who? ", "gold": gold}) for gold in (["film"], ["lake"], ["film"])]
    (tmp_path / "q.jsonl").write_text("\n".join(rows), encoding="utf-8-sig")
    assert [(each.id, each.question) for each in read_questions(tmp_path / "q.jsonl")] == [("1", "Who?"), ("2", "Who?")]


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


def test_a_gold_passage_that_is_not_indexed_is_named(world: Snapshot) -> None:
    find_gold([Question(id="q1", question="?", gold=("film", "lake"))], world.passages)
    with pytest.raises(BadInputError, match=r"'flim' of question 'q1' is not in the index \(did you mean 'film'\?\)"):
        find_gold([Question(id="q1", question="?", gold=("flim",))], world.passages)
    with pytest.raises(BadInputError, match="'nowhere' of question 'q1'"):
        find_gold([Question(id="q1", question="?", gold=("film", "nowhere"))], world.passages)
