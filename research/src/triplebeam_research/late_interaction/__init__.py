"""Late interaction (Khattab & Zaharia, 2020): a query and a passage meet token by token.

Followed: MaxSim (Eq. 3), exact, over vectors that are neither compressed nor pruned. Ours: only the ``candidates`` best
passages of another retriever are encoded and scored; with as many candidates as passages, it is exhaustive. It is
ColBERT where the encoder's weights are ColBERT's; over any other encoder it is only ColBERT's way of scoring, and
``encoder.label`` says so.
"""

from collections.abc import Sequence
from dataclasses import dataclass, field
from pathlib import Path

import numpy as np
from numpy.typing import NDArray

from triplebeam.embed import ENDPOINT, find_model_folder
from triplebeam.errors import BadInputError
from triplebeam.index.folder.tables import PassageTable
from triplebeam.ranking import Hit, Ranking
from triplebeam.retrieve.retriever import Retriever, check_fields
from triplebeam.system.work import Progress, ignore_progress
from triplebeam_research.late_interaction.token_encoder import OnnxTokenEncoder, TokenEncoder


def load_token_encoder(
    name: str, home: Path, *, offline: bool = False, progress: Progress = ignore_progress
) -> TokenEncoder:
    """Load an encoder of tokens by name: ``minilm``, a folder that holds a model, or ``organisation/model``."""
    if name.startswith(ENDPOINT):
        raise BadInputError(
            f"{name!r} returns one vector per text and none per token: name 'minilm', a folder or 'organisation/model'."
        )
    folder, known_as = find_model_folder(name, home, offline=offline, progress=progress)
    return OnnxTokenEncoder.from_folder(folder, name=known_as)


#: Passages whose token vectors are kept in memory: about 150 kB each, with MiniLM.
MAX_CACHED_PASSAGES = 5_000
Vectors = NDArray[np.float32]


@dataclass(frozen=True, kw_only=True)
class LateInteraction:
    """The candidates of highest MaxSim."""

    base: Retriever
    encoder: TokenEncoder
    passages: PassageTable = field(repr=False)
    candidates: int = 100
    """Passages of the base that are scored."""
    _cached: dict[str, Vectors] = field(default_factory=dict, init=False, repr=False, compare=False)

    def __post_init__(self) -> None:
        check_fields(self)

    def retrieve(self, query: str, k: int = 10) -> Ranking:
        """Return the k candidates of highest MaxSim."""
        if k < 1:
            return Ranking()
        ids = self.base.retrieve(query, max(k, self.candidates)).ids
        asked = self.encoder.encode([query], "query").vectors
        scores = (max_sim(asked, vectors) for vectors in self._encode(ids))
        return Ranking.of(Hit(id_, score) for id_, score in zip(ids, scores, strict=True)).top(k)

    def _encode(self, ids: Sequence[str]) -> list[Vectors]:
        """Return the token vectors of each passage; those of recent passages are cached."""
        found = {id_: self._cached[id_] for id_ in ids if id_ in self._cached}
        missing = [id_ for id_ in ids if id_ not in found]
        vectors, starts = self.encoder.encode([self.passages[id_].searchable for id_ in missing])
        found |= {id_: vectors[starts[place] : starts[place + 1]] for place, id_ in enumerate(missing)}
        if len(self._cached) + len(missing) > MAX_CACHED_PASSAGES:
            self._cached.clear()
        self._cached.update(found)
        return [found[id_] for id_ in ids]


def max_sim(query: Vectors, passage: Vectors) -> float:
    """Eq. 3: for each token of the query its nearest token of the passage, summed."""
    return float((query @ passage.T).max(axis=1).sum())
