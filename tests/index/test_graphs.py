"""The graph of passages: its edges against pairs found one by one, its rule for common keywords, its files. Entities:
synonyms against plain Python, exactly and by cells, and what the triples say of them.
"""

import json
from collections.abc import Callable, Sequence
from itertools import combinations, pairwise
from pathlib import Path
from typing import Any, TypeAlias

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from numpy.typing import NDArray
from scipy.sparse import csr_array
from typer.testing import CliRunner

from small_world import TableExtractor
from trials import examples
from triplebeam.embed.embedder import Embedder
from triplebeam.errors import BadInputError
from triplebeam.index.arrays.array_set import ArraySet, MemoryArrays
from triplebeam.index.arrays.folder_arrays import FolderArrays
from triplebeam.index.arrays.rows import hash_texts, pack_keys, quantize, write_keys
from triplebeam.index.build.build import IndexBuilder
from triplebeam.index.folder import synonyms
from triplebeam.index.folder.passage_graph import (
    KINDS,
    MAX_LINKS,
    EdgeKind,
    PassageGraph,
    build_passage_graph,
    document_labels,
)
from triplebeam.index.folder.snapshot import Snapshot
from triplebeam.index.folder.synonyms import choose, make_symmetric, write_synonyms
from triplebeam.ingest import document_id, read_sources
from triplebeam.passage import Document
from triplebeam.serve.cli.app import app
from triplebeam.text.names import entity_key
from triplebeam.triple import Triple

Pairs: TypeAlias = Sequence[tuple[int, int]]


def pairs_of(graph: PassageGraph, kind: EdgeKind) -> list[tuple[int, int]]:
    ends, others = graph.find_incident(np.arange(len(graph)), [kind])
    return list(zip(ends.tolist(), others.tolist(), strict=True))


def build(
    documents: list[tuple[str, int]], keywords: list[tuple[int, int]], most: int = 50, links: Pairs = ()
) -> PassageGraph:
    pairs = np.array(keywords, np.int64).reshape(-1, 2)
    names, places = [d for d, _ in documents], [p for _, p in documents]
    return build_passage_graph(names, places, pairs[:, 0], pairs[:, 1], most, links)


passages = st.lists(st.tuples(st.sampled_from("abc"), st.integers(0, 5)), min_size=1, max_size=10)


@settings(max_examples=examples(100), deadline=None)
@given(passages, st.data(), st.integers(1, 6))
def test_edges_are_those_found_pair_by_pair(documents: list[tuple[str, int]], data: st.DataObject, most: int) -> None:
    n = len(documents)
    keywords = data.draw(st.lists(st.tuples(st.integers(0, n - 1), st.integers(0, 6)), max_size=30))
    graph = build(documents, keywords, most)

    holders = {word: {row for row, other in keywords if other == word} for _, word in keywords}
    shared = {(i, j) for rows in holders.values() if len(rows) <= most for i in rows for j in rows if i != j}
    assert pairs_of(graph, "keyword") == sorted(shared)
    follow = set()
    for document in "abc":
        inside = sorted((position, row) for row, (name, position) in enumerate(documents) if name == document)
        follow |= {(a, b) for (_, a), (_, b) in pairwise(inside)}
    assert pairs_of(graph, "structural") == sorted(follow | {(b, a) for a, b in follow})


def test_links_are_edges_in_both_directions() -> None:
    graph = build([("a", 0), ("a", 1), ("b", 0)], [], links=[(2, 0), (0, 2), (2, 0), (1, 1), (2, 1)])
    assert pairs_of(graph, "links") == [(0, 2), (1, 2), (2, 0), (2, 1)]
    assert pairs_of(graph, "structural") == [(0, 1), (1, 0)]
    assert [len(part) for part in graph.find_incident(np.arange(3), [])] == [0, 0], "no kinds are no edges"


