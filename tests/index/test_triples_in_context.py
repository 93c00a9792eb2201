"""Vectors of triples from the reading of their passages: where their words are, one reading, and no second one."""

from collections.abc import Sequence
from dataclasses import replace
from pathlib import Path

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from numpy.typing import NDArray

from small_world import TRIPLES, TableExtractor, WordEmbedder, world_builder, world_documents
from triplebeam.embed.embedder import Span
from triplebeam.errors import EmbedderMismatchError
from triplebeam.index.build.intake import BuildReport
from triplebeam.index.build.writing import purge
from triplebeam.index.content.encoding import find_spans
from triplebeam.index.folder.snapshot import Snapshot
from triplebeam.triple import Triple

TEXT = "William Herschel\nHe was born in Hanover. His sister was born in Hanover in 1750."


class Reader(WordEmbedder):
    """Has a vector for each word, and remembers what it read."""

    def __init__(self, *, reads_tokens: bool = True) -> None:
        self.reads_tokens = reads_tokens
        self.read: list[str] = []

    def embed_spans(
        self, texts: Sequence[str], spans: Sequence[Sequence[Sequence[Span]]]
    ) -> tuple[NDArray[np.float32], list[NDArray[np.float32]]]:
        self.read += texts
        return self.embed(texts), [self.embed(words(*pair)) for pair in zip(texts, spans, strict=True)]


def words(text: str, groups: Sequence[Sequence[Span]]) -> list[str]:
    return [" ".join(text[start:end] for start, end in sorted(group)) or text for group in groups]


def make(folder: Path, embedder: WordEmbedder, triples: dict[str, list[Triple]] = TRIPLES) -> BuildReport:
    extractor = TableExtractor(triples)
    extractor.name = f"table:{sum(map(len, triples.values()))}"
    return world_builder(folder, embedder, extractor).build(world_documents())


def test_the_words_of_a_triple_are_those_of_its_sentence() -> None:
    spans = find_spans([Triple("Herschel", "was born in", "Hanover"), Triple("sister", "born in", "1750")], TEXT)
    assert words(TEXT, spans) == ["Herschel was born in Hanover", "sister born in in 1750"]


def test_a_triple_of_other_words_is_nowhere() -> None:
    assert find_spans([Triple("comets", "have", "tails")], TEXT) == [[]]


@given(
    st.text(alphabet="ab .\n", max_size=30),
    st.lists(st.text(alphabet="ab ", min_size=1, max_size=5), min_size=3, max_size=3),
)
def test_every_word_of_a_triple_that_occurs_is_found(text: str, parts: list[str]) -> None:
    triple = Triple(*parts)
    (spans,) = find_spans([triple], text)
    found = {text[start:end] for start, end in spans}
    assert found == set(str(triple).split()) & set(text.replace(".", " ").split())
    assert len(set(spans)) == len(spans)


def test_names_are_a_stage_of_their_own_since_they_take_less_time_than_passages(tmp_path: Path) -> None:
    reports: list[tuple[str, int, int]] = []
    builder = world_builder(tmp_path, Reader())
    replace(builder, progress=lambda *report: reports.append(report)).build(world_documents())
    counts = Snapshot.open(tmp_path).manifest.counts
    last = {stage: (done, total) for stage, done, total in reports}
    assert last["embed"] == (counts["passages"], counts["passages"])
    assert last["embed names"] == (counts["entities"], counts["entities"])


def test_passages_are_read_once_and_give_the_vectors_of_their_triples(tmp_path: Path) -> None:
    embedder = Reader()
    report = make(tmp_path, embedder)
    snapshot = Snapshot.open(tmp_path)
    assert report.manifest
    assert report.manifest.embedder.triples_in_context
    texts = [passage.format_for_embedding() for passage in snapshot.passages]
    assert sorted(embedder.read) == sorted(texts)
    assert report.texts_encoded == len(texts) + len(snapshot.entities)
    every = range(len(snapshot.triples))
    rows = snapshot.triples.triple_passages.tolist()
    spoken = [
        words(texts[row], find_spans([snapshot.triples.triple(place)], texts[row]))[0]
        for place, row in zip(every, rows, strict=True)
    ]
    assert np.allclose(snapshot.triples.vectors(list(every)), embedder.embed(spoken), atol=0.02)


def test_only_a_passage_with_a_new_triple_is_read_again(tmp_path: Path) -> None:
    make(tmp_path, Reader())
    embedder = Reader()
    assert make(tmp_path, embedder).texts_encoded == 0
    more = TRIPLES | {"city": [*TRIPLES["city"], Triple("Milwaukee", "has", "a lake")]}
    make(tmp_path, embedder, more)
    assert [text.partition("\n")[0] for text in embedder.read] == ["Milwaukee"]


def test_an_index_stays_as_it_was_built(tmp_path: Path) -> None:
    make(tmp_path / "without", Reader(reads_tokens=False))
    embedder = Reader()
    more = TRIPLES | {"city": []}
    make(tmp_path / "without", embedder, more)
    assert embedder.read == []
    make(tmp_path / "with", Reader())
    with pytest.raises(EmbedderMismatchError, match="no vectors of tokens"):
        make(tmp_path / "with", WordEmbedder(), {"film": [Triple("film", "is", "drama")]})


def test_triples_may_be_encoded_by_themselves(tmp_path: Path) -> None:
    embedder = Reader()
    replace(world_builder(tmp_path, embedder), triples_in_context=False).build(world_documents())
    assert embedder.read == []


def test_compacting_keeps_what_was_read(tmp_path: Path) -> None:
    make(tmp_path, Reader())
    purge(tmp_path)
    embedder = Reader()
    make(tmp_path, embedder)
    assert embedder.read == []
