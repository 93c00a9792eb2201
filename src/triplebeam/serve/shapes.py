"""Passages and searches as JSON, the same over HTTP and on the command line; `answer_shapes` has the answers. Tools of
a model (`mcp.results`) return the same with fewer fields.

The shapes are dictionaries that pydantic knows: it checks what is read back, and describes them in the HTTP schema. A
field that may be missing is left out rather than null.
"""

from dataclasses import asdict
from typing import TYPE_CHECKING, Annotated, NotRequired, TypeAlias, cast

from pydantic import Field
from typing_extensions import TypedDict

from triplebeam import assemble
from triplebeam.explain.passages import place_dict
from triplebeam.passage import Passage
from triplebeam.triple import Triple

if TYPE_CHECKING:
    from triplebeam.explain.conversation import FollowUp

TripleShape: TypeAlias = Annotated[tuple[str, str, str], Field(description="Subject, predicate, object.")]


class SnippetShape(TypedDict):
    """The part of a passage that matches best."""

    text: str
    highlights: Annotated[list[tuple[int, int]], Field(description="Start and end of what matches, in `text`.")]


class TextShape(TypedDict):
    """A passage as it is read."""

    id: str
    title: str
    section: Annotated[str, Field(description="The headings above it, as in `Managing packages › Uploading`.")]
    text: str


class PlaceShape(TextShape):
    """A passage and where it is."""

    document_id: str
    path: Annotated[str, Field(description="The file it comes from; of a row, the id of its document.")]
    position: Annotated[int, Field(description="Which passage of its document it is, from 0.")]


class RankedPassageShape(PlaceShape):
    """A passage with its score."""

    score: float
    snippet: SnippetShape


class FoundPassageShape(RankedPassageShape):
    """A passage and how it was found."""

    chains: Annotated[list[list[TripleShape]], Field(description="The chains of triples that explain why.")]
    found_by: NotRequired[Annotated[dict[str, int], Field(description="Its rank in each list that `blend` fuses.")]]
    like: NotRequired[Annotated[str, Field(description="The id of a passage above it with nearly the same text.")]]


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
    remark: NotRequired[Annotated[str, Field(description="Set if no passage contains a word of the question.")]]


class PassageShape(PlaceShape):
    """A passage with the triples extracted from it."""

    triples: list[TripleShape]


class DocumentShape(TypedDict):
    """Passages of a document, in their order."""

    id: str
    title: str
    total: Annotated[int, Field(description="How many passages the document has.")]
    passages: list[PassageShape]


def passage_json(index: "assemble.IndexReader", passage: Passage) -> PassageShape:
    """Return a passage with its triples."""
    return {**place_json(passage), "triples": [*own_triples(index, passage.id)]}


def own_triples(index: "assemble.IndexReader", passage_id: str) -> list[Triple]:
    """Return the triples of a passage."""
    triples = assemble.context_of(index).triples
    return [triples.triple(id_) for id_ in triples.triples_of([passage_id]).tolist()]


def document_json(
    index: "assemble.IndexReader", document_id: str, offset: int = 0, limit: int | None = None
) -> DocumentShape:
    """Return a document with its passages, from the one at ``offset`` on."""
    passages = index.passages.of_document(document_id)
    shown = passages[offset:] if limit is None else passages[offset : offset + limit]
    return {
        "id": document_id,
        "title": passages[0].title,
        "total": len(passages),
        "passages": [passage_json(index, passage) for passage in shown],
    }


def follow_up_json(follow_up: "FollowUp") -> FollowUpShape:
    """Return a message of a conversation, and what was made of it."""
    written = cast("FollowUpShape", asdict(follow_up))
    if not follow_up.problem:
        del written["problem"]
    return written


def text_json(passage: Passage) -> TextShape:
    """Return a passage as it is read."""
    return {"id": passage.id, "title": passage.title, "section": passage.section, "text": passage.text}


def place_json(passage: Passage) -> PlaceShape:
    """Return a passage and where it is."""
    return cast("PlaceShape", place_dict(passage))
