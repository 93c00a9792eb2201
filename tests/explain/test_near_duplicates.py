"""Hits with nearly the same text: which they are, and that people see one of them and programs all."""

import json
from pathlib import Path

import pytest

from small_world import WordEmbedder
from triplebeam.assemble import Index, open_index
from triplebeam.explain.passages import first_alike
from triplebeam.index.build.build import IndexBuilder
from triplebeam.passage import Document
from triplebeam.serve.cli.search import show_passages

NOTE = "Quorum queues have initial support in this release. See the guide for details and for known limits of quorums."


@pytest.mark.parametrize(
    ("texts", "alike"),
    [
        ([NOTE, NOTE.upper().replace(".", " !"), "Something else."], [None, 0, None]),
        (["Other.", NOTE, NOTE, NOTE], [None, None, 1, 1]),
        ([f"{NOTE} But classic queues are faster for most uses.", NOTE], [None, None]),
        (["Yes", "yes.", "no", ""], [None, 0, None, None]),
        ([], []),
    ],
)
def test_texts_are_alike_if_nine_tenths_of_their_runs_of_words_are(texts: list[str], alike: list[int | None]) -> None:
    assert first_alike(texts) == alike


@pytest.fixture(scope="module")
def notes(tmp_path_factory: pytest.TempPathFactory) -> Index:
    folder: Path = tmp_path_factory.mktemp("notes") / "my.index"
    texts = {f"release-{number}": NOTE for number in range(3)} | {"guide": "A guide to quorum queues and streams."}
    documents = [Document(id=id_, title=id_, text=text, is_passage=True) for id_, text in texts.items()]
    IndexBuilder(folder=folder, embedder=WordEmbedder()).build(documents)
    return open_index(folder, embedder=WordEmbedder())


def show(index: Index, capsys: pytest.CaptureFixture[str], *, as_json: bool) -> str:
    results = index.search("quorum queues initial support", method="bm25", k=4)
    show_passages(index, results, explain=False, as_json=as_json)
    return capsys.readouterr().out


def test_people_see_one_of_them_and_how_many_more_there_are(notes: Index, capsys: pytest.CaptureFixture[str]) -> None:
    shown = show(notes, capsys, as_json=False)
    assert shown.count("initial support") == 1
    assert "and 2 more like it" in shown
    assert " 4. guide" in shown


def test_programs_see_all_of_them(notes: Index, capsys: pytest.CaptureFixture[str]) -> None:
    passages = json.loads(show(notes, capsys, as_json=True))["passages"]
    first, *others, guide = passages
    assert [each.get("like") for each in others] == [first["id"]] * 2
    assert "like" not in first
    assert "like" not in guide
    assert len(notes.search("quorum queues initial support", method="bm25", k=4)) == 4
