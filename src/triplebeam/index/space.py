"""The vector space of an index: which embedder made it, and that questions are encoded by the same one."""

from pydantic import BaseModel, ConfigDict

from triplebeam.embed.embedder import Embedder
from triplebeam.errors import EmbedderMismatchError


class VectorSpace(BaseModel):
    """An embedder as the manifest names it."""

    model_config = ConfigDict(frozen=True)

    name: str
    fingerprint: str
    dimension: int

    @classmethod
    def of(cls, embedder: Embedder) -> "VectorSpace":
        """The space an embedder encodes into."""
        return cls(name=embedder.name, fingerprint=embedder.fingerprint, dimension=embedder.dimension)

    def check(self, embedder: Embedder) -> None:
        """Raise where an embedder encodes into another space than this one."""
        given = VectorSpace.of(embedder)
        if (self.fingerprint, self.dimension) != (given.fingerprint, given.dimension):
            raise EmbedderMismatchError(
                f"the index was built with the embedder {self}, not with {given}:"
                f" use `--embedder {self.name}`, or index into a new folder."
            )

    def __str__(self) -> str:
        return f"{self.name!r} ({self.dimension} dimensions, fingerprint {self.fingerprint[:12]})"
