"""An index goes on with the extractor it was built with: through the front door, and in the server's jobs."""

import json
from collections.abc import Iterable, Iterator
from pathlib import Path

import pytest
from fastapi.testclient import TestClient

import triplebeam
from serve.http.small_server import job_ended
from small_world import TableExtractor, WordEmbedder
from triplebeam.assemble import models
from triplebeam.assemble.models import Choice, choose
from triplebeam.errors import BadInputError, ModelMissingError
from triplebeam.extract.extractor import Extraction
from triplebeam.extract.triples_file import TriplesFile
from triplebeam.passage import Document, Passage
from triplebeam.serve.http.app import make_app
from triplebeam.serve.http.keys import Keys
from triplebeam.serve.library import Library
from triplebeam.settings import Settings
from triplebeam.triple import Triple

ROWS = [{"id": "elbe", "text": "The Elbe flows north."}, {"id": "oder", "text": "The Oder flows north."}]
MORE = [{"id": "nile", "text": "The Nile flows north."}]


class Same:
    """A triple per passage."""

    def __init__(self, name: str) -> None:
        self.name = name

    def extract(self, passages: Iterable[Passage]) -> Iterator[Extraction]:
        for passage in passages:
            yield Extraction(passage_id=passage.id, triples=(Triple(passage.id, "seen by", self.name),))


@pytest.fixture(autouse=True)
def _no_weights(monkeypatch: pytest.MonkeyPatch) -> None:
    """Extractors by their names, without parsers and models."""

    def make(name: str, triples: Path | None, settings: Settings, *_: object, keywords: bool, **__: object) -> object:
        versions = {"local": "local:4", "llm": f"llm:{settings.model}:1", "none": None}
        if triples:
            return TriplesFile(triples)
        return versions[name] and Same(f"{versions[name]}{'+keywords:small:1' if keywords else ''}")

    monkeypatch.setattr(models, "make_extractor", make)


@pytest.fixture
def given(tmp_path: Path) -> Path:
    file = tmp_path / "given.jsonl"
    rows = [{"passage_id": row["id"], "triples": [[row["id"], "is", "given"]]} for row in ROWS]
    file.write_text("\n".join(map(json.dumps, rows)), encoding="utf-8")
    return file


def open_with(folder: Path, model: str | None = None) -> triplebeam.Index:
    settings = Settings(model=model, home=folder.parent / "home")
    return triplebeam.Index(folder, embedder=WordEmbedder(), settings=settings)


def makers(index: triplebeam.Index) -> dict[str, int]:
    counts = index.status.triples_by_extractor
    return {name.partition(":")[0]: count for name, count in counts.items()}


def test_an_update_keeps_given_triples(tmp_path: Path, given: Path) -> None:
    index = open_with(tmp_path / "my.index")
    index.add_documents(ROWS, triples=given)
    index.add_documents(ROWS)
    assert makers(index) == {"given": 2}
    index.add_documents(ROWS + MORE)
    assert makers(index) == {"given": 2, "local": 1}


def test_given_triples_are_replaced_on_request_only(tmp_path: Path, given: Path) -> None:
    index = open_with(tmp_path / "my.index")
    index.add_documents(ROWS, triples=given)
    assert index.add_documents(ROWS, extractor="local").passages_kept == 2
    assert makers(index) == {"given": 2}
    index.add_documents(ROWS, extractor="local", replace_triples=True)
    assert makers(index) == {"local": 2}


def test_new_and_changed_texts_go_to_the_model_that_extracted_the_others(tmp_path: Path) -> None:
    index = open_with(tmp_path / "my.index", model="small")
    index.add_documents(ROWS, extractor="llm")
    index = open_with(tmp_path / "my.index", model="large")
    index.add_documents([*ROWS[:1], {**ROWS[1], "text": "The Oder is long."}, *MORE])
    assert index.status.triples_by_extractor == {"llm:small:1": 1, "llm:large:1": 2}


def test_without_a_model_the_two_ways_on_are_named(tmp_path: Path) -> None:
    folder = tmp_path / "my.index"
    open_with(folder, model="small").add_documents(ROWS, extractor="llm")
    index = open_with(folder)
    with pytest.raises(ModelMissingError, match=r"built with, llm, .* TRIPLEBEAM_MODEL .* --extractor local"):
        index.add_documents(MORE)
    index.add_documents(ROWS + MORE, extractor="local")
    assert makers(index) == {"llm": 2, "local": 1}


def test_local_triples_are_not_paid_for_in_an_update(tmp_path: Path) -> None:
    index = open_with(tmp_path / "my.index", model="small")
    index.add_documents(ROWS)
    index.add_documents(MORE, extractor="llm")
    index.add_documents(ROWS + MORE)
    assert makers(index) == {"local": 2, "llm": 1}


def test_keywords_are_remembered(tmp_path: Path) -> None:
    folder = tmp_path / "my.index"
    open_with(folder, model="small").add_documents(ROWS, keywords=True)
    assert choose(folder) == Choice("local", None, keywords=True, is_remembered=True)
    with pytest.raises(ModelMissingError, match="local with keywords"):
        open_with(folder).add_documents(MORE)


def test_an_extractor_of_your_own_must_come_again(tmp_path: Path) -> None:
    index = open_with(tmp_path / "my.index")
    index.add_documents(ROWS, extractor=TableExtractor({"elbe": [Triple("Elbe", "flows", "north")]}))
    with pytest.raises(BadInputError, match=r"'table', which is not one of Triplebeam's"):
        index.add_documents(MORE)
    index.add_documents(ROWS + MORE, extractor="local")
    assert makers(index) == {"table": 1, "local": 1}


def test_an_index_without_triples_stays_so_until_an_extractor_is_named(tmp_path: Path) -> None:
    index = open_with(tmp_path / "my.index")
    index.add_documents(ROWS, extractor="none")
    index.add_documents(MORE)
    assert makers(index) == {}
    index.add_documents(ROWS + MORE, extractor="local")
    assert makers(index) == {"local": 3}


def test_what_failed_is_retried_with_a_model(tmp_path: Path) -> None:
    folder = tmp_path / "my.index"
    open_with(folder).add_documents(ROWS)
    assert choose(folder, again=True).extractor == "llm"
    assert choose(folder, "local", again=True).extractor == "local"


def test_a_job_of_the_server_keeps_given_triples(tmp_path: Path) -> None:
    given = tmp_path / "given.jsonl"
    given.write_text('{"passage_id": "elbe#0", "triples": [["Elbe", "is", "given"]]}', encoding="utf-8")
    open_with(tmp_path / "data" / "rivers.index").add_documents([Document(**row) for row in ROWS], triples=given)
    settings = Settings(home=tmp_path / "home", offline=True, model=None)
    library = Library([tmp_path / "data"], settings, embedder=WordEmbedder())
    with TestClient(make_app(library, keys=Keys(library.keys_file))) as client:
        sent = client.post("/api/indexes/rivers/documents", json={"documents": ROWS + MORE})
        assert job_ended(client, sent.json()["job"]["id"])["state"] == "done"
    assert makers(open_with(tmp_path / "data" / "rivers.index")) == {"given": 1, "local": 2}
