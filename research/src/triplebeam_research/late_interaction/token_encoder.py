"""What every encoder of tokens offers: for late interaction, a text has as many vectors as tokens."""

from collections.abc import Sequence
from typing import NamedTuple, Protocol

import numpy as np
from numpy.typing import NDArray

from triplebeam.embed.embedder import Kind


class TokenVectors(NamedTuple):
    """The vectors of several texts, one text after the other.

    Text ``i`` has the rows ``starts[i]`` to ``starts[i + 1]``, at least one; ``starts`` ends with the number of rows.
    """

    vectors: NDArray[np.float32]
    starts: NDArray[np.int64]


class TokenEncoder(Protocol):
    """Turns texts into unit rows, one per token. ``name`` and ``fingerprint`` identify the vector space in an index."""

    @property
    def name(self) -> str:
        """What a user would type to get this encoder again."""
        ...

    @property
    def label(self) -> str:
        """What results are reported under: ``ColBERT(…)`` for ColBERT's weights and for no others."""
        ...

    @property
    def fingerprint(self) -> str:
        """Changes whenever the vectors would."""
        ...

    @property
    def dimension(self) -> int:
        """Length of a vector."""
        ...

    def encode(self, texts: Sequence[str], kind: Kind = "passage") -> TokenVectors:
        """Return the vectors of the texts' tokens, in order; all of them in memory, so pass as many texts as fit."""
        ...
