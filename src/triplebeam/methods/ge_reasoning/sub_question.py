"""GE-Reasoning, Eq. 2: a sub-question from a triplet with one open variable, and, for Table 2, one without a graph.

Followed to the letter: with the graph the model sees the triplet and nothing else. Ours: a reply that cannot be used is
noted, and the words of the triplet take the sub-question's place.
"""

from collections.abc import Sequence
from dataclasses import dataclass, field
from functools import partial

from pydantic import BaseModel

from triplebeam.generate.language_model import LanguageModel, Prompt
from triplebeam.generate.parse import Text
from triplebeam.generate.prompts import Template, load
from triplebeam.methods.ge_reasoning.question_graph import QuestionTriplet
from triplebeam.methods.ge_reasoning.sub_answer import Pair, format_pairs
from triplebeam.methods.shared.replies import request_text


class _Reply(BaseModel):
    question: Text


@dataclass(frozen=True, kw_only=True)
class SubQuestions:
    """SubquestionGenerate of Algorithm 1."""

    model: LanguageModel
    guided: Template = field(default_factory=partial(load, "ge_reasoning/sub_question"), repr=False)
    unguided: Template = field(default_factory=partial(load, "ge_reasoning/next_sub_question"), repr=False)

    def from_triplet(self, triplet: QuestionTriplet) -> str:
        """Eq. 2: what fills the triplet's open variable."""
        return self._ask_model(self.guided.fill(triplet=str(triplet))) or triplet.words

    def propose_next(self, question: str, pairs: Sequence[Pair]) -> str:
        """Ask what to ask next, without graph guidance; empty where nothing is left to ask."""
        return self._ask_model(self.unguided.fill(question=question, pairs=format_pairs(pairs)))

    def _ask_model(self, prompt: Prompt) -> str:
        return request_text(self.model, prompt, _Reply)
