"""Published formats: what is read of them, and what is refused with file, row and field.

``test_datasets.json`` holds the cases: the files of each (text, JSON, or the rows of JSON lines), and what is read of
them or the message of the refusal.
"""

import gzip
import json
from dataclasses import asdict
from pathlib import Path
from typing import Any, TypeAlias

import pytest
import typer
from hypothesis import HealthCheck, example, given, settings
from hypothesis import strategies as st
from typer.testing import CliRunner

from triplebeam.embed.embedder import Embedder
from triplebeam.errors import BadInputError
from triplebeam.evaluate.questions import find_gold, read_questions
from triplebeam.index.build.build import IndexBuilder
from triplebeam.index.folder.snapshot import Snapshot
from triplebeam.ingest import read_sources
from triplebeam_research.commands.dataset import dataset
from triplebeam_research.datasets import read_dataset, rows, write_dataset
from triplebeam_research.training.trainer import read_decompositions

TABLE = Path(__file__).with_suffix(".json")
CASES: dict[str, dict[str, Any]] = json.loads(TABLE.read_text(encoding="utf-8"))


def write(path: Path, content: object) -> Path:
    """Write a text, JSON or JSON lines; gzipped where the name says so."""
    if isinstance(content, dict) and list(content) == ["lines"]:
        content = "\n".join(map(json.dumps, content["lines"]))
    data = (content if isinstance(content, str) else json.dumps(content)).encode()
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_bytes(gzip.compress(data) if path.suffix == ".gz" else data)
    return path


def write_sources(folder: Path, case: dict[str, Any]) -> list[Path]:
    for name, content in case["files"].items():
        write(folder / name, content)
    return [folder / source for source in case["sources"]]


def drop_empty(fields: dict[str, Any]) -> dict[str, Any]:
    return {name: drop_empty(value) if isinstance(value, dict) else value for name, value in fields.items() if value}


def read(folder: Path, case: dict[str, Any]) -> dict[str, Any]:
    """Return what is read of a case's files, without what is empty; documents can be read more than once."""
    try:
        dataset = read_dataset(case["format"], write_sources(folder, case))
    except BadInputError as error:
        return {"refused": str(error).replace(str(folder), "FOLDER")}
    documents = [drop_empty(asdict(document)) for document in dataset.documents]
    assert documents == [drop_empty(asdict(document)) for document in dataset.documents]
    questions = [drop_empty(asdict(question)) for question in dataset.questions]
    found = {"documents": documents, "questions": questions, "left_out": dict(dataset.left_out)}
    return json.loads(json.dumps(found))  # type: ignore[no-any-return]


@pytest.mark.parametrize("name", CASES)
def test_what_is_read(tmp_path: Path, name: str) -> None:
    case = CASES[name]
    assert read(tmp_path, case) == case["read"]


def test_what_is_written_is_what_training_and_bench_read(tmp_path: Path) -> None:
    steps = read_dataset("musique", write_sources(tmp_path, CASES["sub questions"]))
    write_dataset(steps, tmp_path / "steps")
    [found] = read_decompositions(tmp_path / "steps" / "questions.jsonl").values()
    asked = ["Which town is south of Mirror Lake?", "Who founded Elm ?", "Is that so?"]
    assert [step.question for step in found] == asked
    assert [step.gold for step in found] == [*steps.questions[0].gold, ""]
    evidences = read_dataset("2wikimultihopqa", write_sources(tmp_path, CASES["evidences"]))
    write_dataset(evidences, tmp_path / "evidences")
    assert read_questions(tmp_path / "evidences" / "questions.jsonl")[0].evidences == evidences.questions[0].evidences


@pytest.mark.parametrize(("cut", "said"), [(slice(-9), "cut.jsonl.gz cannot be read"), (slice(None), "utf-8")])
def test_a_file_that_is_cut_or_in_another_encoding(tmp_path: Path, cut: slice, said: str) -> None:
    path = tmp_path / "cut.jsonl.gz"
    path.write_bytes(gzip.compress('["é"]'.encode("latin-1") * 50)[cut])
    with pytest.raises(BadInputError, match=said):
        read_dataset("musique", [path])


