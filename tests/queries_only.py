"""An embedder for tests of filters: it encodes questions and refuses everything else."""

from collections.abc import Sequence

import numpy as np
from numpy.typing import NDArray

from triplebeam.embed.embedder import Kind
from triplebeam.testing.hashed_words import HashedWords


class QueriesOnly(HashedWords):
    """Fails where a passage, a triple or the name of an entity would be encoded."""

    def embed(self, texts: Sequence[str], kind: Kind = "passage") -> NDArray[np.float32]:
        assert kind == "query", f"{texts} would be encoded"
        return super().embed(texts, kind)
