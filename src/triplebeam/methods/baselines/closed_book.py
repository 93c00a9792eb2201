"""The model alone: "No Passages" of GeAR's Table 3, the lower bound of its question answering.

Followed to the letter: the question alone, at most six words. Ours: the model may say that it does not know, which
counts as no answer. Nothing is retrieved, so there are no steps and no ranking.
"""

from collections.abc import Generator, Sequence
from dataclasses import dataclass, field
from functools import partial

from triplebeam.answer import Agent, Answer, Step
from triplebeam.generate.accounting import account
from triplebeam.generate.language_model import LanguageModel
from triplebeam.generate.prompts import Template, load
from triplebeam.methods.shared.question_answering import ReadAnswer, short_answer

_NO_PASSAGES = "no passages were asked for"


@dataclass(frozen=True, kw_only=True)
class ClosedBookAnswerer:
    """Answers from what the model knows, in the place of one that reads passages."""

    model: LanguageModel
    template: Template = field(default_factory=partial(load, "closed_book"), repr=False)

    def answer(self, question: str, passage_ids: Sequence[str] = (), /) -> ReadAnswer:
        """One call; passages are not looked at."""
        return short_answer(self.model, self.template.fill(question=question))


@dataclass(frozen=True, kw_only=True)
class ClosedBook(Agent):
    """That answer, as an agent's."""

    model: LanguageModel

    def steps(self, question: str) -> Generator[Step, None, Answer]:
        """No steps, then the answer."""
        yield from ()
        with account() as spent:
            known = ClosedBookAnswerer(model=self.model).answer(question)
        return Answer(
            question=question,
            text=known.text,
            sentence=known.sentence,
            usage=spent.usage,
            ending="; ".join([_NO_PASSAGES, *spent.problems]),
        )
