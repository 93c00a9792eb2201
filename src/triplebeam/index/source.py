"""A published index, wherever it is: what its manifest says of a generation, and what a source of it offers.

A source is a folder, a filtered view, a neighbourhood or a cluster. Passages and triples have numbers, which are rows
in a folder and hashes of their ids on a cluster. Each triple belongs to exactly one passage; two are neighbours when
they share an entity, in either position, under the normal form of `triplebeam.text.names.entity_key`. Methods that
search take a `Source`. Methods over graphs take a `Snapshot`, which is in memory or memory-mapped, and get it from
`Source.graph`.
"""

from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Literal, Protocol, TypeAlias, runtime_checkable

import numpy as np
from numpy.typing import NDArray
from pydantic import BaseModel, ConfigDict, computed_field

from triplebeam.embed.embedder import Embedder, has_token_vectors
from triplebeam.errors import INDEX_AGAIN, EmbedderMismatchError, IndexFormatError
from triplebeam.index.location import Location
from triplebeam.passage import Passage
from triplebeam.triple import Triple
from triplebeam.where import Where

if TYPE_CHECKING:
    from triplebeam.index.folder.snapshot import Snapshot

FORMAT = 1
#: A keyword of more passages than this makes no edges. On MuSiQue 50 leaves out the 45 most common of 92,000 entities
#: and with them seven in ten edges; recall is a little better for it.
MAX_PASSAGES = 50
#: Walks begin to count where most passages have topics of their own. Where they count fully was measured, and matters
#: little: anything from 0.75 to 1 gives the same recall within 0.3 points (docs/methods/blend.md).
MIN_EXCLUSIVE, FULL_WEIGHT_EXCLUSIVE = 0.5, 0.9

#: What a line of corrections does.
Kind: TypeAlias = Literal["drop", "add", "merge"]
Numbers: TypeAlias = Sequence[int] | NDArray[np.int64]
#: Numbers, best first, and their scores.
Found: TypeAlias = tuple[NDArray[np.int64], NDArray[np.float32]]


class Ownership(BaseModel):
    """A share between 0 and 1."""

    model_config = ConfigDict(frozen=True)

    exclusive: float
    """Of all passages: those with a topic that at most three passages have. Without facts a passage has no topic."""

    @property
    def share(self) -> float:
        """How much walks and messages count in the default search, from 0 to 1."""
        return min(max((self.exclusive - MIN_EXCLUSIVE) / (FULL_WEIGHT_EXCLUSIVE - MIN_EXCLUSIVE), 0.0), 1.0)


class CorrectionCounts(BaseModel):
    """The corrections of an index, as the manifest counts them."""

    model_config = ConfigDict(frozen=True)

    lines: dict[Kind, int] = {}
    triples: dict[Kind, int] = {}
    """How many triples were dropped, added, and given another name."""
    unmatched: list[int] = []
    """The numbers of the lines that match nothing now."""


class GraphStatistics(BaseModel):
    """The measures of a graph in the paper's Table 5, and the edges by kind; a manifest holds them."""

    model_config = ConfigDict(frozen=True)

    nodes: int
    edges: int = 0
    """An edge of several kinds counts once; without any they were not counted, as on a cluster."""
    edges_by_kind: dict[str, int] = {}
    nodes_without_edges: int = 0
    rare_terms: int = 0
    """Terms of a few nodes, of several documents, that the default search follows; none were counted on a cluster."""
    nodes_with_rare_terms: int = 0

    @computed_field  # type: ignore[prop-decorator]
    @property
    def edges_per_node(self) -> float:
        """|E| / |V|; a node has twice as many neighbours on average."""
        return self.edges / self.nodes if self.nodes else 0.0

    @computed_field  # type: ignore[prop-decorator]
    @property
    def density(self) -> float:
        """2|E| / (|V| (|V| - 1))."""
        return 2 * self.edges / (self.nodes * (self.nodes - 1)) if self.nodes > 1 else 0.0


class VectorSpace(BaseModel):
    """An embedder as the manifest names it."""

    model_config = ConfigDict(frozen=True)

    name: str
    fingerprint: str
    dimension: int
    triples_in_context: bool = False
    """Whether the vectors of triples come from the reading of their passages, as in indexes made since that is done."""

    @classmethod
    def of(cls, embedder: Embedder, *, triples_in_context: bool = True) -> "VectorSpace":
        """Return the space an embedder encodes into."""
        return cls(
            name=embedder.name,
            fingerprint=embedder.fingerprint,
            dimension=embedder.dimension,
            triples_in_context=triples_in_context and has_token_vectors(embedder),
        )

    def check(self, embedder: Embedder) -> None:
        """Raise where an embedder encodes into another space than this one."""
        other = VectorSpace.of(embedder)
        if (self.fingerprint, self.dimension) != (other.fingerprint, other.dimension):
            raise EmbedderMismatchError(
                f"the index was built with the embedder {self}, not with {other}:"
                f" use `--embedder {self.name}`, or index into a new folder."
            )

    def __str__(self) -> str:
        return f"{self.name!r} ({self.dimension} dimensions, fingerprint {self.fingerprint[:12]})"


class Manifest(BaseModel):
    """What ``manifest.json`` holds."""

    model_config = ConfigDict(frozen=True)

    format: int = FORMAT
    triplebeam: str
    created: str
    generation: str
    revision: int
    embedder: VectorSpace
    counts: dict[str, int]
    triples_by_extractor: dict[str, int]
    extractor: str | None = None
    """The extractor of new passages."""
    unread_languages: dict[str, int] = {}
    """Passages by the code of their language, where the extractor does not read it."""
    passage_graph: GraphStatistics
    keyword_passages: int = MAX_PASSAGES
    """A keyword of more passages makes no edges between them; 0: every keyword does."""
    ownership: Ownership
    tuned_share: float | None = None
    """How much walks count in the default search, where `triplebeam tune` chose it."""
    corrections: CorrectionCounts | None = None
    """What a person corrected."""
    files: dict[str, int]
    """Each file of the generation with its size, so that opening an index notices a missing or truncated file."""
    checksums: dict[str, int] = {}
    """And with its CRC-32, so that damage that leaves the size alone is noticed, too."""

    @property
    def share(self) -> float:
        """How much walks count in the default search: as it was tuned, else by the ownership."""
        return self.ownership.share if self.tuned_share is None else self.tuned_share


def check_format(place: object, found: int) -> None:
    """Raise where an index has another format than this Triplebeam reads and writes."""
    if found != FORMAT:
        raise IndexFormatError(f"{place} has format {found}, this Triplebeam reads format {FORMAT}: {INDEX_AGAIN}")


@dataclass(frozen=True)
class Query:
    """What graphs are made around."""

    text: str
    vector: NDArray[np.float32] = field(repr=False)
    clauses: Sequence[str] = ()
    """Parts of it whose words are searched for by themselves."""


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
    def manifest(self) -> Manifest:
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


@runtime_checkable
class HybridSource(Source, Protocol):
    """A source that has no score for every passage in memory, and finds the best by words and meaning itself."""

    def search_hybrid(self, query: Query, k: int, matches: int) -> Found:
        """Return the best k by the mean of scaled BM25, which counts for the best matches, and scaled cosines."""
