"""The loop that agents share: steps and what they cost, the memory of one question, and the answer it ends with."""

import time
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace

from triplebeam.answer import Answer, Evidence, Outcome, Step
from triplebeam.generate.accounting import Account, account
from triplebeam.methods.shared.facts import Fact
from triplebeam.methods.shared.question_answering import ReadAnswer
from triplebeam.ranking import Ranking
from triplebeam.retrieve.bases import reciprocal_rank_fusion
from triplebeam.retrieve.retriever import Retriever, for_question

#: How an agent of one step ends.
ONE_STEP = "one step was asked for"
#: How an agent of several steps ends that may take no more of them.
LAST_STEP = "the last step was reached"
#: How GeAR's agent and ours end.
ANSWERED = "the facts answer the question"
NO_QUERY = "the model gave no further query"
#: How an agent of ours goes on whose model is too weak for what it does: behind the reason.
READ_ALONE = ", so the answer is read from the search for the question alone"
_NOT_SAID = "No document answers the question."
_NOT_QUOTED = "No document is quoted for this answer: it is the model's own."


class NothingToSearch:
    """The retriever of an agent that answers without passages."""

    def retrieve(self, query: str, k: int = 10) -> Ranking:
        """Return no passages."""
        return Ranking()


@dataclass
class Loop:
    """What one question has brought so far. An agent whose steps remember more adds its own fields."""

    question: str
    retriever: Retriever = field(default_factory=NothingToSearch)
    """Where all steps search; one that learns from earlier queries of a question does (`for_question`)."""
    rankings: list[Ranking] = field(default_factory=list)
    """What the searches found."""
    steps: list[Step] = field(default_factory=list)
    facts: tuple[Fact, ...] = ()
    """What was read so far."""
    answer: str = ""
    """What the loop itself came to; the passages may say something else."""
    others: tuple[str, ...] = ()
    """Answers that fit as well as the loop's own."""
    missing: tuple[str, ...] = ()
    """What the loop has not found, a sentence each."""
    premise: str = ""
    """What was read instead of what the question takes for granted."""
    contradicting: tuple[Fact, ...] = ()
    """What was read and contradicts the facts used."""
    may_be_incomplete: bool = False
    """The loop's own answer is a list that may go on."""
    ending: str = ""
    """Why the loop stops, in words; empty while it goes on."""
    outside: Account = field(default_factory=Account)
    """What was spent outside the steps."""
    failure: str | None = None
    """Why the last reply of a step could not be used; empty where it could, None where no step asked for any."""

    def __post_init__(self) -> None:
        self.retriever = for_question(self.retriever)

    @property
    def number(self) -> int:
        """The number of the step that is being taken."""
        return len(self.steps) + 1

    @property
    def so_far(self) -> Ranking:
        """The ranking after the last step."""
        return self.steps[-1].so_far if self.steps else Ranking()

    @property
    def passages_to_read(self) -> Sequence[str]:
        """What an answer is read from, behind the passages of the facts used: the best first."""
        return self.so_far.ids

    @property
    def used(self) -> Sequence[Fact]:
        """The facts that the answer rests on, in the order of the chain: all, where the loop does not say which."""
        return self.facts

    @property
    def grounded(self) -> bool:
        """Does the loop's own answer rest on what was read, and not on memory alone?"""
        return any(not fact.from_memory for fact in self.used)

    def retrieve(self, query: str, k: int) -> Ranking:
        """Search, and remember what was found."""
        self.rankings.append(self.retriever.retrieve(query, k))
        return self.rankings[-1]

    def fuse_rankings(self) -> Ranking:
        """Return the reciprocal rank fusion of all searches."""
        return reciprocal_rank_fusion(self.rankings)

    def take(self, do: Callable[[], Step]) -> Step:
        """Take the step that ``do`` makes, with the calls, the problems and the seconds it took."""
        with account() as spent:
            started = time.perf_counter()
            step = do()
            seconds = time.perf_counter() - started
        self.failure = self.failure if spent.failure is None else spent.failure
        self.steps.append(replace(step, problems=tuple(spent.problems), usage=spent.usage, seconds=seconds))
        return self.steps[-1]

    def take_all(self, do: Callable[[], Step]) -> Iterator[Step]:
        """Yield the steps that ``do`` makes, each as it is done, until one sets the ending."""
        while not self.ending:
            yield self.take(do)

    def conclude(self, last: Callable[[], ReadAnswer], evidence: Sequence[Evidence] | None = None) -> Answer:
        """Return the answer that the ``last`` calls give; where they give none, or a guess, the loop's own.

        The loop's own is a guess, too, if it rests on nothing that was read. The ``evidence`` is that of the facts
        used, unless it is given. Without an answer it is the last reply that says why: the documents have none, or the
        reply could not be used.
        """
        with account() as spent:
            read = last()
        if self.answer and not read.counts and (not read.text or (read.guessed and read.text != self.answer)):
            # The loop found what the passages alone do not say: their "not found" would contradict the answer.
            read = ReadAnswer(self.answer, guessed=not self.grounded, others=self.others)
        premise = read.premise or (self.premise if read.guessed or not read.text else "")
        # A fact from no passage that the model does not call everyday knowledge is invented.
        invented = any(not fact.passage_id and not fact.from_memory for fact in self.used)
        outcome: Outcome = "answered" if self.so_far and not read.guessed and not invented else "guess"
        asked = (each for each in (spent.failure, self.failure, self.outside.failure) if each is not None)
        failure = "" if read.text or premise else next(asked, "")
        if evidence is None:
            evidence = [fact.evidence() for fact in (*self.used, *read.from_memory)]
        return Answer(
            question=self.question,
            text="" if premise else read.text,
            sentence=read.sentence,
            outcome=outcome,
            missing=() if failure or premise or (read.text and outcome == "answered") else self._list_missing(read),
            others=read.others,
            premise=premise,
            contradicting=tuple(fact.evidence() for fact in self.contradicting),
            may_be_incomplete=self.may_be_incomplete,
            ranking=self.so_far,
            evidence=tuple(dict.fromkeys(evidence)),
            steps=tuple(self.steps),
            usage=sum((step.usage for step in self.steps), self.outside.usage + spent.usage),
            ending="; ".join([self.ending, *self.outside.problems, *spent.problems]),
            loop_text=self.answer,
            failure=failure,
        )

    def quote_again(self, answer: Answer, ask: Callable[[Sequence[Fact]], Mapping[Fact, Fact]]) -> Answer:
        """Ask again for facts that the check refused, if the answer lacks nothing else."""
        lacking = [fact for fact in self.used if fact.passage_id and not fact.span]
        if not lacking or not answer.follows or any(fact.from_memory for fact in answer.evidence):
            return answer
        with account() as spent:
            told = {fact.evidence(): same.evidence() for fact, same in ask(lacking).items()}
        return replace(
            answer,
            evidence=tuple(dict.fromkeys(told.get(fact, fact) for fact in answer.evidence)),
            usage=answer.usage + spent.usage,
            ending="; ".join([answer.ending, *spent.problems]),
        )

    def _list_missing(self, read: ReadAnswer) -> tuple[str, ...]:
        if read.missing:
            return (read.missing,)
        return self.missing or (_NOT_QUOTED if read.text else _NOT_SAID,)
