"""The graph of passages (GNN-Ret, section 3.1): neighbours in a document, and passages that share a keyword.

Ours besides: passages of which one links to the other. The kinds of edges are kept apart, so that each can be left out
of a query. Each is an adjacency in compressed
sparse rows, ``neighbours[starts[p] : starts[p + 1]]``, without direction, without loops, in rising order, and
memory-mapped when opened.

**Keywords** come as pairs of a passage's row and a keyword's number; by default a passage's keywords are the entities
of its triples. A keyword of c passages joins c(c - 1)/2 pairs, which for "United States" is most of a large corpus and
says nothing about any question. So a keyword found in more than ``max_passages`` passages makes no edges at all. Each
keyword of a passage then brings it fewer than ``max_passages`` neighbours, and the graph grows with the number of
pairs, not with its square.

**Neighbours in a document** are passages that follow each other by position. A collection whose documents are passages
already (one row each) has no positions, but its rows of one title were one page once: `document_labels` puts those
together, in the order of the rows.

**Links** are hyperlinks and cross-references from a passage to another, followed in both directions. A list of links
says nothing about any of its targets: a passage that links to more than ``MAX_LINKS`` others is no evidence, nor is a
passage to which more than ``max_passages`` link, such as a home page.
"""

from collections import Counter
from collections.abc import Mapping, Sequence
from typing import Literal, NamedTuple, TypeAlias

import numpy as np
from numpy.typing import NDArray

from triplebeam.index.arrays.array_set import ArraySet
from triplebeam.index.arrays.rows import expand_rows
from triplebeam.index.source import MAX_PASSAGES, GraphStatistics

EdgeKind: TypeAlias = Literal["structural", "keyword", "links"]
KINDS: tuple[EdgeKind, ...] = ("structural", "keyword", "links")
#: Those of GNN-Ret's graph.
PAPER_KINDS: tuple[EdgeKind, ...] = ("structural", "keyword")

#: A passage that links to more others than this is a list of links.
MAX_LINKS = 20


class Edges(NamedTuple):
    """One kind of edges: every edge is listed at both of its ends."""

    starts: NDArray[np.int64]
    neighbours: NDArray[np.int32]

    def find_incident(self, rows: NDArray[np.int64]) -> tuple[NDArray[np.int64], NDArray[np.int64]]:
        """Find every edge at these rows: the position in ``rows`` of its one end, and the row of the other."""
        positions, places = expand_rows(self.starts, rows)
        return positions, self.neighbours[places].astype(np.int64)


