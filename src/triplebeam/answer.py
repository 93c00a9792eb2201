"""What an agent gives back: its steps as they happened, and an answer with evidence one can check."""

from abc import ABC, abstractmethod
from calendar import month_name
from collections.abc import Generator, Sequence
from contextlib import closing
from dataclasses import dataclass, field
from itertools import chain
from typing import Literal, NamedTuple, Protocol, TypeAlias

from triplebeam.generate.accounting import follow_run
from triplebeam.generate.language_model import Usage
from triplebeam.ranking import Ranking
from triplebeam.text.names import entity_key, strip_qualifier
from triplebeam.text.stop_words import word_set
from triplebeam.text.words import Word, content, words_of
from triplebeam.triple import Triple

#: "answered": the documents say it. "guess": the model's best guess. "not_in_documents": the model read them, and they
#: have no answer. "false_premise": they contradict what the question takes for granted. "model_failed": the model gave
#: no usable reply, which says nothing about the documents.
Outcome: TypeAlias = Literal["answered", "guess", "not_in_documents", "false_premise", "model_failed"]
#: Separates the parts of an answer, such as the items of a list.
SEPARATOR = ";"
#: Words of an answer from which several facts together may name it.
_MIN_LONG_ANSWER_WORDS = 4
#: A yes or no is supported if the facts have at least this share of the question's words.
_MIN_SHARE_TOLD = 0.35
#: Beginnings of words by which a question speaks of reports and their dates, which no fact has to repeat.
_OF_REPORTS = frozenset(
    word[:5].casefold()
    for word in (
        *word_set("article report publish mention discuss describe suggest claim portray regarding related compare"),
        *word_set("subsequent same topic consistent inconsistent different another between while both according"),
        *month_name[1:],
    )
)
#: What the name of another place begins with: New York is never called York.
_OTHER_PLACE = word_set("new north south east west northern southern eastern western central upper lower")


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
    statement: str = ""
    """The fact as a quotation with additions in brackets, where the method has one; `text` is never empty."""
    date: str = ""
    """The day that its passage is from, as ``2024-05-03``."""
    speaker: str = ""
    """Who says it, in a chat or a transcript."""
    source: str = ""
    """The title, section and metadata of its passage, where the method shows them with the fact."""

    @property
    def text(self) -> str:
        """The fact in words."""
        return self.statement or str(self.triple)


class AnswerPart(NamedTuple):
    """One of several things that a question asks for, and the numbers of the facts that name it, from 1."""

    text: str
    facts: tuple[int, ...]
    supported: bool


class FactChecker(Protocol):
    """What has the passages that facts quote: an index."""

    def _find_fault(self, fact: Evidence) -> str | None:
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
    premise: str = ""
    """What the documents say instead, where they contradict what the question takes for granted."""
    contradicting: tuple[Evidence, ...] = ()
    """Facts that contradict those of the evidence, such as older ones."""
    may_be_incomplete: bool = False
    """The answer is a list, and the documents may name more."""
    ranking: Ranking = field(default_factory=Ranking)
    evidence: tuple[Evidence, ...] = ()
    steps: tuple[Step, ...] = ()
    usage: Usage = field(default_factory=Usage)
    ending: str = ""
    """Why the agent stopped, in words."""
    loop_text: str = ""
    """The answer that ended an agent's loop, if there was one; ``text`` may have been read from passages afterwards."""
    failure: str = ""
    """Why the model gave no answer, in one sentence; empty where it replied."""

    def __post_init__(self) -> None:
        if self.premise:
            object.__setattr__(self, "outcome", "false_premise")
        elif not self.text:
            object.__setattr__(self, "outcome", "model_failed" if self.failure else "not_in_documents")

    @property
    def supported(self) -> bool:
        """Whether a passage supports every fact, and the answer follows from the facts."""
        return self.follows and all(fact.span for fact in self.evidence)

    @property
    def follows(self) -> bool:
        """Whether the facts, supported or not, name each part of the answer or contradict the question."""
        if not self.evidence:
            return False
        if self.outcome == "false_premise":
            return self._is_premise_told
        return self.outcome == "answered" and self.agreed and all(part.supported for part in self.parts)

    @property
    def _is_premise_told(self) -> bool:
        """Whether the facts or the question have every name and number of the premise."""
        told = words_of(self.question) + list(chain.from_iterable(map(_list_words, self.evidence)))
        fixed = [word for word in content(self.premise) if word.is_name or word.text[0].isdigit()]
        return {word.folded for word in fixed} <= {word.folded for word in told}

    @property
    def parts(self) -> tuple[AnswerPart, ...]:
        """What the answer consists of: one part as a rule, or the items of a list, or one for each thing asked for."""
        words = map(_list_words, self.evidence)
        named = [(text, _find_names(text, self.evidence)) for text in split_parts(self.text)]
        about = {_cut(word) for word in content(self.question) if not word.text[0].isdigit()} - _OF_REPORTS
        told = len(about & {_cut(word) for word in chain.from_iterable(words)}) >= _MIN_SHARE_TOLD * len(about)
        is_told = told or len(named) > 1
        return tuple(
            AnswerPart(text, facts, bool(facts) or (is_told and _is_choice(text, self.question)))
            for text, facts in named
        )

    @property
    def as_of(self) -> str:
        """The latest day of the evidence; empty where no fact has a date."""
        return max((fact.date for fact in self.evidence), default="")

    @property
    def agreed(self) -> bool:
        """The passages and the facts gave the same parts, or such as are a part of the other ("Bath, England")."""
        said, facts_said = map(split_parts, (self.text, self.loop_text))
        pairs = ((said, facts_said), (facts_said, said))
        return not facts_said or all(any(_agree(a, b) for b in others) for own, others in pairs for a in own)

    def verify(self, index: FactChecker) -> list[str]:
        """Check every fact against an index again; returns the faults, none where everything holds."""
        if not self.evidence:
            return ["the answer has no evidence: nothing supports it"]
        faults = [f"{fact.text}: {fault}" for fact in self.evidence if (fault := index._find_fault(fact))]
        unnamed = [part.text for part in self.parts if not part.supported]
        return [*faults, *(f"none of the facts contains the answer {text!r}" for text in unnamed)]


