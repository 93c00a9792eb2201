"""What a published index offers, wherever it is: in a folder, a filtered view, a neighbourhood or on a cluster.

Passages and triples have numbers, which are rows in a folder and hashes of their ids on a cluster. Each triple belongs
to exactly one passage; two are neighbours when they share an entity, in either position, under the normal form of
`triplebeam.text.names.entity_key`. Methods that search take a `Source`. Methods over graphs take a `Snapshot`, which is
in memory or memory-mapped, and get it from `Source.graph`.
"""

from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Protocol, TypeAlias

import numpy as np
from numpy.typing import NDArray

from triplebeam.index.location import Location
from triplebeam.passage import Passage
from triplebeam.triple import Triple
from triplebeam.where import Where

if TYPE_CHECKING:
    from triplebeam.index.folder.snapshot import Snapshot
    from triplebeam.index.manifest import Manifest

Numbers: TypeAlias = Sequence[int] | NDArray[np.int64]
#: Numbers, best first, and their scores.
Found: TypeAlias = tuple[NDArray[np.int64], NDArray[np.float32]]


@dataclass(frozen=True)
class Query:
    """What graphs are made around."""

    text: str
    vector: NDArray[np.float32] = field(repr=False)
    clauses: Sequence[str] = ()
    """Parts of it whose words are searched for by themselves."""
    hops: bool = True
    """Whether passages are wanted that the query does not find by itself, and the graphs that lead to them."""


class PassageLookup(Protocol):
    """Passages by id and by number."""

    def __len__(self) -> int: ...

    def __iter__(self) -> Iterator[Passage]: ...

    def __contains__(self, passage_id: object, /) -> bool: ...

    def __getitem__(self, passage_id: str, /) -> Passage: ...

    def rows(self, passage_ids: Iterable[str]) -> list[int]:
        """Return the numbers of these passages, which must be there."""

    def ids(self, rows: Iterable[int] | NDArray[np.int64]) -> list[str]:
        """Return the ids of the passages of these numbers."""

    @property
    def documents(self) -> Sequence[str]:
        """The document of every passage."""

    @property
    def titles(self) -> Sequence[str]:
        """The title of every passage."""

    @property
    def document_ids(self) -> Mapping[str, None]:
        """The ids of the documents, in their order."""

    def of_document(self, document_id: str) -> list[Passage]:
        """Return the passages of a document, in their order."""

    def fields(self) -> Iterator[dict[str, str]]:
        """Return what filters compare, of every passage."""


class TermSearch(Protocol):
    """BM25 over texts by number."""

    def __len__(self) -> int: ...

    def search(self, query: str, k: int) -> Found:
        """Return the best k and their scores."""

    def stemmers_of(self, rows: Sequence[int]) -> list[str]:
        """Return the stemmers of these texts, those of their languages."""


class VectorSearch(Protocol):
    """Unit vectors by number."""

    def __len__(self) -> int: ...

    def nearest(self, vector: NDArray[np.float32], k: int) -> Found:
        """Return the k of highest cosine, and their cosines."""

    def nearest_many(self, vectors: NDArray[np.float32], k: int) -> Sequence[Found]:
        """Return the same for each of several vectors."""


class TripleStore(Protocol):
    """The graph of triples."""

    def triples_of(self, passage_ids: Sequence[str]) -> NDArray[np.int64]:
        """Return the triples of these passages: passages in this order, triples in the order of extraction."""

    def passage_of(self, triple_ids: Numbers) -> list[str]:
        """Return the passage of each triple."""

    def neighbours(self, triple_ids: Numbers, query: NDArray[np.float32], limit: int) -> list[NDArray[np.int64]]:
        """Return for each triple the ``limit`` others that share an end and are most similar to the query."""

    def nearest(self, vectors: NDArray[np.float32], k: int) -> NDArray[np.int64]:
        """Return for each vector the k triples nearest to it, best first: an array of one row per vector."""

    def vectors(self, triple_ids: Numbers) -> NDArray[np.float32]:
        """Return the stored unit vector of each triple."""

    def triple(self, triple_id: int) -> Triple:
        """Return the triple itself."""


class SourceTriples(TripleStore, Protocol):
    """The triples of a published index."""

    def __len__(self) -> int: ...

    def search(self, vector: NDArray[np.float32], k: int) -> Found:
        """Return the k triples nearest to one vector, with their cosines."""


class Source(Protocol):
    """A published index, open for reading: one generation, whole while it is held."""

    @property
    def location(self) -> Location:
        """Where it is."""

    @property
    def manifest(self) -> "Manifest":
        """What is in it."""

    @property
    def passages(self) -> PassageLookup:
        """Its passages."""

    @property
    def triples(self) -> SourceTriples:
        """Its triples."""

    @property
    def passage_terms(self) -> TermSearch:
        """BM25 over passages."""

    @property
    def triple_terms(self) -> TermSearch:
        """BM25 over triples."""

    @property
    def passage_vectors(self) -> VectorSearch:
        """The vectors of passages."""

    def filter(self, where: Where) -> "Source":
        """Return the passages for which a filter holds, and what is tied to them; there must be one."""

    def graph(
        self, query: Query | None = None, *, passages: Sequence[str] = (), entities: Sequence[str] = ()
    ) -> "Snapshot":
        """Return the graphs: the whole where it is in memory or mapped, else what is near a query, or near passages and
        the entities of some names.
        """

    def triples_about(self, name: str) -> NDArray[np.int64]:
        """Return the triples with an entity, by its name, in the order of their passages."""

    def suggest_entity(self, name: str) -> str:
        """Return the end of an error message about a name that no entity has; empty where that is not known."""