class PassageGraph:
    """Passages by row and the edges between them."""

    def __init__(self, *, structural: Edges, keyword: Edges, links: Edges) -> None:
        self.edges: Mapping[EdgeKind, Edges] = {"structural": structural, "keyword": keyword, "links": links}
        for kind, edges in self.edges.items():
            if len(edges.starts) != len(structural.starts) or int(edges.starts[-1]) != len(edges.neighbours):
                raise ValueError(f"the {kind} edges of the passage graph are not as many as their starts say")

    @classmethod
    def open(cls, arrays: ArraySet) -> "PassageGraph":
        """Open what `write` wrote."""
        return cls(**{kind: Edges(*map(arrays.array, _names(kind))) for kind in KINDS})

    def write(self, arrays: ArraySet) -> None:
        """Write two arrays per kind."""
        for kind in KINDS:
            starts, neighbours = _names(kind)
            arrays.add(starts, self.edges[kind].starts)
            arrays.add(neighbours, self.edges[kind].neighbours)

    def __len__(self) -> int:
        return len(self.edges["structural"].starts) - 1

    def find_incident(
        self, rows: NDArray[np.int64], kinds: Sequence[EdgeKind] = KINDS
    ) -> tuple[NDArray[np.int64], NDArray[np.int64]]:
        """Find every edge at these rows, as `Edges.find_incident`; one of two kinds comes twice."""
        found = [self.edges[kind].find_incident(rows) for kind in kinds]
        nothing = np.zeros(0, np.int64)
        return (
            np.concatenate([positions for positions, _ in found] or [nothing]),
            np.concatenate([neighbours for _, neighbours in found] or [nothing]),
        )

    def statistics(self) -> GraphStatistics:
        """Count nodes and edges."""
        rows, neighbours = self.find_incident(np.arange(len(self)))
        ends = np.unique(rows * len(self) + neighbours)
        return GraphStatistics(
            nodes=len(self),
            edges=len(ends) // 2,
            edges_by_kind={kind: len(self.edges[kind].neighbours) // 2 for kind in KINDS},
            nodes_without_edges=len(self) - len(np.unique(rows)),
        )


def _names(kind: EdgeKind) -> list[str]:
    return [f"passage_graph_{kind}_{name}" for name in Edges._fields]


def build_passage_graph(
    documents: Sequence[str],
    positions: Sequence[int] | NDArray[np.int64],
    keyword_passages: NDArray[np.int64],
    keywords: NDArray[np.int64],
    max_passages: int = MAX_PASSAGES,
    links: Sequence[tuple[int, int]] | NDArray[np.int64] = (),
) -> PassageGraph:
    """Join passages: ``documents`` and ``positions`` have one entry per passage, ``keyword_passages`` (rows) and
    ``keywords`` (numbers) one entry per pair, and ``links`` are pairs of rows, from and to. Pairs may come in any order
    and more than once.
    """
    return PassageGraph(
        structural=_structural(documents, np.asarray(positions, np.int64)),
        keyword=_keyword(keyword_passages, keywords, len(documents), max_passages),
        links=_links(links, len(documents)),
    )


def triple_keywords(
    triple_entities: NDArray[np.int64], triple_passages: NDArray[np.int64]
) -> tuple[NDArray[np.int64], NDArray[np.int64]]:
    """Return the pairs of passage and entity of triples: both ends of each triple are keywords of its passage."""
    return np.repeat(triple_passages, 2), triple_entities.ravel()


def document_labels(documents: Sequence[str], titles: Sequence[str]) -> list[str]:
    """Return what each passage belongs to: its document, or its title where it is a document of its own."""
    sizes = Counter(documents)
    # The first letter keeps a title from being taken for a document's id.
    return [
        f"t{title}" if sizes[document] == 1 and title else f"d{document}"
        for document, title in zip(documents, titles, strict=True)
    ]


def _structural(documents: Sequence[str], positions: NDArray[np.int64]) -> Edges:
    numbers: dict[str, int] = {}
    labels = np.array([numbers.setdefault(document, len(numbers)) for document in documents], np.int64)
    order = np.lexsort((positions, labels))  # stable: equal positions stay in the order of rows
    same = labels[order[:-1]] == labels[order[1:]]
    return _make_undirected(order[:-1][same], order[1:][same], len(documents))


def _keyword(passages: NDArray[np.int64], keywords: NDArray[np.int64], nodes: int, max_passages: int) -> Edges:
    from scipy.sparse import csr_array

    numbers = int(keywords.max(initial=-1)) + 1
    incidence = csr_array((np.ones(len(passages), np.int32), (passages, keywords)), shape=(nodes, numbers))
    incidence.sum_duplicates()
    rare = np.bincount(incidence.indices, minlength=numbers) <= max_passages
    incidence = incidence[:, np.flatnonzero(rare)]
    shared = (incidence @ incidence.T).tocoo()
    above = shared.row < shared.col
    return _make_undirected(shared.row[above], shared.col[above], nodes)


def _links(links: Sequence[tuple[int, int]] | NDArray[np.int64], nodes: int) -> Edges:
    pairs = np.unique(np.sort(select_informative_links(links, nodes), axis=1), axis=0)
    return _make_undirected(pairs[:, 0], pairs[:, 1], nodes)


def select_informative_links(links: Sequence[tuple[int, int]] | NDArray[np.int64], nodes: int) -> NDArray[np.int64]:
    """Select pairs of rows, from and to, each once: without lists of links, and without links to hubs."""
    pairs = np.array(links, np.int64).reshape(-1, 2)
    pairs = np.unique(pairs[pairs[:, 0] != pairs[:, 1]], axis=0)
    pairs = pairs[np.bincount(pairs[:, 0], minlength=nodes)[pairs[:, 0]] <= MAX_LINKS]
    return pairs[np.bincount(pairs[:, 1], minlength=nodes)[pairs[:, 1]] <= MAX_PASSAGES]


def _make_undirected(ends: NDArray[np.integer], others: NDArray[np.integer], nodes: int) -> Edges:
    rows, neighbours = np.concatenate([ends, others]), np.concatenate([others, ends])
    order = np.lexsort((neighbours, rows))
    starts = np.searchsorted(rows[order], np.arange(nodes + 1)).astype(np.int64)
    return Edges(starts, neighbours[order].astype(np.int32))
