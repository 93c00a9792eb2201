"""Agents that show a model the passages they retrieve: what they need beyond a retriever and a model is derived.

Retrieval to a number of tokens instead of k passages is for every retriever. Sub-questions and their answers are for
agents that take a question apart, RGNN-Ret and Self-Ask: their papers keep no ranking over all steps; ours is the
reciprocal rank fusion of all steps' lists.
"""

from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass, field
from functools import cached_property, partial
from typing import NamedTuple

from triplebeam.answer import Agent, Answer, Step
from triplebeam.generate.language_model import LanguageModel, estimate_tokens
from triplebeam.generate.prompts import Template, format_passages, load
from triplebeam.methods.shared.facts import passages_of_facts
from triplebeam.methods.shared.loop import Loop
from triplebeam.methods.shared.question_answering import Answerer, QuestionAnswerer, ReadAnswer, is_answer
from triplebeam.methods.shared.replies import request_text
from triplebeam.passage import Passages, metadata_terms
from triplebeam.ranking import Ranking
from triplebeam.retrieve.retriever import Retriever, check_fields, passages_of
from triplebeam.text.names import entity_key

#: GNN-Ret, section 4.1: leaves room for instructions and examples in a context of 4,096.
TOKENS = 3500


def within_tokens(
    ranking: Ranking, passages: Passages, tokens: int = TOKENS, count: Callable[[str], int] = estimate_tokens
) -> Ranking:
    """Return the head of a ranking that fits, the best passage in any case.

    The first passage that does not fit ends it, though a shorter one after it might.
    """
    for number, passage_id in enumerate(ranking.ids):
        tokens -= count(passages[passage_id].searchable)
        if tokens < 0:
            return ranking.top(max(number, 1))
    return ranking


def retrieve_within(
    retriever: Retriever,
    query: str,
    passages: Passages,
    tokens: int = TOKENS,
    count: Callable[[str], int] = estimate_tokens,
) -> Ranking:
    """Return the best passages that fit: more are asked for until one does not."""
    k = 16
    while True:
        ranking = retriever.retrieve(query, k)
        fitting = within_tokens(ranking, passages, tokens, count)
        if len(fitting) < len(ranking) or len(ranking) < k:
            return fitting
        k *= 2


#: Passages that an answer is read from (GeAR, Table 3).
_MAX_PASSAGES_READ = 5
#: Passages that a step reads however long they are.
_MIN_PASSAGES_READ = 4
#: A passage repeats another if they share more of all their words than this.
_MAX_OVERLAP = 0.8


@dataclass(frozen=True, kw_only=True)
class ReadingAgent(Agent):
    """Shows a model what a retriever finds; without a retriever the model answers from what it knows."""

    model: LanguageModel
    """Its calls count in an answer's usage if it is `Accounted`, as the model of an index is."""
    retriever: Retriever | None = None
    passages: Passages | None = field(default=None, repr=False)
    """Texts by passage id; by default those of the index that the retriever searches."""
    answerer: Answerer | None = None
    """Reads the best passages where the agent has no answer of its own; by default each agent has its own way."""

    def __post_init__(self) -> None:
        check_fields(self)
        _ = self._passages  # a retriever that does not know its passages is refused here, not at the first question

    @cached_property
    def _passages(self) -> Passages:
        if self.passages is not None:
            return self.passages
        return passages_of(self.retriever) if self.retriever is not None else {}

    def _is_open(self, answer: str) -> bool:
        """Return whether there is no answer yet. With an answerer, "unknown" is no answer."""
        return not answer if self.answerer is None else not is_answer(answer)

    def _choose_answer(self, loop: Loop, own: ReadAnswer) -> ReadAnswer:
        """Return the agent's own answer, or what the answerer, if any, reads in its best passages."""
        if self.answerer is None or not self._is_open(own.text):
            return own
        return self.answerer.answer(loop.question, loop.so_far.ids[:_MAX_PASSAGES_READ])

    def _format_passages(self, passage_ids: Sequence[str]) -> str:
        """Format passages for prompts."""
        return format_passages([self._passages[passage_id] for passage_id in passage_ids])


@dataclass(frozen=True, kw_only=True)
class RetrievingAgent(ReadingAgent):
    """A retriever and a model are enough; whatever else is given takes the place of what is derived from them."""

    retriever: Retriever = field()  # without a default, unlike the one above


