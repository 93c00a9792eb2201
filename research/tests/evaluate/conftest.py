"""Indexes with chains of facts: a toy corpus, and any that a test makes."""

from pathlib import Path

import pytest
from gold_chains import Make

from small_world import TableExtractor
from triplebeam.embed.embedder import Embedder
from triplebeam.index.build.build import IndexBuilder
from triplebeam.index.folder.snapshot import Snapshot
from triplebeam.passage import Document
from triplebeam.testing import toy
from triplebeam.triple import Triple


@pytest.fixture
def make(tmp_path: Path, words: Embedder) -> Make:
    """Return an index from titles, texts and triples."""

    def build(texts: dict[str, tuple[str, str]], triples: dict[str, list[Triple]]) -> Snapshot:
        folder = tmp_path / "made.index"
        documents = [Document(id=id_, title=title, text=text, is_passage=True) for id_, (title, text) in texts.items()]
        IndexBuilder(folder=folder, embedder=words, extractor=TableExtractor(triples)).build(documents)
        return Snapshot.open(folder)

    return build


@pytest.fixture(scope="module")
def toy_index(tmp_path_factory: pytest.TempPathFactory, words: Embedder) -> Snapshot:
    """Return the toy corpus with the triples of its own questions' chains."""
    table: dict[str, list[Triple]] = {}
    for question in toy.questions():
        for passage_id, triple in zip(question.gold, question.chain, strict=True):
            table.setdefault(passage_id, []).append(triple)
    folder = tmp_path_factory.mktemp("toy") / "toy.index"
    documents = [Document(id=p.id, title=p.title, text=p.text, is_passage=True) for p in toy.passages()]
    IndexBuilder(folder=folder, embedder=words, extractor=TableExtractor(table)).build(documents)
    return Snapshot.open(folder)
