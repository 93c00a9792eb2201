"""The agent: it searches, reads and reasons until the facts that it read answer the question.

It began as GeAR's agent (`methods.gear`), and differs where that helps with a user's own documents:
- Two calls per step. What is read in the base's passages is where SyncGE's walk starts and what enters the gist; no
  passage is read twice; the reasoning gives the next query, and others that the same step searches for, ``searches`` in
  all: the link in other words, another one, or the next one for a likely candidate.
- Each fact is a quotation from its passage, which is the evidence. What the model knows is searched for at the end.
- ``ranking``: the passages of the facts used come first, then, for an answer, others that say the same, then those of
  the other facts, then one for each source and day that the question names and none of these is from, then Eq. 9 with a
  smaller constant: what is near a fact often says the same in another document.
- ``answer_from``: the verdict's answer stands, and facts whose quotations do not state them are quoted again; without
  one, the likeliest answer is read from the passages of the facts used, with the facts beside them.
- A list goes on while a step brings new items; an answer may also be that the question's premise is false.
- ``fall_back``: a model whose replies cannot be used, that repeats its queries, gives none, or notes facts that
  are in no passage, reads the search for the question once instead, and the ending says so.
- ``stop_when_stuck``: the agent also stops, saying so, when a query repeats an earlier one, when a step brings neither
  a new fact nor a new passage, and when ``attempts`` steps in a row add nothing to the chain of facts. Small models
  repeat the question, whatever the prompt says: the first time, the question is searched for with the facts so far.
"""

from collections.abc import Generator, Sequence
from dataclasses import dataclass, field, replace
from functools import cached_property, partial
from itertools import chain
from typing import Literal, TypeAlias

from triplebeam.answer import Answer, Step, split_parts
from triplebeam.generate.language_model import LanguageModel
from triplebeam.methods.agent.read import QuotingReader, Reader
from triplebeam.methods.agent.reason import Reasoner, Verdict
from triplebeam.methods.gear.agent import Gist
from triplebeam.methods.gear.expand import PassageLink, SyncGE, derive_passage_link
from triplebeam.methods.shared.facts import (
    Fact,
    find_invention,
    find_support,
    passages_of_facts,
    raise_passages,
    select_new_facts,
    with_sources,
)
from triplebeam.methods.shared.loop import ANSWERED, LAST_STEP, NO_QUERY, READ_ALONE
from triplebeam.methods.shared.question_answering import ReadAnswer
from triplebeam.methods.shared.reading import AnsweringAgent, answer_from_evidence, choose_within, cover_names
from triplebeam.passage import Passages
from triplebeam.ranking import Ranking
from triplebeam.retrieve.bases import in_turn, reciprocal_rank_fusion
from triplebeam.retrieve.retriever import Retriever
from triplebeam.text.names import entity_key

#: Which passages come first: those of the facts that the answer rests on, or the best of Eq. 9.
First: TypeAlias = Literal["evidence", "fusion"]
#: Where the answer is from: the verdict on the facts, if it has one, else as with "evidence"; or passages alone.
AnswerFrom: TypeAlias = Literal["facts", "evidence", "fusion"]

#: The constant of Eq. 9 behind the facts' passages: the first of each list counts more than with the paper's 60.
_RANK_CONSTANT = 3

_REPEATED = "the next query repeats an earlier one"
_CONTRADICTED = "the facts contradict what the question takes for granted"
_NOTHING_NEW = "the step brought nothing new"
_GIVEN_UP = "what is missing was searched for in other words and not found"