@dataclass(frozen=True, kw_only=True)
class AnsweringAgent(RetrievingAgent):
    """An agent that reads its best passages once more at the end, for a short answer."""

    answered_from: int = _MAX_PASSAGES_READ
    """Passages that the answer is read from."""

    @cached_property
    def _answerer(self) -> Answerer:
        return self.answerer or QuestionAnswerer(model=self.model, passages=self._passages)

    def _conclude(self, loop: Loop, *, own_answer: bool = False) -> Answer:
        """Return the answer read from the best passages; with ``own_answer`` the loop's own, if it has one."""
        if own_answer and not self._is_open(loop.answer):
            return loop.conclude(ReadAnswer)
        return loop.conclude(lambda: self._answerer.answer(loop.question, loop.so_far.ids[: self.answered_from]))


def answer_from_evidence(
    answerer: Answerer, loop: Loop, passages: int, texts: Passages | None = None, tokens: int | None = None
) -> ReadAnswer:
    """Read from the passages of the facts used, filled up with the best others, and the facts beside them.

    With the passages' ``texts``, others are read only while all fit into the token budget.
    """
    sources = passages_of_facts(loop.used)
    used = min(len(sources), 2 * passages)
    best = list(dict.fromkeys([*sources, *loop.passages_to_read]))[: max(passages, used)]
    chosen = choose_within(best, texts, tokens, max(used, 1)) if texts else best
    return answerer.answer(loop.question, chosen, loop.used)


def choose_within(
    passage_ids: Sequence[str], passages: Passages, tokens: int | None, least: int = _MIN_PASSAGES_READ
) -> list[str]:
    """Select the best passages within a token budget, but ``least`` in any case, and none that repeats another.

    Without ``tokens`` there is no limit, and repetitions stay.
    """
    if tokens is None:
        return list(passage_ids)
    chosen: list[str] = []
    seen: list[set[str]] = []
    for id_ in passage_ids:
        text = passages[id_].searchable
        words = set(text.split())
        tokens -= estimate_tokens(text)
        if len(chosen) >= least and (
            tokens < 0 or any(_MAX_OVERLAP * len(words | each) < len(words & each) for each in seen)
        ):
            tokens += estimate_tokens(text)
            continue
        chosen.append(id_)
        seen.append(words)
    return chosen


def cover_names(question: str, first: Iterable[str], found: Iterable[str], passages: Passages) -> list[str]:
    """Select passages that were found for the sources and days that the question names and no first passage is from."""
    asked = f" {entity_key(question)} "
    chosen: list[str] = []
    covered: set[str] = set()
    for id_ in (first := dict.fromkeys(first)) | dict.fromkeys(found):
        terms = (entity_key(text.partition("\n")[0]) for text in metadata_terms(passages[id_].metadata))
        named = {name for name in terms if f" {name} " in asked}
        if id_ not in first and not named <= covered:
            chosen.append(id_)
        covered |= named
    return chosen


class Exchange(NamedTuple):
    """A sub-question, and the sentence that answers it; nothing where none does."""

    question: str
    answer: str = ""


def format_exchanges(exchanges: Sequence[Exchange]) -> str:
    """Format each sub-question under its number, with its answer below."""
    return (
        "\n".join(
            f"{number}. {exchange.question}\n   {exchange.answer or '(not found in the passages)'}"
            for number, exchange in enumerate(exchanges, 1)
        )
        or "(none)"
    )


@dataclass
class SubQuestionLoop(Loop):
    """A question that is taken apart, with what has been asked and answered so far."""

    exchanges: list[Exchange] = field(default_factory=list)

    def describe_step(self, exchange: Exchange, ranking: Ranking) -> Step:
        """Describe the step that asked a sub-question, and what was found for it."""
        return Step(
            number=self.number,
            query=exchange.question,
            ranking=ranking,
            so_far=self.fuse_rankings(),
            thought=exchange.answer,
        )


@dataclass(frozen=True, kw_only=True)
class SubAnswerer:
    """Answers a sub-question from passages, in a sentence that makes sense without them.

    The prompt has the content of GNN-Ret's (appendix I.6): the passages are considered, and there is an answer.
    """

    model: LanguageModel
    passages: Passages = field(repr=False)
    template: Template = field(default_factory=partial(load, "published/sub_answer"), repr=False)

    def answer(self, sub_question: str, passage_ids: Sequence[str]) -> Exchange:
        """Call the model once; no answer where the reply cannot be used."""
        shown = format_passages([self.passages[passage_id] for passage_id in passage_ids])
        prompt = self.template.fill(passages=shown, question=sub_question)
        return Exchange(sub_question, request_text(self.model, prompt, "answer"))
