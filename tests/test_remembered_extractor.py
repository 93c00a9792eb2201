"""An index goes on with the extractor it was built with: through the front door, and in the server's jobs."""

import json
from pathlib import Path
from typing import Any

import pytest
from fastapi.testclient import TestClient

import triplebeam
from serve.http.small_server import job_ended
from small_world import Fickle, TableExtractor, WordEmbedder
from triplebeam.assemble import models
from triplebeam.assemble.models import Choice, choose
from triplebeam.errors import BadInputError, ModelMissingError
from triplebeam.extract.triples_file import TriplesFile
from triplebeam.passage import Document
from triplebeam.serve.http.app import make_app
from triplebeam.serve.http.keys import Keys
from triplebeam.serve.library import Library
from triplebeam.settings import Settings
from triplebeam.triple import Triple

ROWS = [{"id": "elbe", "text": "The Elbe flows north."}, {"id": "oder", "text": "The Oder flows north."}]
MORE = [{"id": "nile", "text": "The Nile flows north."}]
GIVEN, LOCAL, LLM, NONE = {"triples": "given.jsonl"}, *({"extractor": name} for name in ("local", "llm", "none"))
OWN: dict[str, Any] = {"extractor": TableExtractor({"elbe": [Triple("Elbe", "flows", "north")]})}


@pytest.fixture(autouse=True)
def _no_weights(monkeypatch: pytest.MonkeyPatch) -> None:
    """Extractors by their names, without parsers and models."""

    def make(name: str, triples: Path | None, settings: Settings, *_: object, keywords: bool, **__: object) -> object:
        versions = {"local": "local:4", "llm": f"llm:{settings.model}:1", "none": None}
        if triples:
            return TriplesFile(triples)
        return versions[name] and Fickle(name=f"{versions[name]}{'+keywords:small:1' if keywords else ''}")

    monkeypatch.setattr(models, "make_extractor", make)


def open_with(folder: Path, model: str | None = None) -> triplebeam.Index:
    settings = Settings(model=model, home=folder.parent / "home")
    return triplebeam.Index(folder, embedder=WordEmbedder(), settings=settings)


def makers(index: triplebeam.Index) -> dict[str, int]:
    counts = index.status.triples_by_extractor
    return {name.partition(":")[0]: count for name, count in counts.items()}


@pytest.mark.parametrize(
    ("steps", "expected"),
    [
        ([(ROWS, GIVEN), (ROWS, {})], {"given": 2}),  # an update keeps given triples
        ([(ROWS, GIVEN), (ROWS + MORE, {})], {"given": 2, "local": 1}),  # and extracts the others
        ([(ROWS, GIVEN), (ROWS, LOCAL)], {"given": 2}),  # a named extractor does not replace them
        ([(ROWS, GIVEN), (ROWS, LOCAL | {"replace_triples": True})], {"local": 2}),  # but on request
        ([(ROWS, {}), (MORE, LLM), (ROWS + MORE, {})], {"local": 2, "llm": 1}),  # an update pays for no local triples
        ([(ROWS, NONE), (MORE, {})], {}),  # an index without triples stays so
        ([(ROWS, NONE), (MORE, {}), (ROWS + MORE, LOCAL)], {"local": 3}),  # until an extractor is named
        ([(ROWS, OWN), (ROWS + MORE, LOCAL)], {"table": 1, "local": 1}),  # another may follow your own
    ],
)
def test_who_made_the_triples(tmp_path: Path, steps: list[tuple[Any, Any]], expected: dict[str, int]) -> None:
    rows = [{"passage_id": row["id"], "triples": [[row["id"], "is", "given"]]} for row in ROWS]
    (tmp_path / "given.jsonl").write_text("\n".join(map(json.dumps, rows)), encoding="utf-8")
    index = open_with(tmp_path / "my.index", model="small")
    for documents, options in steps:
        triples = {"triples": tmp_path / options["triples"]} if options is GIVEN else {}
        index.add_documents(documents, **options | triples)
    assert makers(index) == expected


def test_an_extractor_of_your_own_must_come_again(tmp_path: Path) -> None:
    index = open_with(tmp_path / "my.index")
    index.add_documents(ROWS, **OWN)
    with pytest.raises(BadInputError, match=r"'table', which is not one of Triplebeam's"):
        index.add_documents(MORE)


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


def test_keywords_are_remembered(tmp_path: Path) -> None:
    folder = tmp_path / "my.index"
    open_with(folder, model="small").add_documents(ROWS, keywords=True)
    assert choose(folder) == Choice("local", None, keywords=True, is_remembered=True)
    with pytest.raises(ModelMissingError, match="local with keywords"):
        open_with(folder).add_documents(MORE)


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