@dataclass(frozen=True, kw_only=True)
class EvidenceAgent(AnsweringAgent):
    """The agent over any retriever; of SyncGE it reads the base before the walk."""

    reading_model: LanguageModel | None = None
    """Reads facts from passages; by default the same model as for the rest."""
    reader: Reader | None = None
    """By default the reading model, which quotes."""
    reasoner: Reasoner | None = None
    """Says whether the facts suffice, and what to search for next; by default the model does."""
    passage_link: PassageLink | None = None
    """By default over the retriever, or over the base and the triples of a graph expansion."""
    max_steps: int = 4
    retrieved: int = 20
    """Passages that a step retrieves."""
    read: int = 15
    """Passages that a step reads at most."""
    read_tokens: int | None = 1100
    """The tokens of the passages that a step reads, though it reads at least four; None: no limit."""
    answer_tokens: int | None = 700
    """The tokens of the passages that the answer is read from; those of the facts used may have more."""
    linked: int = 10
    """Passages that a fact is linked to (Eq. 8)."""
    searches: int = 3
    """Searches that a step may make at once."""
    ranking: First = "evidence"
    answer_from: AnswerFrom = "facts"
    stop_when_stuck: bool = True
    fall_back: bool = True
    """Whether a model too weak for the loop reads the search for the question once instead."""
    attempts: int = 2
    """Steps in a row that may add nothing to the chain before what is missing is given up."""

    def steps(self, question: str) -> Generator[Step, None, Answer]:
        """Search, read and reason in turn; the answer is the verdict's or, failing that, read from passages."""
        loop = _Gist(question, self.retriever, queries=[(question,)])
        yield from loop.take_all(partial(self._step, loop))
        if self.fall_back and (weakness := loop.find_weakness()):
            yield loop.take(partial(self._fall_back, loop, weakness))
            return loop.conclude(lambda: self._answerer.answer(question, loop.so_far.ids[: self.answered_from]))
        self._look_up_memory(loop)
        if self.answer_from == "facts" and self.answerer is None:
            said = ReadAnswer(loop.answer, loop.verdict.sentence, guessed=not loop.grounded, others=loop.others)
            own = loop.conclude(lambda: said)
            if own.outcome in ("answered", "false_premise"):
                reader = self._reader
                return loop.quote_again(own, reader.quote_again) if isinstance(reader, QuotingReader) else own
        if self.answer_from == "fusion":
            best = loop.fuse_rankings().ids[: self.answered_from]
            return loop.conclude(lambda: self._answerer.answer(question, best))
        return loop.conclude(
            lambda: answer_from_evidence(self._answerer, loop, self.answered_from, self._passages, self.answer_tokens)
        )

    def _look_up_memory(self, loop: "_Gist") -> None:
        """Search for the everyday knowledge that the verdict rests on, and rank a document that states it."""
        if any(fact.from_memory for fact in loop.verdict.used):
            loop.verdict = replace(loop.verdict, used=tuple(map(self._look_up, loop.verdict.used)))
            if self.ranking == "evidence":
                loop.steps[-1] = replace(loop.steps[-1], so_far=loop.rank(self._passages))

    def _look_up(self, fact: Fact) -> Fact:
        """Return a fact that the model knows with the words of a document that states it, if there is one."""
        if not fact.from_memory:
            return fact
        found = _find_base(self.retriever).retrieve(str(fact.triple), self.linked)
        stated = find_support(fact.triple, [self._passages[id_] for id_ in found.ids])
        return stated if stated.span else fact

    def _fall_back(self, loop: "_Gist", weakness: str) -> Step:
        """Forget what a weak model read and thought: the search for the question alone is better."""
        ranking = loop.first_search
        loop.ending = f"{loop.ending}; {weakness}{READ_ALONE}"
        loop.facts, loop.verdict, loop.answer, loop.premise, loop.contradicting = (), Verdict(), "", "", ()
        return Step(number=loop.number, query=loop.question, ranking=ranking, so_far=ranking)

    def _step(self, loop: "_Gist") -> Step:
        query = loop.search_lines[-1]
        found = self._retrieve(loop)
        facts = self._read(loop, query, found)
        ranking = self._expand(loop, found, facts)
        stuck = not facts and set(ranking.ids) <= loop.seen
        loop.add(ranking, facts, [self._passage_link.link(fact.triple, self.linked) for fact in facts])
        loop.judge(self._reasoner.reason(loop.facts, loop.question, loop.search_lines))
        self._decide(loop, stuck)
        return Step(
            number=loop.number,
            query=query,
            ranking=ranking.top(self.retrieved),  # of several searches; Eq. 9 fuses all that they found
            so_far=loop.rank(self._passages) if self.ranking == "evidence" else loop.fuse_rankings(),
            facts=tuple(fact.evidence() for fact in facts),
            thought=loop.answer or loop.premise or loop.verdict.missing,
        )

    def _retrieve(self, loop: "_Gist") -> Ranking:
        """Search: the best of the step's searches in turn, of SyncGE's base before the walk."""
        base = _find_base(loop.retriever)
        lists = [base.retrieve(query, self.retrieved) for query in loop.queries[-1]]
        found = [each.ids for each in lists]
        loop.searched.extend(found)
        loop.first_search = loop.first_search or lists[0]
        return raise_passages(in_turn(found), reciprocal_rank_fusion(lists)) if len(lists) > 1 else lists[0]

    def _expand(self, loop: "_Gist", found: Ranking, facts: Sequence[Fact]) -> Ranking:
        """Eq. 2, 3 from what the step read."""
        sync = loop.retriever
        if not isinstance(sync, SyncGE) or not facts:
            return found
        return sync.expand(loop.queries[-1][0], found, sync.link([fact.triple for fact in facts])).top(self.retrieved)

    def _read(self, loop: "_Gist", query: str, ranking: Ranking) -> tuple[Fact, ...]:
        """Read what the step adds to the facts."""
        ids = self._unread(loop, ranking)
        loop.read.update(ids)
        facts = select_new_facts(self._reader.read(loop.question, ids, loop.facts, query), loop.facts)
        return with_sources(facts, [self._passages[id_] for id_ in ids])

    def _unread(self, loop: "_Gist", ranking: Ranking) -> list[str]:
        """Select the best that no earlier step has read and that fit; where those are few, some of the next best."""
        unread = [id_ for id_ in ranking.ids if id_ not in loop.read]
        best = set(ranking.ids[: self.read]) - loop.read
        return choose_within(unread[: max(len(best), self.read // 2)], self._passages, self.read_tokens)

    def _decide(self, loop: "_Gist", stuck: bool) -> None:
        """Stop, and say why, or set the next queries."""
        if loop.premise:
            loop.ending = _CONTRADICTED
        elif loop.answer and not self._goes_on(loop):
            loop.ending = ANSWERED
        elif loop.number >= self.max_steps:
            loop.ending = LAST_STEP
        elif self.stop_when_stuck and stuck:
            loop.ending = _NOTHING_NEW
        elif self.stop_when_stuck and loop.in_vain >= self.attempts:
            loop.ending = _GIVEN_UP
        elif not (queries := self._next_queries(loop)):
            loop.ending = NO_QUERY
        elif not self.stop_when_stuck:
            loop.search_next(queries[: self.searches])
        elif new := list(filter(loop.is_new, queries)):
            loop.search_next(new[: self.searches])
        elif not loop.repeated and loop.is_new(loop.with_facts):
            loop.repeated = True
            loop.search_next([loop.with_facts])
        else:
            loop.ending = _REPEATED

    def _goes_on(self, loop: "_Gist") -> bool:
        """Is the answer a list that may have further items, and did the step bring some?"""
        return loop.may_be_incomplete and loop.grown and loop.number < self.max_steps and bool(self._next_queries(loop))

    def _next_queries(self, loop: "_Gist") -> Sequence[str]:
        """List what the model would search for, each query once."""
        once: dict[str, str] = {}
        for query in loop.verdict.queries:
            once.setdefault(entity_key(query), query)
        return list(once.values())

    @cached_property
    def _reader(self) -> Reader:
        return self.reader or QuotingReader(model=self.reading_model or self.model, passages=self._passages)

    @cached_property
    def _reasoner(self) -> Reasoner:
        return self.reasoner or Reasoner(model=self.model)

    @cached_property
    def _passage_link(self) -> PassageLink:
        return self.passage_link or derive_passage_link(self.retriever)


def _find_base(retriever: Retriever) -> Retriever:
    """Return what searches without a model: SyncGE's base, before its walk."""
    return retriever.base if isinstance(retriever, SyncGE) else retriever


@dataclass
class _Gist(Gist):
    """What one question has brought so far: GeAR's gist, and what each step searched for and judged."""

    queries: list[tuple[str, ...]] = field(default_factory=list)
    """What each step searches for: its query, and what the model would search for beside it."""
    searched: list[list[str]] = field(default_factory=list)
    """What each of the queries found, before any walk."""
    first_search: Ranking = field(default_factory=Ranking)
    """What the question itself found, before any walk."""
    seen: set[str] = field(default_factory=set)
    """Passages that a step found."""
    read: set[str] = field(default_factory=set)
    verdict: Verdict = field(default_factory=Verdict)
    named: set[Fact] = field(default_factory=set)
    """Facts that a verdict has named."""
    in_vain: int = 0
    """Steps in a row, but for the first, that added nothing to the chain."""
    grown: bool = False
    """Whether the last verdict's answer has items that the one before did not have."""
    repeated: bool = False
    """Whether the model gave an earlier query again, and the facts were searched for instead."""

    @property
    def used(self) -> Sequence[Fact]:
        """The facts that the verdict names; all, where it names none."""
        return self.verdict.used or self.facts

    @property
    def with_facts(self) -> str:
        """A query that needs no model: the question with the chain so far, which leads to what is next to it."""
        read = [fact for fact in self.used if not fact.from_memory] or self.facts
        return " ".join([self.question, *(str(fact.triple) for fact in read)])

    @property
    def search_lines(self) -> list[str]:
        """The searches of each step on one line."""
        return list(map(" / ".join, self.queries))

    def find_weakness(self) -> str:
        """Say why the model's loop is worth less than one reading of the search; empty if it is not.

        An answer whose facts are quoted stands. A first step without facts is that reading already.
        """
        read = [fact for fact in self.verdict.used if not fact.from_memory]
        stands = bool(self.answer or self.premise) and bool(read) and all(fact.is_quoted for fact in read)
        if stands or not (self.facts or len(self.steps) > 1):
            return ""
        if self.failure:
            return "a reply of the model could not be used"
        if self.repeated or self.ending == _REPEATED:
            return "the model repeated its queries" if not self.answer else ""
        if self.ending == NO_QUERY and len(self.steps) == 1 and not self.answer:
            return "the model gave neither an answer nor another query"
        return find_invention(self.facts) or find_invention(self.used)

    def is_new(self, query: str) -> bool:
        """Was nothing searched for in these words yet?"""
        return entity_key(query) not in map(entity_key, chain.from_iterable(self.queries))

    def add(self, ranking: Ranking, facts: Sequence[Fact], linked: Sequence[Ranking]) -> None:
        """Eq. 5, and the lists that Eq. 9 fuses: the step's, and what Eq. 8 gave for each of its facts."""
        self.rankings.append(ranking)
        self.seen.update(ranking.ids)
        self.facts = (*self.facts, *facts)
        self.linked.extend(linked)

    def search_next(self, queries: Sequence[str]) -> None:
        """Set what the next step searches for."""
        self.queries.append(tuple(queries))

    def judge(self, verdict: Verdict) -> None:
        """Keep the verdict, and whether the chain has grown: by a new fact, or by one that was not needed before."""
        self.verdict = verdict
        items = set(map(entity_key, split_parts(verdict.answer)))
        self.grown = bool(items - set(map(entity_key, split_parts(self.answer))))
        self.answer = verdict.answer
        self.premise = verdict.premise
        self.contradicting = verdict.contradicting
        self.may_be_incomplete = verdict.more
        self.others = verdict.others
        self.missing = (verdict.missing,) if verdict.missing else ()
        grown = {fact for fact in verdict.used if not fact.from_memory} - self.named
        self.named |= grown
        self.in_vain = 0 if grown or not self.steps else self.in_vain + 1

    @property
    def passages_to_read(self) -> list[str]:
        """The passages of the facts, then the best of each search in turn."""
        return list(dict.fromkeys([*self._passages_with_facts, *in_turn(self.searched)]))

    def rank(self, passages: Passages) -> Ranking:
        """Put the passages of facts, then of named sources and days, before Eq. 9; what a walk left out comes last."""
        fused = reciprocal_rank_fusion([*self.linked, *self.rankings], _RANK_CONSTANT)
        first = self._passages_with_facts
        named = cover_names(self.question, first, fused.ids, passages)
        return raise_passages([*first, *named, *fused.ids, *in_turn(self.searched)], fused)

    @property
    def _passages_with_facts(self) -> list[str]:
        """Those of the facts used; once they answer the question, others that say the same; those of other facts."""
        same = in_turn(fact.also_in for fact in self.used) if self.answer else ()
        return [*passages_of_facts(self.used), *same, *passages_of_facts(self.facts)]
