"""The last step every agent shares: read the best passages and answer in a few words.

GeAR, Table 3: the five best passages, at most six words. Ours: facts that were read in them may stand beside them; the
model may say that the passages do not answer the question, what they lack, and what it would guess; it names the
everyday knowledge it needed and the answers that fit as well, and gives a sentence for people beside the short form.

The papers' prompts demand an answer. In their experiments so does ours (`AlwaysAnswerer`): one prompt for all methods,
with passages or without, whose answer counts whatever the loop before it came to. A method whose own answer is the
paper's keeps it, unless that is none, or says that nothing is known (`is_answer`): then this prompt is asked, too.
"""

from collections.abc import Sequence
from dataclasses import dataclass, field, replace
from functools import partial
from typing import Protocol

from pydantic import BaseModel

from triplebeam.generate.language_model import LanguageModel, Prompt
from triplebeam.generate.parse import Text, Texts, TripleRows
from triplebeam.generate.prompts import NOTED, Template, format_described_passages, format_facts, format_passages, load
from triplebeam.methods.shared.facts import Fact, facts_from_memory
from triplebeam.methods.shared.replies import request_reply, request_text
from triplebeam.passage import Passages
from triplebeam.text.names import entity_key

#: Answers that say there is none, in the normal form of `entity_key`.
_NO_ANSWERS = (
    *("", "unknown", "not known", "it is not known", "i do not know", "i don t know", "no answer", "not found"),
    *("not given", "not mentioned", "not specified", "not stated", "not available", "n a"),
)


class _Reply(BaseModel):
    sentence: Text
    found: bool
    answer: Text


class _AlwaysReply(BaseModel):
    reasoning: Text
    answer: Text


_ALONE = 'Give the answer alone, without the reasoning: {"answer": "..."}'


class _GroundedReply(_Reply):
    # What a model may leave out is not worth a correction.
    others: Texts = []
    from_memory: TripleRows = []
    missing: Text = ""
    premise: Text = ""


@dataclass(frozen=True, slots=True)
class ReadAnswer:
    """What a model answers, in a few words and in a sentence; no words where it has no answer."""

    text: str = ""
    sentence: str = ""
    guessed: bool = False
    """The passages do not say it: ``text`` is what the model thinks likeliest."""
    others: tuple[str, ...] = ()
    from_memory: tuple[Fact, ...] = ()
    missing: str = ""
    """What the passages do not say, in a sentence."""
    premise: str = ""
    """What they say instead of what the question takes for granted."""
    counts: bool = False
    """The loop's own answer does not take its place, even if it has no words."""


class Answerer(Protocol):
    """Answers a question, as a rule from passages."""

    def answer(self, question: str, passage_ids: Sequence[str], facts: Sequence[Fact] = (), /) -> ReadAnswer:
        """Answer a question; no words where there is no answer. ``facts`` were read before, here or elsewhere."""
        ...


@dataclass(frozen=True, kw_only=True)
class QuestionAnswerer:
    """Reads passages and answers."""

    model: LanguageModel
    passages: Passages = field(repr=False)
    template: Template = field(default_factory=partial(load, "answer"), repr=False)

    def answer(self, question: str, passage_ids: Sequence[str], facts: Sequence[Fact] = (), /) -> ReadAnswer:
        """One call; no words where the reply cannot be used. What a model remembered is not shown as read."""
        read = [fact.text for fact in facts if not fact.from_memory]
        prompt = self.template.fill(
            passages=format_described_passages([self.passages[passage_id] for passage_id in passage_ids]),
            facts=f"{NOTED}\n{format_facts(read)}\n\n" if read else "",
            question=question,
        )
        reply = request_reply(self.model, prompt, _GroundedReply)
        if reply is None:
            return ReadAnswer()
        text = reply.answer.strip()
        return ReadAnswer(
            text=text,
            sentence=reply.sentence.strip(),
            guessed=not reply.found,
            others=tuple(filter(None, map(str.strip, reply.others))),
            from_memory=facts_from_memory(reply.from_memory),
            missing=reply.missing.strip(),
            premise="" if text else reply.premise.strip(),  # small models fill in every field
        )


@dataclass(frozen=True, kw_only=True)
class AlwaysAnswerer(QuestionAnswerer):
    """Reads passages, if there are any, and has to answer."""

    template: Template = field(default_factory=partial(load, "always_answer"), repr=False)

    def answer(self, question: str, passage_ids: Sequence[str], facts: Sequence[Fact] = (), /) -> ReadAnswer:
        """Call the model once, and again for the answer alone where the reply cannot be used: its reasoning may not
        have ended.

        Facts that some agents read and others do not are left out. Without passages the model must not be shown an
        empty list of them: a small one then says that they do not answer the question.
        """
        shown = format_passages([self.passages[passage_id] for passage_id in passage_ids])
        prompt = self.template.fill(passages=f"Passages:\n{shown}\n\n" if passage_ids else "", question=question)
        reply = request_reply(self.model, prompt, _AlwaysReply)
        if reply is None:
            alone = replace(prompt, user=f"{prompt.user}\n\n{_ALONE}")
            return ReadAnswer(request_text(self.model, alone, "answer"), counts=True)
        return ReadAnswer(reply.answer.strip(), reply.reasoning.strip(), counts=True)


@dataclass(frozen=True, kw_only=True)
class ClosedBookAnswerer:
    """Answers from what the model knows, in the place of one that reads passages."""

    model: LanguageModel
    template: Template = field(default_factory=partial(load, "closed_book"), repr=False)

    def answer(self, question: str, passage_ids: Sequence[str] = (), facts: Sequence[Fact] = (), /) -> ReadAnswer:
        """Call the model once; passages are not used."""
        return read_short_answer(self.model, self.template.fill(question=question))


def is_answer(text: str) -> bool:
    """Return whether a text says more than that the answer is not known."""
    return entity_key(text) not in _NO_ANSWERS


def read_short_answer(model: LanguageModel, prompt: Prompt) -> ReadAnswer:
    """Call the model once; no words where the reply cannot be used, which is noted on the open account."""
    reply = request_reply(model, prompt, _Reply)
    return ReadAnswer(reply.answer.strip() if reply.found else "", reply.sentence.strip()) if reply else ReadAnswer()


def question_first(template: Template) -> Template:
    """Return the template with its question also before the passages, which may be long (GNN-Ret, appendix I)."""
    return replace(
        template, user=f"Question: $question\n\n{template.user}", version=f"{template.version}+question_first"
    )
