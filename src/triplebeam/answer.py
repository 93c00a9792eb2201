"""What an agent gives back: its steps as they happened, and an answer with evidence one can check."""

from abc import ABC, abstractmethod
from collections.abc import Generator
from dataclasses import dataclass, field

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
    problems: tuple[str, ...] = ()
    """Replies of a model that could not be used, each with its reason; the step went on without them."""
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
    """The answer that ended an agent's loop, where it had one; ``text`` is what was then read from the best passages.
    """

    @property
    def supported(self) -> bool:
        """There is evidence, and every fact of it was found in a passage."""
        return bool(self.evidence) and all(fact.span for fact in self.evidence)


class Agent(ABC):
    """Answers questions in steps."""

    @abstractmethod
    def steps(self, question: str) -> Generator[Step, None, Answer]:
        """The steps, each as it is done; the generator's return value is the answer."""

    def answer(self, question: str) -> Answer:
        """All steps, then the answer."""
        running = self.steps(question)
        while True:
            try:
                next(running)
            except StopIteration as done:
                answer: Answer = done.value
                return answer
