"""What every embedder offers."""

from collections.abc import Sequence
from typing import Literal, Protocol, TypeAlias

import numpy as np
from numpy.typing import NDArray

#: Some models encode questions and passages differently; the others ignore it.
Kind: TypeAlias = Literal["passage", "query"]


class Embedder(Protocol):
    """Turns texts into rows of unit length. ``name`` and ``fingerprint`` identify the vector space in an index."""

    @property
    def name(self) -> str:
        """What a user would type to get this embedder again."""
        ...

    @property
    def fingerprint(self) -> str:
        """Changes whenever the vectors would: a hash of the weights, or the endpoint's model name."""
        ...

    @property
    def dimension(self) -> int:
        """Length of a vector."""
        ...

    def embed(self, texts: Sequence[str], kind: Kind = "passage") -> NDArray[np.float32]:
        """One unit row per text, in order. For an empty sequence, an array of no rows."""
        ...
