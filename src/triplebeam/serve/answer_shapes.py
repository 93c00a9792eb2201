"""Answers as JSON: the same over HTTP and on the command line."""

from collections.abc import Mapping
from dataclasses import asdict
from typing import TYPE_CHECKING, Annotated, NotRequired, cast

from pydantic import Field
from typing_extensions import TypedDict

from triplebeam import assemble
from triplebeam.answer import Answer, Evidence, Outcome, Step
from triplebeam.explain.snippet import snippet
from triplebeam.explain.verdict import remarks, verdict
from triplebeam.generate.accounting import compute_cost
from triplebeam.passage import Passage, Passages
from triplebeam.ranking import Hit
from triplebeam.serve.shapes import (
    FollowUpShape,
    RankedPassageShape,
    TripleShape,
    UsageShape,
    follow_up_json,
    place_json,
    snippet_json,
    usage_json,
)
from triplebeam.text.terms import ENGLISH

if TYPE_CHECKING:
    from triplebeam.explain.conversation import FollowUp


class ReadFactShape(TypedDict):
    """A fact that a step brought, and the words it was read from."""

    fact: Annotated[str, Field(description="A sentence that can stand alone.")]
    triple: TripleShape
    passage_id: str | None
    quotation: str | None
    from_memory: Annotated[bool, Field(description="The model's own knowledge; no document says it.")]


class ThoughtShape(TypedDict):
    """What a step of an agent looked for, and what it made of it."""

    number: int
    query: str
    thought: str


class StepShape(ThoughtShape):
    """One step of an agent."""

    facts: list[ReadFactShape]
    problems: Annotated[list[str], Field(description="Replies of the model that could not be used.")]
    passages: Annotated[list[str], Field(description="Ids of the passages found, best first.")]
    usage: UsageShape
    seconds: float
    picture: NotRequired[Annotated[str, Field(description="A Mermaid diagram, from agents that draw one.")]]


class SpanShape(TypedDict):
    """A verbatim stretch of a passage."""

    passage_id: str
    start: int
    end: int
    text: str


class EvidenceShape(TypedDict):
    """A fact the answer relies on, and the quote that supports it."""

    fact: NotRequired[Annotated[str, Field(description="A sentence that can stand alone.")]]
    triple: TripleShape
    date: NotRequired[Annotated[str, Field(description="The day its passage is from, as `2024-05-03`.")]]
    speaker: NotRequired[Annotated[str, Field(description="Who says it, in a chat or a transcript.")]]
    span: Annotated[SpanShape | None, Field(description="Null if no passage was found that states it.")]
    from_memory: NotRequired[Annotated[bool, Field(description="The model's own knowledge; no document says it.")]]
    note: NotRequired[str]


class PartShape(TypedDict):
    """One of several things that a question asks for."""

    text: str
    facts: Annotated[list[int], Field(description="Numbers of the facts of `evidence` that name it, from 1.")]
    supported: bool


class ConclusionShape(TypedDict):
    """An answer by itself."""

    outcome: Annotated[
        Outcome,
        Field(
            description="`answered`: the documents say it. `guess`: `answer` is the model's best guess."
            " `not_in_documents`: the model read them and found no answer. `false_premise`: they contradict what the"
            " question takes for granted; `premise` says what they say. `model_failed`: the model gave no usable"
            " reply, or none at all, and `passages` are those of a search."
        ),
    ]
    answer: Annotated[
        str, Field(description="A few words; empty if the outcome is `not_in_documents` or `model_failed`.")
    ]
    sentence: str
    parts: Annotated[list[PartShape], Field(description="What `answer` consists of, such as the items of a list.")]
    premise: NotRequired[Annotated[str, Field(description="What the documents say instead, if it is false.")]]
    contradicting: NotRequired[Annotated[list[EvidenceShape], Field(description="Facts that contradict the evidence.")]]
    as_of: NotRequired[Annotated[str, Field(description="The latest day of the evidence.")]]
    may_be_incomplete: NotRequired[Annotated[bool, Field(description="The documents may name further items.")]]
    remarks: Annotated[list[str], Field(description="What else to know of the answer, a sentence each, for people.")]
    others: Annotated[list[str], Field(description="Further answers that fit; `answer` has the best support.")]
    missing: Annotated[list[str], Field(description="What no document says, a sentence each; empty if answered.")]
    supported: Annotated[
        bool, Field(description="Every fact of the evidence was found in a passage, and they state the answer.")
    ]
    ending: Annotated[str, Field(description="Why the agent stopped.")]


