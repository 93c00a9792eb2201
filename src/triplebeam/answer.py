"""What an agent gives back: its steps as they happened, and an answer with evidence one can check."""

from collections.abc import Iterator
from dataclasses import dataclass, field
from typing import Protocol

from triplebeam.generate.language_model import Usage
from triplebeam.ranking import Ranking
from triplebeam.triple import Triple


@dataclass(frozen=True, slots=True, kw_only=True)
class Span:
    """A verbatim stretch of a passage: ``text`` is the passage's text from ``start`` to ``end``."""

    passage_id: str
    start: int
    end: int
    text: str


@dataclass(frozen=True, slots=True, kw_only=True)
class Evidence:
    """A fact the answer rests on, and the words of a passage that support it; None where none were found."""

    triple: Triple
    span: Span | None = None


@dataclass(frozen=True, slots=True, kw_only=True)
class Step:
    """What an agent did once: what it asked for, what came, what it read, and what it made of that."""

    number: int
    query: str
    ranking: Ranking = field(default_factory=Ranking)
    facts: tuple[Triple, ...] = ()
    """Facts that are new with this step."""
    thought: str = ""
    usage: Usage = field(default_factory=Usage)
    seconds: float = 0.0


@dataclass(frozen=True, slots=True, kw_only=True)
class Answer:
    """An answer. ``text`` is short, for a benchmark; ``sentence`` is for a person."""

    question: str
    text: str
    sentence: str = ""
    ranking: Ranking = field(default_factory=Ranking)
    evidence: tuple[Evidence, ...] = ()
    steps: tuple[Step, ...] = ()
    usage: Usage = field(default_factory=Usage)
    ending: str = ""
    """Why the agent stopped, in words."""
    loop_text: str = ""
    """The answer that ended an agent's loop, where it had one; ``text`` is what was then read from the best passages."""

    @property
    def supported(self) -> bool:
        """There is evidence, and every fact of it was found in a passage."""
        return bool(self.evidence) and all(fact.span for fact in self.evidence)


class Agent(Protocol):
    """Answers questions in steps."""

    def steps(self, question: str) -> Iterator[Step]:
        """The steps, each as it is done."""
        ...

    def answer(self, question: str) -> Answer:
        """All steps, then the answer."""
        ...
