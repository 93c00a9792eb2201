"""Random small indexes of triples, for methods that walk over entities: arrays only, nothing on disk."""

from collections.abc import Sequence
from dataclasses import dataclass, field
from itertools import combinations

import numpy as np
from hypothesis import strategies as st
from numpy.typing import NDArray
from scipy.sparse import csr_array

from triplebeam.embed.embedder import Kind
from triplebeam.index.folder.entity_graph import EntityGraph
from triplebeam.index.folder.vectors import select_top
from triplebeam.ranking import Ranking
from triplebeam.triple import Triple

_MOST = 6


@dataclass(frozen=True)
class Rows:
    """Vectors that are searched exactly."""

    rows: NDArray[np.float32]

    def __len__(self) -> int:
        return len(self.rows)

    def nearest(self, vector: NDArray[np.float32], k: int) -> tuple[NDArray[np.int64], NDArray[np.float32]]:
        scores = self.rows @ vector
        best = select_top(scores, k)
        return best, scores[best]

    def nearest_many(self, vectors: NDArray[np.float32], k: int) -> list[tuple[NDArray[np.int64], NDArray[np.float32]]]:
        return [self.nearest(vector, k) for vector in vectors]


class OneHot:
    """Names of entities, "e0" to "e5", are the axes."""

    name, fingerprint, dimension = "one-hot", "one-hot", _MOST

    def embed(self, texts: Sequence[str], kind: Kind = "passage") -> NDArray[np.float32]:
        return np.array([np.eye(_MOST)[int(text[1:])] for text in texts], np.float32).reshape(-1, _MOST)


@dataclass(frozen=True)
class Drawn:
    """Triples of passages with made-up similarities."""

    triples: list[tuple[str, str, str]]
    """Passage, subject, object."""
    synonyms: dict[frozenset[str], float]
    dense: dict[str, float]
    similarity: list[float]
    """Of each triple to the query."""
    entities: list[str] = field(init=False)

    def __post_init__(self) -> None:
        names = dict.fromkeys(entity for _, *ends in self.triples for entity in ends)
        object.__setattr__(self, "entities", list(names))

    @property
    def passages(self) -> list[str]:
        return list(self.dense)

    def graph(self) -> EntityGraph:
        number = {entity: place for place, entity in enumerate(self.entities)}
        links = np.zeros((len(number), len(number)), np.float32)
        for pair, cosine in self.synonyms.items():
            one, two = (number[entity] for entity in sorted(pair))
            links[one, two] = links[two, one] = cosine
        return EntityGraph(
            names=self.entities,
            vectors=Rows(OneHot().embed(self.entities)),  # type: ignore[arg-type]
            triple_entities=np.array([(number[s], number[o]) for _, s, o in self.triples], np.int64).reshape(-1, 2),
            triple_passages=np.array([self.passages.index(passage) for passage, *_ in self.triples], np.int64),
            mentions=np.empty((0, 2), np.int64),
            chosen=csr_array(links),
            passages=len(self.passages),
        )

    # -- what HippoRAG2 asks of a store of triples and of a table of passages

    def __len__(self) -> int:
        return len(self.passages)

    def nearest(self, vectors: NDArray[np.float32], k: int) -> NDArray[np.int64]:
        return np.array([select_top(np.array(self.similarity, np.float32), k) for _ in vectors], np.int64)

    def vectors(self, triple_ids: NDArray[np.int64]) -> NDArray[np.float32]:
        """All in the direction of the query, "e0"."""
        return np.outer(np.array(self.similarity, np.float32)[triple_ids], OneHot().embed(["e0"])[0])

    def triple(self, triple_id: int) -> Triple:
        return Triple(self.triples[triple_id][1], "is", self.triples[triple_id][2])

    def triples_at(self, rows: Sequence[int]) -> NDArray[np.int64]:
        passages = [self.passages[row] for row in rows]
        return np.array([id_ for id_, (passage, *_) in enumerate(self.triples) if passage in passages], np.int64)

    def ids(self, rows: NDArray[np.int64]) -> list[str]:
        return [self.passages[row] for row in rows.tolist()]

    def row(self, passage_id: str) -> int:
        return self.passages.index(passage_id)

    # -- what it asks of a base

    def retrieve(self, query: str, k: int = 10) -> Ranking:
        return Ranking.from_scores(self.dense).top(k)

    def scores(self, query: str) -> NDArray[np.float32]:
        return np.array(list(self.dense.values()), np.float32)


@st.composite
def drawn_graphs(draw: st.DrawFn) -> Drawn:
    passages = [f"p{number}" for number in range(draw(st.integers(1, 5)))]
    entity = st.integers(0, _MOST - 1).map("e{}".format)
    triples = draw(st.lists(st.tuples(st.sampled_from(passages), entity, entity), min_size=1, max_size=10))
    triples.sort(key=lambda row: passages.index(row[0]))
    used = sorted({end for _, *ends in triples for end in ends})
    pairs = [frozenset(pair) for pair in combinations(used, 2)]
    chosen = draw(st.lists(st.sampled_from(pairs), max_size=3, unique=True)) if pairs else []
    share = st.integers(1, 64).map(lambda part: part / 64)  # exact in single precision
    return Drawn(
        triples,
        dict.fromkeys(chosen, 0.875),
        {passage: draw(share) for passage in passages},
        [draw(share) for _ in triples],
    )
