"""The lower bound of GeAR's Table 3, "No Passages": the model alone.

Followed to the letter: the question alone, at most six words. Ours: the model may say that it does not know, which
counts as no answer, unless an experiment demands one.
"""

from collections.abc import Generator
from dataclasses import dataclass

from triplebeam.answer import Agent, Answer, Step
from triplebeam.generate.language_model import LanguageModel
from triplebeam.methods.shared.loop import Loop
from triplebeam.methods.shared.question_answering import Answerer, ClosedBookAnswerer

_NO_PASSAGES = "no passages were asked for"


@dataclass(frozen=True, kw_only=True)
class ClosedBook(Agent):
    """The model's answer to the question alone. Nothing is retrieved, so there are no steps and no ranking."""

    model: LanguageModel
    answerer: Answerer | None = None
    """By default the model may say that it does not know."""

    def steps(self, question: str) -> Generator[Step, None, Answer]:
        """Take no steps, then answer."""
        yield from ()
        answerer = self.answerer or ClosedBookAnswerer(model=self.model)
        return Loop(question, ending=_NO_PASSAGES).conclude(lambda: answerer.answer(question, []))
