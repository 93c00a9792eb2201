"""A small corpus of true facts, and multi-hop questions over it, for the demo and for tests that need no download."""

import json
from dataclasses import dataclass
from importlib.resources import files
from typing import Any, Literal, TypeAlias

from triplebeam.passage import Passage
from triplebeam.triple import Chain, Triple

#: ``chain``: each hop starts where the last one ended. The other two join a pair of chains of equal length.
Kind: TypeAlias = Literal["chain", "comparison", "intersection"]


@dataclass(frozen=True, slots=True, kw_only=True)
class Question:
    """A question whose bridge entities it does not name.

    ``gold`` are the ids of the passages it takes, in hop order and one branch after the other; ``chain`` says in words
    what each of them contributes.
    """

    id: str
    question: str
    answers: tuple[str, ...]
    gold: tuple[str, ...]
    hops: int
    kind: Kind
    chain: Chain

    @property
    def branches(self) -> tuple[tuple[str, ...], ...]:
        """The gold passages of each chain: one of them, or the two that are compared or intersected."""
        return tuple(self.gold[start : start + self.hops] for start in range(0, len(self.gold), self.hops))


def passages() -> list[Passage]:
    """Return the corpus; every passage is a document of its own."""
    return [Passage(**row, document_id=row["id"], end=len(row["text"])) for row in _rows("corpus.jsonl")]


def questions() -> list[Question]:
    """Return the two-hop questions, then the three-hop ones."""
    return [
        Question(
            id=row["id"],
            question=row["question"],
            answers=tuple(row["answers"]),
            gold=tuple(row["gold"]),
            hops=row["hops"],
            kind=row["kind"],
            chain=tuple(Triple(*hop) for hop in row["chain"]),
        )
        for row in _rows("questions.jsonl")
    ]


def _rows(name: str) -> list[dict[str, Any]]:
    # Not splitlines(): JSON may hold line separators that are not the file's.
    return [json.loads(line) for line in files(__name__).joinpath(name).read_text("utf-8").split("\n") if line]
