"""Entities: synonyms against plain Python, exactly and by cells, and what the triples say of them."""

from collections.abc import Callable
from itertools import combinations
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from numpy.typing import NDArray
from scipy.sparse import csr_array

from small_world import TableExtractor
from trials import examples
from triplebeam.embed.embedder import Embedder
from triplebeam.errors import BadInputError
from triplebeam.index.arrays.array_set import ArraySet, MemoryArrays
from triplebeam.index.arrays.rows import hash_texts, pack_keys, quantize, write_keys
from triplebeam.index.build.build import IndexBuilder
from triplebeam.index.folder import synonyms
from triplebeam.index.folder.snapshot import Snapshot
from triplebeam.index.folder.synonyms import choose, make_symmetric, write_synonyms
from triplebeam.passage import Document
from triplebeam.text.names import entity_key
from triplebeam.triple import Triple


def clustered(seed: int, entities: int, spread: float = 0.5, dimension: int = 32) -> NDArray[np.int8]:
    """Stored vectors around a few centres, so that many are near each other."""
    random = np.random.default_rng(seed)
    centres = random.standard_normal((max(1, entities // 8), dimension))
    vectors = centres[random.integers(len(centres), size=entities)] + spread * random.standard_normal(
        (entities, dimension)
    )
    return quantize((vectors / np.linalg.norm(vectors, axis=1, keepdims=True)).astype(np.float32))


def literal(names: list[str], stored: NDArray[np.int8], at_most: int) -> dict[tuple[int, int], np.float32]:
    """Cosines in single precision, as they are defined: two that differ only beyond it are a tie, broken by name."""
    whole = stored.astype(int)
    length = np.sqrt((whole**2).sum(axis=1).astype(np.float32))
    long_enough = [number for number, name in enumerate(names) if sum(c.isalnum() for c in name) >= 3]
    near = {(a, b): np.float32(whole[a] @ whole[b]) / (length[a] * length[b]) for a, b in combinations(long_enough, 2)}
    near = {pair: cosine for pair, cosine in near.items() if cosine >= 0.8}
    both = near | {(b, a): cosine for (a, b), cosine in near.items()}
    chosen = set()
    for entity in long_enough:
        others = sorted((-cosine, names[b], b) for (a, b), cosine in both.items() if a == entity)
        chosen |= {(entity, b) for _, _, b in others[:at_most]}
    return {(a, b): cosine for (a, b), cosine in both.items() if (a, b) in chosen or (b, a) in chosen}


def link_synonyms(names: list[str], stored: NDArray[np.int8], **options: Any) -> "csr_array[np.float32]":
    """The links of entities with these names and vectors, from nothing."""
    links = choose(names, stored, **options)
    return make_symmetric(csr_array((links.similarity, (links.chooser, links.chosen)), shape=(len(names), len(names))))


@settings(max_examples=30, deadline=None)
@given(seed=st.integers(0, 1000), entities=st.integers(0, 60), at_most=st.integers(1, 5), short=st.integers(0, 3))
def test_synonyms_are_all_near_pairs(seed: int, entities: int, at_most: int, short: int) -> None:
    names = ["a-b" if number < short else f"name {number}" for number in range(entities)]
    vectors = clustered(seed, entities)
    links = link_synonyms(names, vectors, at_most=at_most).tocoo()
    found = dict(zip(zip(links.row.tolist(), links.col.tolist(), strict=True), links.data.tolist(), strict=True))
    assert found == pytest.approx(literal(names, vectors, at_most), abs=1e-6)


@settings(max_examples=examples(60), deadline=None)
@given(
    seed=st.integers(0, 1000),
    before=st.permutations(range(24)).map(lambda order: order[:16]),
    after=st.permutations(range(24)).map(lambda order: order[:16]),
    spread=st.sampled_from([0.1, 0.4]),
)
def test_links_that_are_taken_over_are_those_of_an_index_built_from_nothing(
    seed: int, before: list[int], after: list[int], spread: float
) -> None:
    """Entities come, go and are numbered anew; lists of three are full and lose some."""
    stored = clustered(seed, 24, spread)

    def written(entities: list[int], previous: ArraySet) -> MemoryArrays:
        arrays = MemoryArrays()
        names = [f"name {number}" for number in entities]
        write_keys(arrays, "entity_keys", pack_keys(map(hash_texts, names)))
        write_synonyms(arrays, names, stored[entities], previous, at_most=3)
        return arrays

    updated, whole = written(after, written(before, MemoryArrays())), written(after, MemoryArrays())
    for name in ("synonym_starts", "synonym_entities", "synonym_similarities"):
        np.testing.assert_array_equal(updated.array(name), whole.array(name))


@pytest.fixture
def in_small_pieces(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(synonyms, "_BLOCK_ROWS", 7)
    monkeypatch.setattr(synonyms, "_MAX_WAITING_LINKS", 20)


@pytest.mark.usefixtures("in_small_pieces")
def test_pieces_make_the_same_whole() -> None:
    names, vectors = [f"name {number}" for number in range(50)], clustered(4, 50, spread=0.2)
    links = link_synonyms(names, vectors, at_most=3)
    assert {pair: pytest.approx(v, abs=1e-6) for pair, v in literal(names, vectors, 3).items()} == dict(
        links.todok().items()
    )


def test_cells_find_nearly_all_that_comparing_all_pairs_finds() -> None:
    entities = 3000
    names, vectors = [f"name {number}" for number in range(entities)], clustered(1, entities, spread=0.4)
    told: list[tuple[str, int, int]] = []
    exact = link_synonyms(names, vectors)
    cells = link_synonyms(names, vectors, exact_up_to=0, progress=lambda *step: told.append(step))
    both = exact.multiply(cells > 0)
    assert both.nnz / exact.nnz >= 0.95
    assert both.nnz == cells.nnz, "it finds nothing else"
    np.testing.assert_allclose(both.toarray(), exact.multiply(cells > 0).toarray(), atol=1e-6)
    assert (cells != cells.T).nnz == 0
    assert told[-1][1] == told[-1][2] > 1


@pytest.mark.parametrize("exact_up_to", [0, 10])
def test_no_entities_have_no_synonyms(exact_up_to: int) -> None:
    assert link_synonyms([], np.zeros((0, 4), np.int8), exact_up_to=exact_up_to).shape == (0, 0)


class TestEntityGraph:
    def test_incidence_counts_what_the_triples_say(self, world: Snapshot) -> None:
        graph = world.entities
        counted = graph.incidence.toarray()
        for row in range(len(world.passages)):
            ids = world.triples.triples_of(world.passages.ids([row]))
            ends = [end for triple in map(world.triples.triple, ids) for end in (triple.subject, triple.object)]
            keys = [entity_key(end) for end in ends]
            assert counted[row].tolist() == [keys.count(entity_key(name)) for name in graph.names]
        np.testing.assert_array_equal(graph.passage_counts, (counted > 0).sum(axis=0))

    def test_weights_count_triples_and_add_synonyms(self, world: Snapshot) -> None:
        graph = world.entities
        number: Callable[[str], int] = lambda name: graph.numbers[entity_key(name)]  # noqa: E731
        weights, plain = graph.weights().toarray(), graph.weights(synonym_threshold=2.0).toarray()
        np.testing.assert_array_equal(weights, weights.T)
        np.testing.assert_allclose(weights - plain, graph.synonyms.toarray(), atol=1e-6)
        assert plain[number("milwaukee"), number("Lake Michigan")] == 1
        assert plain.sum() == 2 * len(world.triples)

    def test_links_below_those_stored_cannot_be_asked_for(self, world: Snapshot) -> None:
        with pytest.raises(BadInputError, match=r"at least 0\.8, got 0\.7"):
            world.entities.weights(0.7)


def test_an_entity_of_many_passages_has_no_edges(tmp_path: Path, words: Embedder) -> None:
    """By hand: a hub in three passages, each of which joins it to an entity of its own."""
    table = {id_: [Triple("Hub", "knows", f"Only {id_}")] for id_ in "abc"} | {"d": [Triple("Only a", "is", "Only b")]}
    rows = [Document(id=id_, text=f"Passage {id_}.", is_passage=True) for id_ in "abcd"]
    IndexBuilder(folder=tmp_path / "i", embedder=words, extractor=TableExtractor(table)).build(rows)
    graph = Snapshot.open(tmp_path / "i").entities
    hub, one, two = (graph.numbers[name] for name in ("hub", "only a", "only b"))
    whole = graph.weights(1.0, with_passages=True)
    pruned = graph.weights(1.0, with_passages=True, max_passages=2)
    assert whole[[hub]].nnz == 6
    assert pruned[[hub]].nnz == pruned[:, [hub]].nnz == 0
    assert pruned[one, two] == 1
    assert pruned.nnz == whole.nnz - 12
    assert graph.weights(1.0, with_passages=True, max_passages=3).nnz == whole.nnz
