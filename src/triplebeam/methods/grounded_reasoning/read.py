"""A sub-answer read from documents, in one call: in the place of lines 8 to 14 of Algorithm 1.

The paper asks what the model knows, extracts triplets from two passages, filters them, asks again, and measures how
sure the model is, with five samples if there are no log-probabilities. On a user's own documents none of that is
needed: the model reads the passages once and quotes the facts that its answer rests on. An answer without such a fact
is not kept. A second attempt would send the same prompt, so there is one attempt per triplet.
"""

from collections.abc import Sequence
from dataclasses import dataclass, field
from functools import partial
from typing import Annotated

from pydantic import AfterValidator, BaseModel

from triplebeam.generate.language_model import LanguageModel
from triplebeam.generate.parse import Text
from triplebeam.generate.prompts import Template, load, numbered_passages
from triplebeam.methods.ge_reasoning.sub_answer import Pair, SubAnswer, shown_pairs, tidy
from triplebeam.methods.shared.facts import CitedFacts, Fact, cited_facts
from triplebeam.methods.shared.usable_replies import usable_reply
from triplebeam.passage import Passage


class _Reply(BaseModel):
    sentence: Text
    answer: Annotated[Text, AfterValidator(tidy)]
    facts: CitedFacts


@dataclass(frozen=True, kw_only=True)
class GroundedReading:
    """The model that reads passages for a sub-question."""

    model: LanguageModel
    template: Template = field(default_factory=partial(load, "ge_reasoning/grounded_sub_answer"), repr=False)

    def read(
        self, question: str, pairs: Sequence[Pair], passages: Sequence[Passage], sub_question: str
    ) -> tuple[SubAnswer, tuple[Fact, ...]]:
        """One call: the sub-answer, and the facts that it rests on; neither if the reply cannot be used."""
        prompt = self.template.fill(
            question=question,
            pairs=shown_pairs(pairs),
            passages=numbered_passages(passages),
            sub_question=sub_question,
        )
        reply = usable_reply(self.model, prompt, _Reply)
        if reply is None:
            return SubAnswer("", ""), ()
        facts = tuple(fact for fact in cited_facts(reply.facts, passages) if fact.passage_id)
        return SubAnswer(" ".join(reply.sentence.split()), reply.answer, tuple(range(1, len(facts) + 1))), facts
