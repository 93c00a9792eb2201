"""What is searched of a passage: names and dates of its metadata as terms, its title unless many share it."""

from collections.abc import Sequence
from pathlib import Path

import pytest

from small_world import WordEmbedder
from triplebeam.index.build.build import IndexBuilder
from triplebeam.index.folder.snapshot import Snapshot
from triplebeam.passage import Document, Passage, metadata_terms
from triplebeam.retrieve.bases import BM25


@pytest.mark.parametrize(
    ("field", "value", "terms"),
    [
        ("source", "The Verge", ["The Verge\nThe Verge"]),
        ("published_at", "2023-10-04T09:30:00+00:00", ["October 4 2023"]),
        ("date", "2023-10-04", ["October 4 2023"]),
        ("date", "2023-13-40", []),
        ("year", "1999", []),
        ("url", "https://example.org/verge", []),
        ("abstract", "word " * 30, []),
        ("path", "docs/The Verge.md", []),
        ("modified", "2023-10-04T09:30:00+00:00", []),
        ("type", "md", []),
    ],
)
def test_names_and_dates_are_terms(field: str, value: str, terms: list[str]) -> None:
    assert list(metadata_terms({field: value})) == terms


def test_metadata_is_found_by_terms_and_not_embedded() -> None:
    passage = Passage("p", "text", "title", metadata={"source": "TechCrunch"}, section="Uploads")
    assert passage.term_text == "TechCrunch\nTechCrunch\ntitle\ntitle\nUploads\ntext"
    assert passage.embedded() == passage.searchable == "title\nUploads\ntext"
    assert passage.embedded({"title"}) == "Uploads\ntext"


class Recording(WordEmbedder):
    def __init__(self) -> None:
        self.texts: list[str] = []

    def embed(self, texts: Sequence[str], kind: str = "passage") -> object:  # type: ignore[override]
        self.texts += texts
        return super().embed(texts)


def rows(count: int) -> list[Document]:
    return [
        Document(id=f"p{n}", title="Novel", text=f"Chapter {n}.", metadata={"source": f"paper {n}"}, is_passage=True)
        for n in range(count)
    ]


def test_a_title_of_more_than_five_passages_is_a_term_but_not_embedded(tmp_path: Path) -> None:
    """The sixth passage changes what is embedded of the five before it; the order they come in does not matter."""
    embedder = Recording()
    builder = IndexBuilder(folder=tmp_path / "index", embedder=embedder)
    builder.build(rows(5))
    assert embedder.texts == [f"Novel\nChapter {n}." for n in range(5)]
    embedder.texts.clear()
    builder.build(rows(6))
    assert embedder.texts == [f"Chapter {n}." for n in range(6)]
    embedder.texts.clear()
    builder.build(rows(9))
    assert embedder.texts == [f"Chapter {n}." for n in range(6, 9)]
    index = Snapshot.open(tmp_path / "index")
    assert len(BM25.over_passages(index).retrieve("novel", 20)) == 9
    assert BM25.over_passages(index).retrieve("paper 7", 1).ids == ["p7"]
