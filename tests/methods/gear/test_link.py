"""Eq. 2 and 8: from a reader's triples back to the index."""

import pytest

from oracles.reciprocal_rank_fusion import rrf
from triplebeam.embed.embedder import Embedder
from triplebeam.index.folder.snapshot import Snapshot
from triplebeam.methods.gear.expand import PassageLink, triple_link
from triplebeam.retrieve.bases import BM25, Dense, Hybrid
from triplebeam.triple import Triple


def test_a_proximal_triple_links_to_the_nearest_stored_one(world: Snapshot, words: Embedder) -> None:
    proximal = [Triple("Milwaukee", "lies in state", "Wisconsin"), Triple("Edward Cahn", "died on", "August 1963")]
    linked = [world.triples.triple(id_) for id_ in triple_link(proximal, world.triples, words).tolist()]
    assert linked == [Triple("Milwaukee", "lies in", "Wisconsin"), Triple("Edward Cahn", "died on", "25 August 1963")]


def test_what_is_stored_links_to_itself_once(world: Snapshot, words: Embedder) -> None:
    stored = [world.triples.triple(id_) for id_ in (3, 1, 3, 1, 0)]
    assert triple_link(stored, world.triples, words).tolist() == [3, 1, 0]


@pytest.mark.parametrize("k", [1, 3, 10])
def test_passage_link_fuses_what_passages_and_triples_give(world: Snapshot, words: Embedder, k: int) -> None:
    passages = Hybrid(BM25.over_passages(world), Dense.over_passages(world, words))
    triples = Hybrid(BM25.over_triples(world), Dense.over_triples(world, words))
    triple = Triple("Edward Cahn", "directed", "Laughter in Hell")
    lists = [retriever.retrieve("Edward Cahn directed Laughter in Hell", k).ids for retriever in (passages, triples)]
    assert PassageLink(passages=passages, triples=triples).link(triple, k).ids == rrf(lists, 60)[:k]
