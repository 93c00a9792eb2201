"""Passages and answers as JSON: the same over HTTP, on the command line and in files for `triplebeam verify`.

The shapes are dictionaries that pydantic knows: it checks what is read back, and describes them in the HTTP schema. A
field that may be missing is left out rather than null.
"""

from collections.abc import Iterable
from dataclasses import asdict
from typing import Annotated, NotRequired, TypeAlias, cast

from pydantic import Field, StrictInt, TypeAdapter, ValidationError
from typing_extensions import TypedDict

from triplebeam.answer import Answer, Evidence, Span, Step
from triplebeam.assemble import Index
from triplebeam.errors import BadInputError
from triplebeam.generate.accounting import price
from triplebeam.generate.language_model import Usage
from triplebeam.passage import Passage, Passages
from triplebeam.ranking import Hit
from triplebeam.serve.conversation import FollowUp
from triplebeam.serve.found import Found, passages_of, path_of
from triplebeam.serve.snippet import Snippet, snippet
from triplebeam.triple import Triple

TripleShape: TypeAlias = Annotated[tuple[str, str, str], Field(description="Subject, predicate, object.")]


class SnippetShape(TypedDict):
    """The part of a passage that matches best."""

    text: str
    highlights: Annotated[list[tuple[int, int]], Field(description="Start and end of what matches, in `text`.")]


class PlaceShape(TypedDict):
    """A passage and where it is."""

    id: str
    title: str
    section: Annotated[str, Field(description="The headings above it, as in `Managing packages › Uploading`.")]
    document_id: str
    path: Annotated[str, Field(description="The file it comes from; of a row, the id of its document.")]
    position: Annotated[int, Field(description="Which passage of its document it is, from 0.")]
    text: str


class RankedPassageShape(PlaceShape):
    """A passage with its score."""

    score: float
    snippet: SnippetShape


class FoundPassageShape(RankedPassageShape):
    """A passage and how it was found."""

    chains: Annotated[list[list[TripleShape]], Field(description="The chains of triples that explain why.")]
    found_by: NotRequired[Annotated[dict[str, int], Field(description="Its rank in each list that `blend` fuses.")]]


class UsageShape(TypedDict):
    """Calls to a language model and their tokens; completions from the cache are counted separately."""

    calls: int
    tokens_in: int
    tokens_out: int
    estimated: bool
    cached_calls: int
    cached_tokens_in: int
    cached_tokens_out: int


class FollowUpShape(TypedDict):
    """A message of a conversation, and the self-contained question that was made of it."""

    asked: Annotated[str, Field(description="The message as it was sent.")]
    question: Annotated[str, Field(description="What is answered; the message itself if it was not rewritten.")]
    problem: NotRequired[Annotated[str, Field(description="Why it could not be rewritten.")]]
    usage: Annotated[UsageShape, Field(description="What rewriting it cost.")]


class SearchShape(TypedDict):
    """The passages found, best first."""

    question: str
    method: str
    seconds: NotRequired[float]
    follow_up: NotRequired[FollowUpShape]
    passages: list[FoundPassageShape]


class PassageShape(PlaceShape):
    """A passage with the triples extracted from it."""

    triples: list[TripleShape]


class DocumentShape(TypedDict):
    """Passages of a document, in their order."""

    id: str
    title: str
    total: Annotated[int, Field(description="How many passages the document has.")]
    passages: list[PassageShape]


class ReadFactShape(TypedDict):
    """A fact that a step brought, and the words it was read from."""

    triple: TripleShape
    passage_id: str | None
    quotation: str | None
    from_memory: Annotated[bool, Field(description="The model knew it; no document says it.")]


class StepShape(TypedDict):
    """One step of an agent."""

    number: int
    query: str
    facts: list[ReadFactShape]
    thought: str
    problems: Annotated[list[str], Field(description="Replies of the model that could not be used.")]
    passages: Annotated[list[str], Field(description="Ids of the passages found, best first.")]
    usage: UsageShape
    seconds: float
    picture: NotRequired[Annotated[str, Field(description="A Mermaid diagram, from agents that draw one.")]]


class SpanShape(TypedDict):
    """A verbatim stretch of a passage."""

    passage_id: str
    start: StrictInt
    end: StrictInt
    text: str


class EvidenceShape(TypedDict):
    """A fact the answer relies on, and the quote that supports it."""

    triple: TripleShape
    span: SpanShape | None
    note: NotRequired[str]


class AnswerShape(TypedDict):
    """An answer with its evidence."""

    question: str
    answer: str
    sentence: str
    supported: Annotated[
        bool, Field(description="Every fact of the evidence was found in a passage, and they state the answer.")
    ]
    ending: Annotated[str, Field(description="Why the agent stopped.")]
    loop_answer: str
    evidence: list[EvidenceShape]
    passages: list[RankedPassageShape]
    steps: list[StepShape]
    usage: Annotated[UsageShape, Field(description="All of it, also that of rewriting a follow-up.")]
    follow_up: NotRequired[FollowUpShape]
    price: NotRequired[Annotated[float, Field(description="US dollars, if the model's price is known.")]]


class _WithEvidence(TypedDict):
    evidence: list[EvidenceShape]


_WITH_EVIDENCE = TypeAdapter(_WithEvidence)


def search_json(question: str, method: str, found: Iterable[Found]) -> SearchShape:
    """The passages found, best first, with the chains of triples that explain each."""
    return {"question": question, "method": method, "passages": [_found_passage(each) for each in found]}


