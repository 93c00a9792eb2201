"""RGNN-Ret's three questions to a model (section 3.3 and appendix I.6): what to ask next, whether that is enough, and
the answer.

Followed to the letter: the next sub-question is asked for with all sub-questions and sub-answers so far; the
self-critique sees the question and the sub-answers, not the sub-questions, and says whether the question can be
answered from them. Ours: the prompts' words (appendix I.6 prints those of the critique and of the final answer as
pictures), which say what is missing before they decide; sub-answers that were not found are not shown to the critique;
the final answer is given from sub-questions and sub-answers, in at most six words and a sentence for people, and may be
that there is none. A reply that cannot be used is noted: no sub-question, not enough, no answer.
"""

from collections.abc import Sequence
from dataclasses import dataclass, field
from functools import partial

from pydantic import BaseModel

from triplebeam.generate.language_model import LanguageModel
from triplebeam.generate.parse import Text
from triplebeam.generate.prompts import Template, load
from triplebeam.methods.shared.question_answering import ReadAnswer, read_short_answer
from triplebeam.methods.shared.reading import Exchange, format_exchanges
from triplebeam.methods.shared.replies import request_reply, request_text


class _SubQuestion(BaseModel):
    question: Text


class Critique(BaseModel):
    """What the sub-answers lack, in a sentence, and whether they are enough."""

    missing: Text
    enough: bool


@dataclass(frozen=True, kw_only=True)
class SelfCritique:
    """The model that takes a question apart and says when it is done."""

    model: LanguageModel
    next_template: Template = field(default_factory=partial(load, "gnn_ret/next_question"), repr=False)
    critique_template: Template = field(default_factory=partial(load, "gnn_ret/critique"), repr=False)
    final_template: Template = field(default_factory=partial(load, "gnn_ret/final"), repr=False)

    def propose_question(self, question: str, exchanges: Sequence[Exchange]) -> str:
        """Return the next sub-question; empty where the model gave none."""
        prompt = self.next_template.fill(question=question, exchanges=format_exchanges(exchanges))
        return request_text(self.model, prompt, _SubQuestion)

    def judge(self, question: str, exchanges: Sequence[Exchange]) -> Critique:
        """Return whether the question can be answered from the sub-answers."""
        answers = [exchange.answer for exchange in exchanges if exchange.answer]
        shown = "\n".join(f"{number}. {answer}" for number, answer in enumerate(answers, 1))
        reply = request_reply(self.model, self.critique_template.fill(question=question, answers=shown), Critique)
        return reply or Critique(missing="", enough=False)

    def compose_answer(self, question: str, exchanges: Sequence[Exchange]) -> ReadAnswer:
        """Return the answer that the sub-answers give."""
        prompt = self.final_template.fill(question=question, exchanges=format_exchanges(exchanges))
        return read_short_answer(self.model, prompt)
