"""What an agent gives back: its steps as they happened, and an answer with evidence one can check."""

import re
from abc import ABC, abstractmethod
from collections.abc import Generator, Sequence
from contextlib import closing
from dataclasses import dataclass, field
from typing import Literal, Protocol, TypeAlias

from triplebeam.generate.language_model import Usage
from triplebeam.generate.provenance import follow_run
from triplebeam.ranking import Ranking
from triplebeam.triple import Triple, entity_key

_ARTICLE = re.compile(r"^(the|an?)\s+(?=\w)", re.IGNORECASE)

#: "answered": the documents say it. "guess": the model's best guess. "not_in_documents": the model read them, and they
#: have no answer. "model_failed": the model gave no usable reply, which says nothing about the documents.
Outcome: TypeAlias = Literal["answered", "guess", "not_in_documents", "model_failed"]


@dataclass(frozen=True, slots=True, kw_only=True)
class Span:
    """A verbatim piece of a passage: ``text`` is the passage's text from ``start`` to ``end``."""

    passage_id: str
    start: int
    end: int
    text: str


@dataclass(frozen=True, slots=True, kw_only=True)
class Evidence:
    """A fact behind the answer, and the words of a passage that support it; None if there are none."""

    triple: Triple
    span: Span | None = None
    note: str = ""
    """What the fact is for, if the method says so, such as a variable, its value and the sub-question."""
    from_memory: bool = False
    """The model knows it and no document says it, such as the state that a city is in."""


class FactChecker(Protocol):
    """What has the passages that facts quote: an index."""

    def find_fault(self, fact: Evidence) -> str | None:
        """Say why the quoted words do not support a fact; None if they do."""
        ...


@dataclass(frozen=True, slots=True, kw_only=True)
class Step:
    """One step of an agent: what it searched for, found, read and concluded."""

    number: int
    query: str
    ranking: Ranking = field(default_factory=Ranking)
    """What this query found."""
    so_far: Ranking = field(default_factory=Ranking)
    """The ranking if the agent had stopped after this step; that of the last step is the answer's."""
    facts: tuple[Evidence, ...] = ()
    """Facts that are new with this step, each with the words it was read from, where they are known."""
    thought: str = ""
    picture: str = ""
    """A Mermaid diagram of what the agent works on, if it has one, such as the question graph so far."""
    problems: tuple[str, ...] = ()
    """Replies of a model that could not be used, each with the reason; the step continued without them."""
    usage: Usage = field(default_factory=Usage)
    seconds: float = 0.0


@dataclass(frozen=True, slots=True, kw_only=True)
class Answer:
    """An answer. ``text`` is short, for a benchmark; ``sentence`` is for a person."""

    question: str
    text: str
    sentence: str = ""
    outcome: Outcome = "answered"
    missing: tuple[str, ...] = ()
    """What no document says, a sentence each: "No document says where Ada Linde was born."; none if answered."""
    others: tuple[str, ...] = ()
    """Further answers that fit as well; ``text`` is the one with the best support."""
    ranking: Ranking = field(default_factory=Ranking)
    evidence: tuple[Evidence, ...] = ()
    steps: tuple[Step, ...] = ()
    usage: Usage = field(default_factory=Usage)
    ending: str = ""
    """Why the agent stopped, in words."""
    loop_text: str = ""
    """The answer that ended an agent's loop, if there was one; ``text`` was then read from the best passages."""
    failure: str = ""
    """Why the model gave no answer, in one sentence; empty where it replied."""

    def __post_init__(self) -> None:
        if not self.text:
            object.__setattr__(self, "outcome", "model_failed" if self.failure else "not_in_documents")

    @property
    def supported(self) -> bool:
        """There is an answer, the evidence is for that answer, and a passage supports every fact of it."""
        return (
            self.outcome == "answered"
            and bool(self.evidence)
            and self.agreed
            and named_in(self.text, self.evidence)
            and all(fact.span for fact in self.evidence)
        )

    @property
    def agreed(self) -> bool:
        """The passages and the facts gave the same answer, or one that is a part of the other ("Bath, England")."""
        said, facts_said = entity_key(self.text), entity_key(self.loop_text)
        return said in facts_said or facts_said in said

    def verify(self, index: FactChecker) -> list[str]:
        """Check every fact against an index again; returns the faults, none where everything holds."""
        if not self.evidence:
            return ["the answer has no evidence: nothing supports it"]
        faults = [f"{fact.triple}: {fault}" for fact in self.evidence if (fault := index.find_fault(fact))]
        named = named_in(self.text, self.evidence)
        return faults if named else [*faults, "none of the facts contains the answer itself"]


def named_in(answer: str, evidence: Sequence[Evidence]) -> bool:
    """Is the answer named by a fact or by the words that support one? Yes and no never are, so they pass."""
    said = entity_key(_ARTICLE.sub("", answer))
    texts = (f"{fact.triple} {fact.span.text if fact.span else ''}" for fact in evidence)
    return said in ("yes", "no") or any(said in entity_key(text) for text in texts)


class Run:
    """An agent at work on one question: its steps as they are done, and its answer."""

    def __init__(self, working: Generator[Step, None, Answer]) -> None:
        self._answer: Answer | None = None
        self.steps = self._taken(working)
        """Each step as it is done; they can be taken once."""

    def _taken(self, working: Generator[Step, None, Answer]) -> Generator[Step, None, None]:
        shown: set[int] = set()
        with closing(working):
            while True:
                with follow_run(shown):  # not around the yield: others work in this thread between two steps
                    try:
                        step = next(working)
                    except StopIteration as end:
                        self._answer = end.value
                        return
                yield step

    @property
    def answer(self) -> Answer:
        """The answer; the steps that remain are taken first."""
        for _ in self.steps:
            pass
        if self._answer is None:
            raise RuntimeError("the run was closed or failed before it came to an answer: ask again.")
        return self._answer

    def close(self) -> None:
        """Take no further step."""
        self.steps.close()


class Agent(ABC):
    """Answers questions in steps."""

    @abstractmethod
    def steps(self, question: str) -> Generator[Step, None, Answer]:
        """How an agent is written: yields each step as it is done and returns the answer. Callers use `run`."""

    def run(self, question: str) -> Run:
        """The agent at work on the question; nothing is done until the first step is taken."""
        return Run(self.steps(question))

    def answer(self, question: str) -> Answer:
        """All steps, then the answer."""
        return self.run(question).answer
