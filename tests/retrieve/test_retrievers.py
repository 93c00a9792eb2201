"""Retrievers over random little collections: an index opened again answers as before, fewer are the head of more."""

import json
import tempfile
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from unittest.mock import Mock

from hypothesis import given, settings
from hypothesis import strategies as st

from triplebeam.assemble import Index, open_index
from triplebeam.embed.embedder import Embedder
from triplebeam.extract.triples_file import TriplesFile
from triplebeam.index.build.build import IndexBuilder
from triplebeam.index.folder.snapshot import Snapshot
from triplebeam.passage import Document
from triplebeam.ranking import Ranking
from triplebeam.retrieve.bases import BM25, Dense
from triplebeam.retrieve.scores import rank_passages
from triplebeam.settings import Settings

BASES = ("bm25", "dense", "hybrid", "hybrid@triples")
METHODS = (*BASES, "hybrid+naive_ge[width=2]", "bm25+naive_ge[scorer=pooled,length=3]")
BASE_DEPTH = 15

# Few words, so that passages share them, tie, and repeat each other.
phrases = st.lists(st.sampled_from(["lake", "Hell", "film", "river", "Cahn", "1963"]), min_size=1, max_size=4).map(
    " ".join
)
triples = st.lists(st.tuples(phrases, phrases, phrases).map(list), max_size=4)
corpora = st.dictionaries(st.text("abXY", min_size=1, max_size=3), st.tuples(phrases, triples), min_size=1, max_size=20)


@contextmanager
def collection(corpus: dict[str, tuple[str, list[list[str]]]], embedder: Embedder) -> Iterator[Index]:
    with tempfile.TemporaryDirectory() as name:
        folder = Path(name)
        rows = [json.dumps({"passage_id": id_, "triples": given_triples}) for id_, (_, given_triples) in corpus.items()]
        (folder / "triples.jsonl").write_text("\n".join(rows), encoding="utf-8")
        builder = IndexBuilder(
            folder=folder / "index", embedder=embedder, extractor=TriplesFile(folder / "triples.jsonl")
        )
        builder.build(Document(id=id_, text=text, is_passage=True) for id_, (text, _) in corpus.items())
        yield open_index(folder / "index", embedder=embedder, settings=Settings())


@settings(max_examples=15, deadline=None)
@given(corpora, phrases)
def test_an_index_opened_again_answers_as_before_and_fewer_are_the_head_of_more(
    words: Embedder, corpus: dict[str, tuple[str, list[list[str]]]], query: str
) -> None:
    """Up to the depth of the base; also where passages tie, since one rule settles every tie."""
    with collection(corpus, words) as first:
        second = open_index(first.location, embedder=words, settings=Settings())
        for method in METHODS:
            longest = first.search(query, method=method, k=BASE_DEPTH)
            assert longest == second.search(query, method=method, k=BASE_DEPTH)
            assert set(longest.ids) <= set(corpus)
            for k in (1, 2, 3, 5, 8):
                assert tuple(first.search(query, method=method, k=k)) == longest[:k]


def test_ties_at_the_border_go_by_id_and_not_by_row(tmp_path: Path, words: Embedder) -> None:
    documents = [Document(id=id_, text="the same words", is_passage=True) for id_ in "dbca"]
    IndexBuilder(folder=tmp_path, embedder=words).build(documents)
    index = Snapshot.open(tmp_path)
    for retriever in (BM25.over_passages(index), Dense.over_passages(index, words)):
        assert retriever.retrieve("same", 2).ids == ["a", "b"]


def test_a_passage_has_the_score_of_its_best_triple(world: Snapshot, words: Embedder) -> None:
    ranking = Dense.over_triples(world, words).retrieve("Edward Cahn died on 25 August 1963", 5)
    assert ranking[0].passage_id == "director"
    assert ranking[0].score > 0.999
    assert len(ranking) == 5  # of nine triples; "other" has none


def test_words_nobody_uses_find_nothing_and_where_none_is_wanted_nothing_is_searched(world: Snapshot) -> None:
    assert BM25.over_passages(world).retrieve("xylophone") == Ranking()
    assert rank_passages(Mock(side_effect=AssertionError), lambda rows: [], 0) == Ranking()
