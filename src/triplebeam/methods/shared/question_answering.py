"""The last step every agent shares: read the best passages, answer in a few words, and show what the answer rests on.

GeAR, Table 3: the five best passages, at most six words. Ours: the model may say that it has no answer, and gives a
sentence for people beside the short form.
"""

from collections.abc import Iterable, Sequence
from dataclasses import dataclass, field, replace
from functools import partial
from typing import Protocol

from pydantic import BaseModel

from triplebeam.answer import Answer, Evidence, Step
from triplebeam.generate.accounting import account
from triplebeam.generate.language_model import LanguageModel, Prompt
from triplebeam.generate.prompts import Template, load
from triplebeam.generate.reply_fields import Text
from triplebeam.methods.shared.prompt_text import numbered_passages
from triplebeam.methods.shared.usable_replies import usable_reply
from triplebeam.passage import Passage, Passages
from triplebeam.support import support_among
from triplebeam.triple import Triple

#: How an agent of one step ends.
ONE_STEP = "one step was asked for"


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


def conclude(
    answerer: Answerer,
    question: str,
    steps: Sequence[Step],
    ending: str,
    *,
    best: int = 5,
    loop_text: str = "",
    settled: ReadAnswer | None = None,
    evidence: tuple[Evidence, ...] = (),
) -> Answer:
    """The answer after the last step: read from the best passages, and where they do not say it, the loop's own.

    An answer that is ``settled`` stands as it is: the passages are not read again.
    """
    ranking = steps[-1].so_far
    with account() as spent:
        read = settled or answerer.answer(question, ranking.ids[:best])
    return Answer(
        question=question,
        text=read.text or loop_text,
        # Where the passages alone do not say it but the loop did, "not found" would contradict the answer.
        sentence=read.sentence if read.text or not loop_text else "",
        ranking=ranking,
        evidence=evidence,
        steps=tuple(steps),
        usage=sum((step.usage for step in steps), spent.usage),
        ending="; ".join([ending, *spent.problems]),
        loop_text=loop_text,
    )


def short_answer(model: LanguageModel, prompt: Prompt) -> ReadAnswer:
    """One call; no words where the reply cannot be used, which is noted on the open account."""
    reply = usable_reply(model, prompt, _Reply)
    if reply is None:
        return ReadAnswer()
    return ReadAnswer(reply.answer.strip() if reply.found else "", reply.sentence.strip())


def question_first(template: Template) -> Template:
    """The template with its question also before the passages, which may be long (GNN-Ret, appendix I)."""
    return replace(
        template, user=f"Question: $question\n\n{template.user}", version=f"{template.version}+question_first"
    )


def evidence_for(facts: Iterable[Triple], passages: Sequence[Passage]) -> tuple[Evidence, ...]:
    """Each fact with the words of a passage that support it, where there are any."""
    return tuple(Evidence(triple=fact, span=support_among(fact, passages)) for fact in facts)
