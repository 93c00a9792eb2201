"""`triplebeam dataset`: what it writes, what `index` and `bench` read of it, and what it refuses."""

import json
from pathlib import Path

import pytest
import typer
from typer.testing import CliRunner

from triplebeam.embed.embedder import Embedder
from triplebeam.errors import BadInputError
from triplebeam.evaluate.questions import find_gold, read_questions
from triplebeam.index.build.build import IndexBuilder
from triplebeam.index.folder.snapshot import Snapshot
from triplebeam.ingest import read_sources
from triplebeam_research.commands.dataset import dataset
from triplebeam_research.datasets import read_dataset

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
    path = tmp_path / "musique_ans_v1.0_dev.jsonl"
    path.write_text("\n".join(map(json.dumps, [ROW, ROW | {"answerable": False}])))
    return path


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
    assert "passages  3\n" in told
    assert "questions  1 (1 of 2 hops)\n" in told
    assert "left out  2 marked unanswerable, 1 repeated\n" in told
    assert f"triplebeam index {out}.index {out / 'corpus.jsonl'}\n" in told
    assert f"triplebeam bench {out}.index {out / 'questions.jsonl'}\n" in told


def test_json(tmp_path: Path, musique: Path) -> None:
    out = tmp_path / "out"
    assert json.loads(run("musique", musique, out, "--json")) == {
        "folder": str(out),
        "passages": 3,
        "questions": 1,
        "hops": {"2": 1},
        "left_out": {"marked unanswerable": 1},
        "to_be_cut": False,
        "next": [
            f"triplebeam index {out}.index {out}/corpus.jsonl",
            f"triplebeam bench {out}.index {out}/questions.jsonl",
        ],
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


def test_a_failure_leaves_what_was_there(tmp_path: Path, musique: Path) -> None:
    out = tmp_path / "out"
    run("musique", musique, out)
    before = {path.name: path.read_bytes() for path in out.iterdir()}
    quality = {
        "article_id": "1",
        "article": "Text.",
        "questions": [{"question": "?", "options": ["a"], "gold_label": 1}],
    }
    late = tmp_path / "quality"
    late.write_text(json.dumps([quality, {key: quality[key] for key in ("article", "questions")}]))
    with pytest.raises(BadInputError, match="row 2 has no 'article_id'"):
        run("quality", late, out, "--force")
    assert {path.name: path.read_bytes() for path in out.iterdir()} == before


def test_articles_are_to_be_cut(tmp_path: Path) -> None:
    row = {"article_id": "1", "article": "Text.", "questions": [{"question": "?", "options": ["a"], "gold_label": 1}]}
    path = tmp_path / "QuALITY.v1.0.1.htmlstripped.dev"
    path.write_text(json.dumps(row))
    told = run("quality", path, tmp_path / "out")
    assert "passages  1 documents, to be split into passages" in told
    assert "corpus.jsonl --split\n" in told


def test_a_folder_that_cannot_be_written_to(tmp_path: Path, musique: Path) -> None:
    with pytest.raises(BadInputError, match="cannot be written to: "):
        run("musique", musique, musique / "out")
