"""GeAR, Eq. 2 and Eq. 8: from what a reader said back to what the index holds.

Followed to the letter: tripleLink takes the most similar stored triple; passageLink fuses what passages and triples
give for the triple as a query (Eq. 10, 11). Ours where the paper is silent: similarity is the cosine of the embeddings,
and two proximal triples that link to the same stored triple start one beam, not two.
"""

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from triplebeam.embed.embedder import Embedder
from triplebeam.index.protocols import TripleStore
from triplebeam.ranking import Ranking
from triplebeam.retrieve.bases import reciprocal_rank_fusion
from triplebeam.retrieve.retriever import Retriever
from triplebeam.triple import Triple


def triple_link(proximal: Sequence[Triple], triples: TripleStore, embedder: Embedder) -> NDArray[np.int64]:
    """Eq. 2: the stored triple nearest to each proximal triple, in their order, each once."""
    if not proximal:
        return np.zeros(0, np.int64)
    nearest = triples.nearest(embedder.embed([str(triple) for triple in proximal]), 1)
    return np.array(list(dict.fromkeys(nearest.ravel().tolist())), np.int64)


@dataclass(frozen=True, kw_only=True)
class PassageLink:
    """Eq. 8: the passages that a triple is linked to."""

    passages: Retriever
    """Searches the passages (C)."""
    triples: Retriever | None = None
    """Searches the triples and gives their passages (T); without one, what the passages give is all."""

    def link(self, triple: Triple, k: int = 10) -> Ranking:
        """Eq. 10, 11: RRF of the passages that C and T give for the triple's text."""
        searched = [retriever for retriever in (self.passages, self.triples) if retriever is not None]
        lists = [retriever.retrieve(str(triple), k) for retriever in searched]
        return reciprocal_rank_fusion(lists).top(k)