@pytest.mark.data
@pytest.mark.parametrize(("name", "passages", "gold"), [("books", 152, 2), ("university", 43, 4)])
def test_real_case_studies(data: Path, name: str, passages: int, gold: int) -> None:
    folder = data / "case_studies"
    files = [folder / f"{name}.corpus.json.gz", folder / f"{name}.questions.json.gz"]
    dataset = read_dataset("hipporag", files)
    assert len(list(dataset.documents)) == passages
    assert [len(question.gold) for question in dataset.questions] == [gold]


PARAGRAPHS = [
    {"title": "Mirror Lake", "paragraph_text": "Mirror Lake\nlies north of Elm \ud800.", "is_supporting": True},
    {"title": "Elm", "paragraph_text": "Elm was founded by Ann Moss.", "is_supporting": True},
    {"title": "Elm", "paragraph_text": "Elm trades in salt.", "is_supporting": False},
]
ROW = {"id": "2hop__1", "question": "Who founded Elm?", "paragraphs": PARAGRAPHS, "answer": "Ann Moss"}


def run(*arguments: object) -> str:
    """Return what the command tells."""
    app = typer.Typer(pretty_exceptions_enable=False)
    app.command()(dataset)
    result = CliRunner().invoke(app, [str(argument) for argument in arguments])
    if result.exception and not isinstance(result.exception, SystemExit):
        raise result.exception
    return result.stdout


@pytest.fixture
def musique(tmp_path: Path) -> Path:
    return write(tmp_path / "musique_ans_v1.0_dev.jsonl", {"lines": [ROW, ROW | {"answerable": False}]})


def test_index_and_bench_read_what_is_written(tmp_path: Path, musique: Path, words: Embedder) -> None:
    out = tmp_path / "out"
    run("musique", musique, out)
    assert sorted(path.name for path in out.iterdir()) == ["corpus.jsonl", "questions.jsonl"]
    ids = [document.id for document in read_dataset("musique", [musique]).documents]

    IndexBuilder(folder=tmp_path / "i", embedder=words).build(read_sources([out / "corpus.jsonl"]))
    index = Snapshot.open(tmp_path / "i")
    assert len(ids) == 3
    assert all(index.passages[passage_id].id == passage_id for passage_id in ids)
    assert index.passages[ids[1]].title == "Elm"
    asked = read_questions(out / "questions.jsonl")
    assert asked == read_dataset("musique", [musique]).questions
    find_gold(asked, index.passages)
    again = read_dataset("triplebeam", [out])
    assert [document.id for document in again.documents] == ids
    assert again.questions == asked


def test_it_tells_what_it_did_and_what_to_do_next(tmp_path: Path, musique: Path) -> None:
    out = tmp_path / "out"
    told = run("musique", musique, musique, out)
    commands = [
        f"triplebeam index {out}.index {out}/corpus.jsonl",
        f"triplebeam bench {out}.index {out}/questions.jsonl",
    ]
    left_out = "left out  2 marked unanswerable, 1 repeated"
    for line in ("passages  3", "questions  1 (1 of 2 hops)", left_out, *commands):
        assert f"{line}\n" in told
    assert json.loads(run("musique", musique, out, "--force", "--json")) == {
        "folder": str(out),
        "passages": 3,
        "questions": 1,
        "hops": {"2": 1},
        "left_out": {"marked unanswerable": 1},
        "to_be_cut": False,
        "next": commands,
    }


def test_nothing_is_overwritten_without_force(tmp_path: Path, musique: Path) -> None:
    out = tmp_path / "out"
    run("musique", musique, out)
    with pytest.raises(BadInputError, match=r"corpus.jsonl already exists: .* --force"):
        run("musique", musique, out)
    table = tmp_path / "bamboogle.csv"
    table.write_text("Question,Answer\nWho?,Ann\n")
    told = run("bamboogle", table, out, "--force")
    assert "passages  none" in told
    assert f"triplebeam bench INDEX {out / 'questions.jsonl'}\n" in told
    assert [path.name for path in out.iterdir()] == ["questions.jsonl"]  # no passages of another dataset beside them


