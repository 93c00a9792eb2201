"""Sub-questions and their answers, for agents that take a question apart: RGNN-Ret and Self-Ask.

Their papers keep no ranking over all steps; ours is the reciprocal rank fusion of all steps' lists.
"""

from collections.abc import Sequence
from dataclasses import dataclass, field
from functools import partial
from typing import NamedTuple

from pydantic import BaseModel

from triplebeam.answer import Step
from triplebeam.generate.language_model import LanguageModel
from triplebeam.generate.parse import Text
from triplebeam.generate.prompts import Template, format_passages, load
from triplebeam.methods.shared.loop import Loop
from triplebeam.methods.shared.usable_replies import request_text
from triplebeam.passage import Passages
from triplebeam.ranking import Ranking


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


class _Reply(BaseModel):
    answer: Text


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
        return Exchange(sub_question, request_text(self.model, prompt, _Reply))