def split_parts(text: str) -> list[str]:
    """Return the parts of an answer."""
    return list(filter(None, map(str.strip, text.split(SEPARATOR))))


def _agree(one: str, other: str) -> bool:
    """Is one of two answers, or each of its words but for "the" and the like, a part of the other?"""
    (key, words), (other_key, other_words) = (
        (entity_key(text), {word.folded for word in content(text)}) for text in (one, other)
    )
    is_part = words <= other_words or other_words <= words
    return key in other_key or other_key in key or (is_part and bool(words and other_words))


def _is_choice(text: str, question: str) -> bool:
    """Is an answer yes, no or what the question offers with "or"? No fact names it: it follows from the facts."""
    key, asked = entity_key(text), f" {entity_key(question)} "
    return key.split(" ")[0] in ("yes", "no") or (" or " in asked and f" {key} " in asked)


def _cut(word: Word) -> str:
    """Return the beginning of a word, which "visits" and "visited" share."""
    return word.folded[:5]


def _list_words(fact: Evidence) -> list[Word]:
    """List the words of a fact, of what supports it, and of its speaker, date and source."""
    said = [fact.text, str(fact.triple), fact.span.text if fact.span else "", fact.speaker, fact.date, fact.source]
    return words_of(" . ".join(said))


def _find_names(answer: str, evidence: Sequence[Evidence]) -> tuple[int, ...]:
    """Find the facts, from 1, that name an answer: one, those of one passage together, or all for a long answer."""
    named = content(strip_qualifier(answer))
    wanted = {word.folded if word.is_name or word.text[0].isdigit() else _cut(word) for word in named}
    if not wanted:  # nothing but punctuation
        return ()
    words = list(map(_list_words, evidence))
    known = [{key for word in each for key in (word.folded, _cut(word))} for each in words]
    found = tuple(n for n, each in enumerate(known) if wanted <= each or _has_surname(answer, words[n]))
    passages = [fact.span.passage_id if fact.span else "" for fact in evidence]
    groups = [[n for n, each in enumerate(passages) if each == id_] for id_ in dict.fromkeys(filter(None, passages))]
    if len(wanted) >= _MIN_LONG_ANSWER_WORDS:
        groups.append(list(range(len(evidence))))
    together = (group for group in groups if wanted <= set().union(*(known[n] for n in group)))
    first = found or tuple(n for n in next(together, ()) if wanted & known[n])
    return tuple(n + 1 for n in first)


def _has_surname(answer: str, words: Sequence[Word]) -> bool:
    """Do words call a person of several names by the last ones, with no other name before them?"""
    name = words_of(answer)
    if len(name) < 2 or name[0].folded in _OTHER_PLACE or not all(word.is_name for word in name):
        return False
    last = name[-2:] if name[-1].gap == "-" else name[-1:]
    size, keys = len(last), [word.folded for word in last]
    return any(
        [word.folded for word in words[n : n + size]] == keys
        and not (n and words[n - 1].is_name and words[n].gap == " ")
        for n in range(len(words))
    )


class Run:
    """An agent at work on one question: its steps as they are done, and its answer."""

    def __init__(self, working: Generator[Step, None, Answer]) -> None:
        self._answer: Answer | None = None
        self.steps = self._take_steps(working)
        """Each step as it is done; they can be taken once."""

    def _take_steps(self, working: Generator[Step, None, Answer]) -> Generator[Step, None, None]:
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
        """Start the agent on the question; nothing is done until the first step is taken."""
        return Run(self.steps(question))

    def answer(self, question: str) -> Answer:
        """All steps, then the answer."""
        return self.run(question).answer
