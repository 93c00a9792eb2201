"""The last step every agent shares: read the best passages, answer in a few words, and show what the answer rests on.

GeAR, Table 3: the five best passages, at most six words. Ours: the model may say that it has no answer, and gives a
sentence for people beside the short form.
"""

from collections.abc import Iterable, Sequence
from dataclasses import dataclass, field, replace
from functools import partial
from typing import Protocol

from pydantic import BaseModel

from triplebeam.answer import Evidence
from triplebeam.generate.language_model import LanguageModel, Prompt
from triplebeam.generate.parse import Text
from triplebeam.generate.prompts import Template, load, numbered_passages
from triplebeam.methods.shared.usable_replies import usable_reply
from triplebeam.passage import Passage, Passages
from triplebeam.support import support_among
from triplebeam.triple import Triple


class _Reply(BaseModel):
    found: bool
    answer: Text
    sentence: Text


@dataclass(frozen=True, slots=True)
class ReadAnswer:
    """What a model answers, in a few words and in a sentence; no words where it has no answer."""

    text: str = ""
    sentence: str = ""


class Answerer(Protocol):
    """Answers a question, as a rule from passages."""

    def answer(self, question: str, passage_ids: Sequence[str], /) -> ReadAnswer:
        """No words where there is no answer."""
        ...


@dataclass(frozen=True, kw_only=True)
class QuestionAnswerer:
    """Reads passages and answers."""

    model: LanguageModel
    passages: Passages = field(repr=False)
    template: Template = field(default_factory=partial(load, "answer"), repr=False)

    def answer(self, question: str, passage_ids: Sequence[str]) -> ReadAnswer:
        """One call."""
        shown = numbered_passages([self.passages[passage_id] for passage_id in passage_ids])
        return short_answer(self.model, self.template.fill(passages=shown, question=question))


@dataclass(frozen=True, kw_only=True)
class ClosedBookAnswerer:
    """Answers from what the model knows, in the place of one that reads passages."""

    model: LanguageModel
    template: Template = field(default_factory=partial(load, "closed_book"), repr=False)

    def answer(self, question: str, passage_ids: Sequence[str] = (), /) -> ReadAnswer:
        """One call; passages are not looked at."""
        return short_answer(self.model, self.template.fill(question=question))


def short_answer(model: LanguageModel, prompt: Prompt) -> ReadAnswer:
    """One call; no words where the reply cannot be used, which is noted on the open account."""
    reply = usable_reply(model, prompt, _Reply)
    return ReadAnswer(reply.answer.strip() if reply.found else "", reply.sentence.strip()) if reply else ReadAnswer()


def question_first(template: Template) -> Template:
    """The template with its question also before the passages, which may be long (GNN-Ret, appendix I)."""
    return replace(
        template, user=f"Question: $question\n\n{template.user}", version=f"{template.version}+question_first"
    )


def evidence_for(facts: Iterable[Triple], passages: Sequence[Passage]) -> tuple[Evidence, ...]:
    """Each fact with the words of a passage that support it, where there are any."""
    return tuple(Evidence(triple=fact, span=support_among(fact, passages)) for fact in facts)