def passage_json(index: Index, passage: Passage) -> PassageShape:
    """A passage with its triples."""
    triples = index.triples.triples_of([passage.id]).tolist()
    return {**_place(passage), "triples": [index.triples.triple(id_) for id_ in triples]}


def document_json(index: Index, document_id: str, offset: int = 0, limit: int | None = None) -> DocumentShape:
    """A document with its passages, from the one at ``offset`` on."""
    passages = passages_of(index.passages, document_id)
    shown = passages[offset:] if limit is None else passages[offset : offset + limit]
    return {
        "id": document_id,
        "title": passages[0].title,
        "total": len(passages),
        "passages": [passage_json(index, passage) for passage in shown],
    }


def answer_json(answer: Answer, passages: Passages, *, price: float | None = None) -> AnswerShape:
    """The whole answer. ``price`` is in US dollars, and is left out where it is not known."""
    written: AnswerShape = {
        "question": answer.question,
        "answer": answer.text,
        "sentence": answer.sentence,
        "supported": answer.supported,
        "ending": answer.ending,
        "loop_answer": answer.loop_text,
        "evidence": [_evidence(fact) for fact in answer.evidence],
        "passages": [_ranked_passage(hit, answer, passages[hit.passage_id]) for hit in answer.ranking],
        "steps": [step_json(step) for step in answer.steps],
        "usage": _usage(answer.usage),
    }
    if price is not None:
        written["price"] = price
    return written


def step_json(step: Step) -> StepShape:
    """A step, on its own or in its answer."""
    written: StepShape = {
        "number": step.number,
        "query": step.query,
        "facts": [_read_fact(fact) for fact in step.facts],
        "thought": step.thought,
        "problems": list(step.problems),
        "passages": step.ranking.ids,
        "usage": _usage(step.usage),
        "seconds": step.seconds,
    }
    if step.picture:
        written["picture"] = step.picture
    return written


def follow_up_json(follow_up: FollowUp) -> FollowUpShape:
    """A message of a conversation, and what was made of it."""
    written = cast("FollowUpShape", asdict(follow_up))
    if not follow_up.problem:
        del written["problem"]
    return written


def price_of_answer(answer: Answer, index: Index) -> float | None:
    """US dollars; None where the model's price is not known.

    A usage does not say which model's tokens it counts, so an answer by two models has no price.
    """
    if index.model.name != index.reading_model.name:
        return None
    return price(answer.usage, index.model.name, index.settings.prices)


def evidence_from_json(written: object) -> list[Evidence]:
    """The evidence of an answer that ``answer_json`` wrote; other fields are ignored."""
    try:
        facts = _WITH_EVIDENCE.validate_python(written)["evidence"]
    except ValidationError as error:
        raise BadInputError(_fault(error)) from None
    return [
        Evidence(
            triple=Triple(*fact["triple"]),
            span=Span(**fact["span"]) if fact["span"] else None,
            note=fact.get("note", ""),
        )
        for fact in facts
    ]


def _fault(error: ValidationError) -> str:
    """What is wrong with an answer's evidence: the first fault, and where it is."""
    fault = error.errors()[0]
    match fault["loc"]:
        case (_, int(number), *place):
            where = ", ".join([f"evidence {number + 1}", *(f"{part}" for part in place)])
            return f"{where} is {fault['input']!r}: {fault['msg']}; write it with `triplebeam ask … --json`."
        case _:
            return (
                'this is not an answer: a JSON object with a list under "evidence" is needed,'
                " as `triplebeam ask … --json` prints it."
            )


def _ranked_passage(hit: Hit, answer: Answer, passage: Passage) -> RankedPassageShape:
    facts = (fact.triple for fact in answer.evidence if fact.span and fact.span.passage_id == passage.id)
    shown = snippet(passage, answer.question, facts)
    return {**_place(passage), "score": hit.score, "snippet": _snippet(shown)}


def _found_passage(found: Found) -> FoundPassageShape:
    written = {
        **_place(found.passage),
        "score": found.hit.score,
        "snippet": _snippet(found.snippet),
        "chains": [list(chain) for chain in found.chains],
    }
    if found.hit.found_by:
        written["found_by"] = dict(found.hit.found_by)
    return cast("FoundPassageShape", written)


def _place(passage: Passage) -> PlaceShape:
    return {
        "id": passage.id,
        "title": passage.title,
        "section": passage.section,
        "document_id": passage.document_id,
        "path": path_of(passage),
        "position": passage.position,
        "text": passage.text,
    }


def _snippet(shown: Snippet) -> SnippetShape:
    return {"text": shown.text, "highlights": list(shown.highlights)}


def _evidence(fact: Evidence) -> EvidenceShape:
    span = cast("SpanShape", asdict(fact.span)) if fact.span else None
    written: EvidenceShape = {"triple": fact.triple, "span": span}
    if fact.note:
        written["note"] = fact.note
    return written


def _read_fact(fact: Evidence) -> ReadFactShape:
    passage_id, quotation = (fact.span.passage_id, fact.span.text) if fact.span else (None, None)
    return {
        "triple": fact.triple,
        "passage_id": passage_id,
        "quotation": quotation,
        "from_memory": fact.from_memory,
    }


def _usage(usage: Usage) -> UsageShape:
    return cast("UsageShape", asdict(usage))
