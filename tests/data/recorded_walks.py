"""What a model replied, and what searches and walks found, when questions were asked: they can be asked again without
a model and an index.
"""

import gzip
import hashlib
import json
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from functools import cache
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from triplebeam.generate.language_model import Completion, Prompt, TokenLogProbability, Usage
from triplebeam.index.source import TripleStore
from triplebeam.methods.gear import SyncGE
from triplebeam.methods.gear.beam_search import ChainScorer
from triplebeam.passage import Passage
from triplebeam.ranking import Hit, Ranking
from triplebeam.triple import Triple


def ranking_of(passage_ids: Sequence[str]) -> Ranking:
    """The passages, with their ranks as scores."""
    return Ranking(Hit(passage_id, 1 / rank) for rank, passage_id in enumerate(passage_ids, start=1))


def hash_text(text: str) -> str:
    return hashlib.sha256(text.encode()).hexdigest()[:16]


@dataclass(frozen=True)
class Replies:
    """A model's reply to each prompt, by what the prompt shows."""

    name: str
    replies: Mapping[str, Mapping[str, Any]] = field(repr=False)

    def complete(self, prompts: Sequence[Prompt]) -> list[Completion]:
        return [self._completion(prompt) for prompt in prompts]

    def _completion(self, prompt: Prompt) -> Completion:
        text = "\n".join([prompt.template, prompt.user, *(prompt.correction or ())])
        found = self.replies[hash_text(f"{text}\n{prompt.sample}" if prompt.sample else text)]
        tokens = found.get("logprobs")
        return Completion(
            text=found["reply"],
            usage=Usage(calls=1, tokens_in=found["in"], tokens_out=found["out"]),
            finish_reason=found.get("finish", "stop"),
            log_probabilities=tuple(TokenLogProbability(*token) for token in tokens) if tokens else None,
        )


@dataclass(frozen=True, kw_only=True)
class Walks(SyncGE):
    """SyncGE whose walks were recorded: no graph is needed to take them again."""

    found: Mapping[str, Sequence[str]] = field(repr=False)
    triples: TripleStore = None  # type: ignore[assignment]
    scorer: ChainScorer = None  # type: ignore[assignment]

    def __post_init__(self) -> None:
        """Nothing to check: there is no graph."""

    def link(self, proximal: Sequence[Triple]) -> NDArray[np.int64]:
        """The walk is known by its query alone."""
        return np.zeros(0, np.int64)

    def expand(self, query: str, base: Ranking, initial: NDArray[np.int64]) -> Ranking:
        return ranking_of(self.found[query])


@cache
def read_passages(data: Path, corpus: str) -> dict[str, Passage]:
    with gzip.open(data / corpus / "corpus.jsonl.gz", "rt", encoding="utf-8") as file:
        rows = map(json.loads, file)
        return {row["id"]: Passage(id=row["id"], text=row["text"], title=row["title"]) for row in rows}
