"""Agents that show a model the passages they retrieve: what they need beyond a retriever and a model is derived."""

from collections.abc import Sequence
from dataclasses import dataclass, field
from functools import cached_property

from triplebeam.answer import Agent, Answer
from triplebeam.generate.language_model import LanguageModel, estimate_tokens
from triplebeam.generate.prompts import format_passages
from triplebeam.methods.shared.facts import evidence_first, passages_of_facts
from triplebeam.methods.shared.loop import Loop
from triplebeam.methods.shared.question_answering import Answerer, QuestionAnswerer, ReadAnswer, is_answer
from triplebeam.passage import Passages
from triplebeam.retrieve.bounds import check_fields
from triplebeam.retrieve.retriever import Retriever, passages_of

#: Passages that an answer is read from (GeAR, Table 3).
_MAX_PASSAGES_READ = 5
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

    With the passages' ``texts``, others are read only as far as all fit into so many tokens.
    """
    used = min(len(passages_of_facts(loop.used)), 2 * passages)
    best = evidence_first(loop.used, loop.so_far).ids[: max(passages, used)]
    chosen = choose_within(best, texts, tokens, max(used, 1)) if texts else best
    return answerer.answer(loop.question, chosen, loop.used)


def choose_within(passage_ids: Sequence[str], passages: Passages, tokens: int | None, least: int) -> list[str]:
    """Select the best passages within so many tokens, but ``least`` in any case, and none that repeats another.

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