def test_a_list_of_links_and_a_page_that_all_link_to_are_no_evidence() -> None:
    documents = [(str(row), 0) for row in range(100)]
    contents = [(0, row) for row in range(1, 2 + MAX_LINKS)]
    home = [(row, 99) for row in range(40, 91)]
    graph = build(documents, [], links=[*contents, *home, (1, 3)])
    assert pairs_of(graph, "links") == [(1, 3), (3, 1)]
    assert len(pairs_of(build(documents, [], links=contents[1:]), "links")) == 2 * MAX_LINKS


def test_files_that_link_to_each_other_are_neighbours(tmp_path: Path, words: Embedder) -> None:
    pages, folder = tmp_path / "pages", tmp_path / "index"
    pages.mkdir()
    for here, there in (("one", "two"), ("two", "one"), ("three", "missing")):
        (pages / f"{here}.html").write_text(
            f"<title>{here}</title><p>The page {here} has a paragraph. See also <a href='{there}.html'>{there}</a>.</p>"
        )
    builder = IndexBuilder(folder=folder, embedder=words)
    builder.build(read_sources([pages]))
    index = Snapshot.open(folder)
    one, two = sorted(row for row in range(3) if index.passages.read_row(row).title != "three")
    assert pairs_of(index.passage_graph, "links") == [(one, two), (two, one)]
    assert index.manifest.passage_graph.edges_by_kind["links"] == 1

    builder.remove([document_id(pages / "two.html")])
    assert pairs_of(Snapshot.open(folder).passage_graph, "links") == []


def test_statistics_are_table_5s() -> None:
    graph = build([("a", 0), ("a", 1), ("b", 0), ("c", 0)], [(0, 0), (1, 0), (2, 0)])
    statistics = graph.statistics()
    assert (statistics.nodes, statistics.edges, statistics.nodes_without_edges) == (4, 3, 1)
    assert statistics.edges_by_kind == {"structural": 1, "keyword": 3, "links": 0}  # 0-1 is of both kinds
    assert statistics.edges_per_node == 0.75
    assert statistics.density == pytest.approx(2 * 3 / (4 * 3))


@pytest.mark.parametrize("documents", [[], [("a", 0)], [("a", 0), ("a", 1), ("b", 0)]])
def test_written_and_opened_it_is_the_same(documents: list[tuple[str, int]], tmp_path: Path) -> None:
    graph = build(documents, [(0, 0), (2, 0)] if len(documents) > 2 else [])
    graph.write(arrays := FolderArrays(tmp_path))
    opened = PassageGraph.open(arrays)
    assert len(opened) == len(documents)
    assert opened.statistics() == graph.statistics()
    assert isinstance(opened.edges["keyword"].neighbours.base, np.memmap)
    for kind in KINDS:
        assert pairs_of(opened, kind) == pairs_of(graph, kind)


def test_arrays_that_do_not_fit_are_noticed() -> None:
    build([("a", 0), ("a", 1)], []).write(arrays := MemoryArrays())
    arrays.add("passage_graph_structural_neighbours", np.zeros(1, np.int32))
    with pytest.raises(ValueError, match="structural edges"):
        PassageGraph.open(arrays)


def test_rows_of_one_title_are_one_document_where_they_have_no_other() -> None:
    labels = document_labels(["1", "2", "3", "4", "book", "book"], ["Paris", "Paris", "", "", "Paris", "Paris"])
    assert labels[0] == labels[1]
    assert labels[4] == labels[5]
    assert len(set(labels)) == 4


def test_triples_give_keywords(world: Snapshot) -> None:
    """The film and its director share him; the actor starred in the film and lived in the city."""
    ids, graph = world.passages.ids(range(len(world.passages))), world.passage_graph
    named = [(ids[i], ids[j]) for i, j in pairs_of(graph, "keyword") if i < j]
    assert named == [("actor", "city"), ("actor", "film"), ("city", "lake"), ("director", "film")]
    assert pairs_of(graph, "structural") == []
    assert world.manifest.passage_graph.edges_by_kind == graph.statistics().edges_by_kind