ARTICLE = {"article": "Text.", "questions": [{"question": "?", "options": ["a"], "gold_label": 1}]}


def test_a_failure_leaves_what_was_there(tmp_path: Path, musique: Path) -> None:
    out = tmp_path / "out"
    run("musique", musique, out)
    before = {path.name: path.read_bytes() for path in out.iterdir()}
    late = write(tmp_path / "quality", [ARTICLE | {"article_id": "1"}, ARTICLE])
    with pytest.raises(BadInputError, match="row 2 has no 'article_id'"):
        run("quality", late, out, "--force")
    with pytest.raises(BadInputError, match="cannot be written to: "):
        run("musique", musique, musique / "out")
    assert {path.name: path.read_bytes() for path in out.iterdir()} == before


def test_articles_are_to_be_cut(tmp_path: Path) -> None:
    path = write(tmp_path / "QuALITY.v1.0.1.htmlstripped.dev", ARTICLE | {"article_id": "1"})
    told = run("quality", path, tmp_path / "out")
    assert "passages  1 documents, to be split into passages" in told
    assert "corpus.jsonl --split\n" in told


Json: TypeAlias = "bool | int | float | str | list[Json] | dict[str, Json] | None"
NUMBERS = st.integers(-(2**62), 2**62) | st.floats(allow_nan=False, allow_infinity=False)
SCALARS = st.none() | st.booleans() | NUMBERS | st.text()
VALUES = st.recursive(
    SCALARS, lambda inner: st.lists(inner, max_size=3) | st.dictionaries(st.text(), inner, max_size=3)
)
SETTINGS = settings(suppress_health_check=[HealthCheck.function_scoped_fixture], max_examples=25)


@SETTINGS
@given(
    values=st.lists(VALUES, max_size=5),
    lines=st.lists(st.dictionaries(st.text(), VALUES, max_size=3), min_size=1, max_size=5),
    indent=st.none() | st.integers(0, 2),
)
def test_arrays_and_lines(tmp_path: Path, values: list[Json], lines: list[Json], indent: int | None) -> None:
    array, table = tmp_path / "array.json", tmp_path / "lines.jsonl"
    array.write_text(json.dumps(values, indent=indent), encoding="utf-8")
    table.write_text("\n\n".join(map(json.dumps, lines)) + "\n", encoding="utf-8")
    assert list(rows.elements(array)) == list(enumerate(values, start=1))
    assert list(rows.elements(table)) == list(enumerate(lines, start=1))


@SETTINGS
@example({"0": -0.0})
@given(members=st.dictionaries(st.text(), VALUES, max_size=5))
def test_an_object(tmp_path: Path, members: dict[str, Json]) -> None:
    path = tmp_path / "object.json"
    path.write_text("\ufeff" + json.dumps(members, ensure_ascii=True), encoding="utf-8")
    assert list(rows.members(path)) == list(members.items())
    assert rows.read_first_character(path) == "{"


@pytest.mark.parametrize(
    ("content", "place"),
    [
        (b'[{"a": 1}, {"b": 2]', r"row 2 is not JSON"),
        (b"[1, 2] [3]", r"row 3 is not JSON: trailing garbage"),
        (b"[1, 2", r"row 3 is not JSON: premature EOF"),
        (b'{"a": 1}\n{"b": }\n', r"row 2 is not JSON: Expecting value"),
        (b'["\xe9"]', r"cannot be read .*utf-8"),
        (b"", r"is empty"),
    ],
)
def test_a_damaged_row_is_named(tmp_path: Path, content: bytes, place: str) -> None:
    path = tmp_path / "rows.json"
    path.write_bytes(content)
    with pytest.raises(BadInputError, match=place):
        list(rows.elements(path))
    path.write_text("[1]")
    with pytest.raises(BadInputError, match=r"rows.json is not one JSON object"):
        list(rows.members(path))