class AnswerShape(ConclusionShape):
    """An answer with its evidence."""

    question: str
    verdict: Annotated[
        str,
        Field(description="For people: how far the answer can be relied on, or why the model failed, in one sentence."),
    ]
    loop_answer: str
    evidence: list[EvidenceShape]
    passages: list[RankedPassageShape]
    steps: list[StepShape]
    usage: Annotated[UsageShape, Field(description="All of it, also that of rewriting a follow-up.")]
    follow_up: NotRequired[FollowUpShape]
    price: NotRequired[Annotated[float, Field(description="US dollars, if the model's price is known.")]]


def answer_json(
    answer: Answer,
    passages: Passages,
    *,
    stemmers: Mapping[str, str] | None = None,
    price: float | None = None,
    follow_up: "FollowUp | None" = None,
) -> AnswerShape:
    """The whole answer. ``stemmers`` are those of its passages (`found.stemmers`). ``price`` is in US dollars, and is
    left out where it is not known.
    """
    core: dict[str, object] = {
        "question": answer.question,
        **conclusion_json(answer),
        "verdict": verdict(answer),
        "loop_answer": answer.loop_text,
        "evidence": [_evidence(fact) for fact in answer.evidence],
        "passages": [
            _ranked_passage(hit, answer, passages[hit.passage_id], (stemmers or {}).get(hit.passage_id, ENGLISH))
            for hit in answer.ranking
        ],
        "steps": [step_json(step) for step in answer.steps],
        "usage": usage_json(answer.usage),
    }
    written = cast("AnswerShape", core)
    if follow_up:
        written["follow_up"] = follow_up_json(follow_up)
    if price is not None:
        written["price"] = price
    return written


def conclusion_json(answer: Answer) -> ConclusionShape:
    """An answer by itself."""
    written: ConclusionShape = {
        "outcome": answer.outcome,
        "answer": answer.text,
        "sentence": answer.sentence,
        "parts": [{"text": part.text, "facts": [*part.facts], "supported": part.supported} for part in answer.parts],
        "remarks": remarks(answer),
        "others": list(answer.others),
        "missing": list(answer.missing),
        "supported": answer.supported,
        "ending": answer.ending,
    }
    if answer.premise:
        written["premise"] = answer.premise
    if answer.contradicting:
        written["contradicting"] = [_evidence(fact) for fact in answer.contradicting]
    if answer.as_of:
        written["as_of"] = answer.as_of
    if answer.may_be_incomplete:
        written["may_be_incomplete"] = True
    return written


def thought_json(step: Step) -> ThoughtShape:
    """What a step looked for, and what it made of it."""
    return {"number": step.number, "query": step.query, "thought": step.thought}


def step_json(step: Step) -> StepShape:
    """A step, on its own or in its answer."""
    core: dict[str, object] = {
        **thought_json(step),
        "facts": [_read_fact(fact) for fact in step.facts],
        "problems": list(step.problems),
        "passages": step.ranking.ids,
        "usage": usage_json(step.usage),
        "seconds": step.seconds,
    }
    written = cast("StepShape", core)
    if step.picture:
        written["picture"] = step.picture
    return written


def price_of_answer(answer: Answer, index: "assemble.IndexReader") -> float | None:
    """US dollars; None where the model's price is not known.

    A usage does not say which model's tokens it counts, so an answer by two models has no price.
    """
    if assemble.context_of(index).model.name != assemble.context_of(index).reading_model.name:
        return None
    return compute_cost(answer.usage, assemble.context_of(index).model.name, index.settings.prices)


def _ranked_passage(hit: Hit, answer: Answer, passage: Passage, stemmer: str) -> RankedPassageShape:
    facts = (fact.triple for fact in answer.evidence if fact.span and fact.span.passage_id == passage.id)
    shown = snippet(passage, answer.question, facts, stemmer)
    return {**place_json(passage), "score": hit.score, "snippet": snippet_json(shown)}


def _evidence(fact: Evidence) -> EvidenceShape:
    span = cast("SpanShape", asdict(fact.span)) if fact.span else None
    written: EvidenceShape = {"triple": fact.triple, "span": span, "from_memory": fact.from_memory}
    if fact.statement:
        written["fact"] = fact.statement
    if fact.date:
        written["date"] = fact.date
    if fact.speaker:
        written["speaker"] = fact.speaker
    if fact.note:
        written["note"] = fact.note
    return written


def _read_fact(fact: Evidence) -> ReadFactShape:
    passage_id, quotation = (fact.span.passage_id, fact.span.text) if fact.span else (None, None)
    return {
        "fact": fact.text,
        "triple": fact.triple,
        "passage_id": passage_id,
        "quotation": quotation,
        "from_memory": fact.from_memory,
    }