def test_passages_of_a_document_are_neighbours(tmp_path: Path, words: Embedder) -> None:
    builder = IndexBuilder(folder=tmp_path / "index", embedder=words, passage_tokens=4)
    builder.build([Document(id="a", title="A", text="One two three. Four five six. Seven eight nine.")])
    assert pairs_of(Snapshot.open(builder.folder).passage_graph, "structural") == [(0, 1), (1, 0), (1, 2), (2, 1)]


def test_status_shows_the_measures_of_the_paper(world: Snapshot) -> None:
    told = CliRunner().invoke(app, ["status", str(world.folder)], catch_exceptions=False).stdout
    assert "6 nodes, 4 edges (0 structural, 4 keyword, 0 links), 0.67 per node, density 0.2667, 1 node without" in told
    shown = json.loads(CliRunner().invoke(app, ["status", str(world.folder), "--json"], catch_exceptions=False).stdout)
    assert shown["passage_graph"] == {
        "nodes": 6,
        "edges": 4,
        "edges_by_kind": {"structural": 0, "keyword": 4, "links": 0},
        "nodes_without_edges": 1,
        "rare_terms": 13,
        "nodes_with_rare_terms": 6,
        "edges_per_node": pytest.approx(2 / 3),
        "density": pytest.approx(4 / 15),
    }


@pytest.mark.parametrize(("bound", "edges"), [(50, 0), (0, 60 * 59 // 2), (60, 60 * 59 // 2)])
def test_the_papers_graph_has_no_bound_on_keywords(words: Embedder, tmp_path: Path, bound: int, edges: int) -> None:
    """The bound is the index's own: what is added later is joined by the same rule."""
    texts = [Document(id=f"{n}", title=f"P{n}", text=f"P{n} is about salt.", is_passage=True) for n in range(60)]
    extractor = TableExtractor({each.id: [Triple(each.title, "is about", "salt")] for each in texts})
    first = IndexBuilder(folder=tmp_path / "i", embedder=words, extractor=extractor, keyword_passages=bound)
    first.build(texts[:59])
    IndexBuilder(folder=tmp_path / "i", embedder=words, extractor=extractor).build(texts[59:])
    graph = Snapshot.open(tmp_path / "i").passage_graph
    assert len(graph.edges["keyword"].neighbours) // 2 == edges


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
    with pytest.MonkeyPatch.context() as patch:
        if seed % 2:  # pieces make the same whole
            patch.setattr(synonyms, "_BLOCK_ROWS", 7)
            patch.setattr(synonyms, "_MAX_WAITING_LINKS", 20)
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
def test_links_that_are_taken_over(seed: int, before: list[int], after: list[int], spread: float) -> None:
    """They are those of an index built from nothing. Entities come, go and are numbered anew; lists of three are full
    and lose some.
    """
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


def test_no_entities_have_no_synonyms() -> None:
    assert link_synonyms([], np.zeros((0, 4), np.int8), exact_up_to=0).shape == (0, 0)


def test_incidence_counts_what_the_triples_say(world: Snapshot) -> None:
    graph = world.entities
    counted = graph.incidence.toarray()
    for row in range(len(world.passages)):
        ids = world.triples.triples_of(world.passages.ids([row]))
        ends = [end for triple in map(world.triples.triple, ids) for end in (triple.subject, triple.object)]
        keys = [entity_key(end) for end in ends]
        assert counted[row].tolist() == [keys.count(entity_key(name)) for name in graph.names]
    np.testing.assert_array_equal(graph.passage_counts, (counted > 0).sum(axis=0))


def test_weights_count_triples_and_add_synonyms(world: Snapshot) -> None:
    graph = world.entities
    number: Callable[[str], int] = lambda name: graph.numbers[entity_key(name)]  # noqa: E731
    weights, plain = graph.weights().toarray(), graph.weights(synonym_threshold=2.0).toarray()
    np.testing.assert_array_equal(weights, weights.T)
    np.testing.assert_allclose(weights - plain, graph.synonyms.toarray(), atol=1e-6)
    assert plain[number("milwaukee"), number("Lake Michigan")] == 1
    assert plain.sum() == 2 * len(world.triples)


def test_links_below_those_stored_cannot_be_asked_for(world: Snapshot) -> None:
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
