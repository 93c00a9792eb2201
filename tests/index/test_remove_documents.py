"""Taking documents out of an index."""

from pathlib import Path

import pytest

from small_world import TRIPLES, TableExtractor, WordEmbedder, world_documents
from triplebeam.errors import BadInputError, IndexMissingError
from triplebeam.index.build.build import IndexBuilder
from triplebeam.index.folder.manifest import is_index
from triplebeam.index.folder.snapshot import Snapshot
from triplebeam.passage import Document


@pytest.fixture
def builder(tmp_path: Path) -> IndexBuilder:
    folder = tmp_path / "world.index"
    builder = IndexBuilder(folder=folder, embedder=WordEmbedder(), extractor=TableExtractor(TRIPLES))
    builder.build(world_documents())
    return builder


def test_a_document_goes_with_its_passages_and_triples(builder: IndexBuilder) -> None:
    report = builder.remove(["city", "film", "city"])
    assert (report.documents_changed, report.texts_encoded, report.published) == (2, 0, True)
    index = Snapshot.open(builder.folder)
    assert "city" not in index.passages
    assert index.manifest.counts["documents"] == 4
    assert index.manifest.counts["triples"] == 5
    subjects = {index.triples.triple(number).subject for number in range(len(index.triples))}
    assert subjects == {"Edward Cahn", "Pat Brien", "Lake Michigan"}


def test_unknown_ids_make_no_difference(builder: IndexBuilder) -> None:
    report = builder.remove(["nowhere"])
    assert (report.documents_changed, report.published) == (0, False)


def test_what_was_taken_out_can_come_back(builder: IndexBuilder) -> None:
    builder.remove(["city"])
    builder.build(world_documents())
    assert Snapshot.open(builder.folder).manifest.counts["triples"] == 9


def test_a_reader_keeps_the_generation_it_has_open(builder: IndexBuilder) -> None:
    before = Snapshot.open(builder.folder)
    builder.remove(["city"])
    assert before.passages["city"].title == "Milwaukee"


def test_without_documents_nothing_is_published_and_no_text_is_left(builder: IndexBuilder) -> None:
    builder.remove([document.id for document in world_documents()])
    assert not is_index(builder.folder)
    assert list((builder.folder / "generations").iterdir()) == []
    builder.build(world_documents()[:1])
    assert len(Snapshot.open(builder.folder).passages) == 1


def test_no_text_is_left_where_only_documents_without_any_are(tmp_path: Path) -> None:
    builder = IndexBuilder(folder=tmp_path / "i", embedder=WordEmbedder())
    builder.build([Document(id="a", text="A secret."), Document(id="empty", text=" \n ")])
    builder.remove(["a"])
    assert not is_index(builder.folder)
    assert list((builder.folder / "generations").iterdir()) == []
    for use in (lambda: Snapshot.open(builder.folder), builder.repair):
        with pytest.raises(IndexMissingError, match=r"i is empty: add documents with `triplebeam index"):
            use()


def test_no_text_is_left_where_it_was_replaced_by_none(tmp_path: Path) -> None:
    builder = IndexBuilder(folder=tmp_path / "i", embedder=WordEmbedder())
    builder.build([Document(id="a", text="A secret.")])
    with pytest.raises(BadInputError, match="nothing could be read"):
        builder.build([Document(id="a", text=" \n ")])
    assert not is_index(builder.folder)
    assert list((builder.folder / "generations").iterdir()) == []


def test_there_must_be_an_index(tmp_path: Path) -> None:
    builder = IndexBuilder(folder=tmp_path / "none.index", embedder=WordEmbedder())
    with pytest.raises(IndexMissingError, match="no document to remove"):
        builder.remove(["city"])
    assert not builder.folder.exists()
