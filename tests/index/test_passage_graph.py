"""The graph of passages: its edges against pairs found one by one, its rule for common keywords, its files."""

import json
from collections.abc import Sequence
from itertools import pairwise
from pathlib import Path
from typing import TypeAlias

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from typer.testing import CliRunner

from small_world import TableExtractor
from trials import examples
from triplebeam.embed.embedder import Embedder
from triplebeam.index.arrays.array_set import MemoryArrays
from triplebeam.index.arrays.folder_arrays import FolderArrays
from triplebeam.index.build.build import IndexBuilder
from triplebeam.index.folder.passage_graph import (
    KINDS,
    MAX_LINKS,
    EdgeKind,
    Edges,
    PassageGraph,
    build_passage_graph,
    document_labels,
    triple_keywords,
)
from triplebeam.index.folder.snapshot import Snapshot
from triplebeam.index.source import GraphStatistics
from triplebeam.ingest import document_id, read_sources
from triplebeam.passage import Document
from triplebeam.serve.cli.app import app
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


def test_the_order_of_the_pairs_does_not_matter() -> None:
    documents = [("a", 0)] * 4
    pairs = [(0, 5), (1, 5), (2, 5), (2, 7), (3, 7), (2, 7)]
    one, other = build(documents, pairs), build(documents, pairs[::-1])
    assert all(np.array_equal(a, b) for kind in KINDS for a, b in zip(one.edges[kind], other.edges[kind], strict=True))


def test_a_keyword_of_too_many_passages_makes_no_edges() -> None:
    documents = [(str(row), 0) for row in range(1000)]
    everywhere = [(row, 0) for row in range(1000)]
    graph = build(documents, [*everywhere, (3, 1), (7, 1)])
    assert pairs_of(graph, "keyword") == [(3, 7), (7, 3)]


def test_links_are_edges_in_both_directions() -> None:
    graph = build([("a", 0), ("a", 1), ("b", 0)], [], links=[(2, 0), (0, 2), (2, 0), (1, 1), (2, 1)])
    assert pairs_of(graph, "links") == [(0, 2), (1, 2), (2, 0), (2, 1)]
    assert pairs_of(graph, "structural") == [(0, 1), (1, 0)]


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


def test_no_kinds_is_no_edges() -> None:
    graph = PassageGraph(
        structural=Edges(np.array([0, 1, 2]), np.array([1, 0], np.int32)),
        keyword=(nothing := Edges(np.zeros(3, np.int64), np.zeros(0, np.int32))),
        links=nothing,
    )
    assert [len(part) for part in graph.find_incident(np.arange(2), [])] == [0, 0]


def test_rows_of_one_title_are_one_document_where_they_have_no_other() -> None:
    labels = document_labels(["1", "2", "3", "4", "book", "book"], ["Paris", "Paris", "", "", "Paris", "Paris"])
    assert labels[0] == labels[1]
    assert labels[4] == labels[5]
    assert len(set(labels)) == 4


def test_triples_give_keywords(world: Snapshot) -> None:
    """The film and its director share him; the actor starred in the film and lived in the city."""
    folder = world.folder / "generations" / world.manifest.generation
    pairs = triple_keywords(np.load(folder / "triple_entities.npy"), np.load(folder / "triple_passages.npy"))
    everyone = [world.passages.read_row(row) for row in range(len(world.passages))]
    labels = document_labels(list(world.passages.documents), list(world.passages.titles))
    graph = build_passage_graph(labels, [p.position for p in everyone], *pairs)
    named = [(everyone[i].id, everyone[j].id) for i, j in pairs_of(graph, "keyword") if i < j]
    assert named == [("actor", "city"), ("actor", "film"), ("city", "lake"), ("director", "film")]
    assert pairs_of(graph, "structural") == []
    for kind in KINDS:
        assert pairs_of(world.passage_graph, kind) == pairs_of(graph, kind)
    assert world.manifest.passage_graph.edges_by_kind == graph.statistics().edges_by_kind


def test_the_graph_follows_the_documents(tmp_path: Path, words: Embedder) -> None:
    builder = IndexBuilder(folder=tmp_path / "index", embedder=words, passage_tokens=4)
    builder.build([Document(id="a", title="A", text="One two three. Four five six. Seven eight nine.")])
    assert pairs_of(Snapshot.open(builder.folder).passage_graph, "structural") == [(0, 1), (1, 0), (1, 2), (2, 1)]
    builder.build([Document(id="a", title="A", text="One two three. Four five six.")])
    index = Snapshot.open(builder.folder)
    assert pairs_of(index.passage_graph, "structural") == [(0, 1), (1, 0)]
    assert index.manifest.passage_graph == GraphStatistics(
        nodes=2, edges=1, edges_by_kind={"structural": 1, "keyword": 0, "links": 0}, nodes_without_edges=0
    )


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
