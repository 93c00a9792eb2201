"""The last step every agent shares: read the best passages, answer in a few words, and show what the answer rests on.

GeAR, Table 3: the five best passages, at most six words. Ours: the model may say that the passages do not hold the
answer, and gives a sentence for people beside the short form.
"""

from collections.abc import Iterable, Sequence
from dataclasses import dataclass, field
from functools import partial

from pydantic import BaseModel

from triplebeam.answer import Evidence
from triplebeam.generate.accounting import note_problem
from triplebeam.generate.ask import ask
from triplebeam.generate.language_model import LanguageModel, PromptFailedError
from triplebeam.generate.prompts import Template, load
from triplebeam.generate.reply_fields import Text
from triplebeam.methods.prompt_text import numbered_passages
from triplebeam.passage import Passage, Passages
from triplebeam.support import support_among
from triplebeam.triple import Triple


class _Reply(BaseModel):
    found: bool
    answer: Text
    sentence: Text


@dataclass(frozen=True, slots=True)
class ReadAnswer:
    """What the passages say, in a few words and in a sentence; no words where they do not say it."""

    text: str = ""
    sentence: str = ""


@dataclass(frozen=True, kw_only=True)
class QuestionAnswerer:
    """Reads passages and answers."""

    model: LanguageModel
    passages: Passages = field(repr=False)
    template: Template = field(default_factory=partial(load, "answer"), repr=False)

    def answer(self, question: str, passage_ids: Sequence[str]) -> ReadAnswer:
        """One call."""
        shown = numbered_passages([self.passages[passage_id] for passage_id in passage_ids])
        try:
            reply, _ = ask(self.model, self.template.fill(passages=shown, question=question), _Reply)
        except PromptFailedError as problem:
            note_problem(problem)
            return ReadAnswer()
        return ReadAnswer(reply.answer.strip() if reply.found else "", reply.sentence.strip())


def evidence_for(facts: Iterable[Triple], passages: Sequence[Passage]) -> tuple[Evidence, ...]:
    """Each fact with the words of a passage that support it, where there are any."""
    return tuple(Evidence(triple=fact, span=support_among(fact, passages)) for fact in facts)
