"""Answers as JSON, the same over HTTP and on the command line; and what is answered where the model failed."""

from collections.abc import Mapping, Sequence
from dataclasses import asdict, replace
from typing import TYPE_CHECKING, Annotated, NotRequired, cast

from pydantic import Field
from typing_extensions import TypedDict

from triplebeam import assemble
from triplebeam.answer import Answer, Evidence, Outcome, Step
from triplebeam.explain.snippet import snippet
from triplebeam.explain.verdict import remarks, verdict
from triplebeam.generate.accounting import compute_cost
from triplebeam.generate.language_model import Usage
from triplebeam.passage import Passage, Passages
from triplebeam.ranking import Hit
from triplebeam.serve.shapes import (
    FollowUpShape,
    RankedPassageShape,
    TripleShape,
    UsageShape,
    follow_up_json,
    place_json,
)
from triplebeam.text.terms import ENGLISH

if TYPE_CHECKING:
    from triplebeam.explain.conversation import FollowUp

#: How a command ends that a model failed.
MODEL_FAILED_EXIT_CODE = 3


class ReadFactShape(TypedDict):
    """A fact that a step brought, and the words it was read from."""

    fact: Annotated[str, Field(description="A quotation with additions in brackets, or the triple in words.")]
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

    fact: NotRequired[Annotated[str, Field(description="A quotation with additions in brackets; absent for a triple.")]]
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
    """Return the whole answer. ``stemmers`` are those of its passages (`found.stemmers`). ``price`` is in US dollars,
    and is left out where it is not known.
    """
    written: dict[str, object] = {
        "question": answer.question,
        **conclusion_json(answer),
        "verdict": verdict(answer),
        "loop_answer": answer.loop_text,
        "evidence": [_evidence_json(fact) for fact in answer.evidence],
        "passages": [
            _ranked_passage_json(hit, answer, passages[hit.passage_id], (stemmers or {}).get(hit.passage_id, ENGLISH))
            for hit in answer.ranking
        ],
        "steps": [step_json(step) for step in answer.steps],
        "usage": asdict(answer.usage),
        **({"follow_up": follow_up_json(follow_up)} if follow_up else {}),
        **({} if price is None else {"price": price}),
    }
    return cast("AnswerShape", written)


def conclusion_json(answer: Answer) -> ConclusionShape:
    """Return an answer by itself."""
    written: dict[str, object] = {
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
    more: dict[str, object] = {
        "premise": answer.premise,
        "contradicting": [_evidence_json(fact) for fact in answer.contradicting],
        "as_of": answer.as_of,
        "may_be_incomplete": answer.may_be_incomplete,
    }
    return cast("ConclusionShape", written | _drop_empty(more))


def thought_json(step: Step) -> ThoughtShape:
    """Return what a step looked for, and what it made of it."""
    return {"number": step.number, "query": step.query, "thought": step.thought}


def step_json(step: Step) -> StepShape:
    """Return a step, on its own or in its answer."""
    written: dict[str, object] = {
        **thought_json(step),
        "facts": [_read_fact_json(fact) for fact in step.facts],
        "problems": list(step.problems),
        "passages": step.ranking.ids,
        "usage": asdict(step.usage),
        "seconds": step.seconds,
    }
    return cast("StepShape", written | _drop_empty({"picture": step.picture}))


def price_of_answer(answer: Answer, index: "assemble.IndexReader") -> float | None:
    """Compute US dollars; None where the model's price is not known.

    A usage does not say which model's tokens it counts, so an answer by two models has no price.
    """
    context = assemble.context_of(index)
    if context.model.name != context.reading_model.name:
        return None
    return compute_cost(answer.usage, context.model.name, index.settings.prices)


def _ranked_passage_json(hit: Hit, answer: Answer, passage: Passage, stemmer: str) -> RankedPassageShape:
    facts = (fact.triple for fact in answer.evidence if fact.span and fact.span.passage_id == passage.id)
    text, highlights = snippet(passage, answer.question, facts, stemmer)
    return {**place_json(passage), "score": hit.score, "snippet": {"text": text, "highlights": list(highlights)}}


def _evidence_json(fact: Evidence) -> EvidenceShape:
    span = asdict(fact.span) if fact.span else None
    written = {"triple": fact.triple, "span": span, "from_memory": fact.from_memory}
    more = {"fact": fact.statement, "date": fact.date, "speaker": fact.speaker, "note": fact.note}
    return cast("EvidenceShape", written | _drop_empty(more))


def _read_fact_json(fact: Evidence) -> ReadFactShape:
    return {
        "fact": fact.text,
        "triple": fact.triple,
        "passage_id": fact.span.passage_id if fact.span else None,
        "quotation": fact.span.text if fact.span else None,
        "from_memory": fact.from_memory,
    }


def _drop_empty(fields: Mapping[str, object]) -> dict[str, object]:
    """Leave out what is empty, of fields that may be missing."""
    return {name: value for name, value in fields.items() if value}


def make_failed_answer(
    index: "assemble.IndexReader", question: str, failure: str, steps: Sequence[Step] = ()
) -> Answer:
    """Make the answer where the endpoint is gone, with the steps that were taken before."""
    answer = Answer(
        question=question,
        text="",
        failure=failure,
        steps=tuple(steps),
        usage=sum((step.usage for step in steps), Usage()),
        ending="the model's endpoint cannot be used",
    )
    return add_passages(index, answer)


def add_passages(index: "assemble.IndexReader", answer: Answer) -> Answer:
    """Return the answer, with the passages of one search where the model failed before the agent had found any."""
    if answer.outcome != "model_failed" or answer.ranking:
        return answer
    return replace(answer, ranking=index.retriever().retrieve(answer.question))
