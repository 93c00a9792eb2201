"""What the asking routes take and give, as their schema tells it."""

from typing import Annotated

from pydantic import BaseModel, ConfigDict, Field

from triplebeam.serve.http.library import DEFAULT_ASK, DEFAULT_SEARCH

TripleShape = Annotated[tuple[str, str, str], Field(description="Subject, predicate, object.")]
_QUESTION = "When did the director of Laughter in Hell die?"


class Taken(BaseModel):
    """A request: a field that is misspelt is refused, not passed over."""

    model_config = ConfigDict(extra="forbid")


class SearchRequest(Taken):
    """A question, and how to look for passages."""

    question: str = Field(examples=[_QUESTION])
    method: str = Field(DEFAULT_SEARCH, description="One of `GET /api/methods`, with parameters in brackets.")
    k: int = Field(10, ge=1, le=100, description="How many passages.")


class AskRequest(Taken):
    """A question, and who answers it."""

    question: str = Field(examples=[_QUESTION])
    method: str = Field(
        DEFAULT_ASK, description="An agent of `GET /api/methods`, alone or over a search, such as `ircot:hybrid`."
    )


class RankedPassage(BaseModel):
    """A passage with its score."""

    id: str
    title: str
    text: str
    score: float


class FoundPassage(RankedPassage):
    """A passage and why it is here."""

    chains: list[list[TripleShape]] = Field(description="The chains of triples that led to it.")
    found_by: dict[str, int] | None = Field(None, description="Its rank in each list that `blend` fuses.")


class SearchResponse(BaseModel):
    """What was found, best first."""

    question: str
    method: str
    seconds: float
    passages: list[FoundPassage]


class PassageResponse(BaseModel):
    """A passage with the triples drawn from it."""

    id: str
    title: str
    text: str
    document_id: str
    triples: list[TripleShape]


class UsageShape(BaseModel):
    """Calls to a language model and their tokens; what a cache answered is counted apart."""

    calls: int
    tokens_in: int
    tokens_out: int
    estimated: bool
    cached_calls: int
    cached_tokens_in: int
    cached_tokens_out: int


class StepShape(BaseModel):
    """What an agent did once."""

    number: int
    query: str
    facts: list[TripleShape]
    thought: str
    problems: list[str] = Field(description="Replies of the model that could not be used.")
    passages: list[str] = Field(description="Ids of what was found, best first.")
    usage: UsageShape
    seconds: float
    picture: str | None = Field(None, description="A Mermaid diagram, where the agent draws one.")


class SpanShape(BaseModel):
    """A verbatim stretch of a passage."""

    passage_id: str
    start: int
    end: int
    text: str


class EvidenceShape(BaseModel):
    """A fact the answer rests on, and the words that support it."""

    triple: TripleShape
    span: SpanShape | None
    note: str | None = None


class AnswerResponse(BaseModel):
    """An answer with its evidence."""

    question: str
    answer: str
    sentence: str
    supported: bool = Field(description="Every fact of the evidence was found in a passage, and they say the answer.")
    ending: str = Field(description="Why the agent stopped.")
    loop_answer: str
    evidence: list[EvidenceShape]
    passages: list[RankedPassage]
    steps: list[StepShape]
    usage: UsageShape
    price: float | None = Field(None, description="US dollars, where the model's price is known.")


class ErrorDetail(BaseModel):
    """Why a request is not done."""

    code: str = Field(examples=["unknown_collection"])
    message: str = Field(examples=["there is no collection 'films': there are books, music."])


class ErrorResponse(BaseModel):
    """The one shape of every error."""

    error: ErrorDetail
