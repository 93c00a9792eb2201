"""What the manifest of an index says of its published generation, wherever that is."""

from typing import Literal, TypeAlias

from pydantic import BaseModel, ConfigDict, computed_field

from triplebeam.embed.embedder import Embedder, has_token_vectors
from triplebeam.errors import INDEX_AGAIN, EmbedderMismatchError, IndexFormatError

FORMAT = 1
#: A keyword of more passages than this makes no edges. On MuSiQue 50 leaves out the 45 most common of 92,000 entities
#: and with them seven in ten edges; recall is a little better for it.
MAX_PASSAGES = 50
#: Walks begin to count where most passages have topics of their own. Where they count fully was measured, and matters
#: little: anything from 0.75 to 1 gives the same recall within 0.3 points (docs/methods/blend.md).
MIN_EXCLUSIVE, FULL_WEIGHT_EXCLUSIVE = 0.5, 0.9

#: What a line of corrections does.
Kind: TypeAlias = Literal["drop", "add", "merge"]


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
