"""Late interaction (Khattab & Zaharia, 2020): a query and a passage meet token by token.

Followed: MaxSim, ColBERTv2's compression and PLAID's order of work (centroids first, then the best candidates
exactly). It is ColBERT where the encoder's weights are ColBERT's; over any other encoder it is only ColBERT's way of
scoring, and ``encoder.label`` says so. What differs from PLAID is in docs/methods/late-interaction.md.
"""

from dataclasses import dataclass, field

from triplebeam.bounds import check_fields
from triplebeam.embed.token_encoder import TokenEncoder
from triplebeam.index.snapshot import Snapshot
from triplebeam.index.token_vectors import TokenVectorIndex
from triplebeam.index.token_vectors.token_index import Rows, Vectors
from triplebeam.index.vectors import top
from triplebeam.ranking import Ranking
from triplebeam.retrieve.scores import PassageOf, rank_passages


@dataclass(frozen=True, kw_only=True)
class LateInteraction:
    """The passages of highest MaxSim.

    Passages are looked for under the ``nprobe`` centroids nearest to each token of the query; the ``candidates`` best
    by centroids alone are scored exactly.
    """

    encoder: TokenEncoder
    tokens: TokenVectorIndex = field(repr=False)
    passage_of: PassageOf = field(repr=False)
    nprobe: int = 4
    candidates: int = 256

    def __post_init__(self) -> None:
        check_fields(self)

    @classmethod
    def over_passages(
        cls, index: Snapshot, encoder: TokenEncoder, *, nprobe: int = nprobe, candidates: int = candidates
    ) -> "LateInteraction":
        """Open the token vectors of an index, once they are known to be of its passages and of this encoder.

        A view takes its part of them; the centroids are those of all passages.
        """
        tokens = TokenVectorIndex.open(index.folder)
        tokens.manifest.check_encoder(index.folder, encoder)
        tokens.manifest.check_passages(index.whole or index)
        if index.whole:
            tokens = tokens.at(index.rows)
        return cls(encoder=encoder, tokens=tokens, passage_of=index.passages.ids, nprobe=nprobe, candidates=candidates)

    def retrieve(self, query: str, k: int = 10) -> Ranking:
        """The k passages of highest MaxSim."""
        if k < 1:
            return Ranking()
        vectors = self.encoder.encode([query], "query").vectors
        rows, scores = self.tokens.search(vectors, nprobe=self.nprobe, candidates=max(k, self.candidates))

        def best(wanted: int) -> tuple[Rows, Vectors]:
            found = top(scores, wanted)
            return rows[found], scores[found]

        return rank_passages(best, self.passage_of, k)
