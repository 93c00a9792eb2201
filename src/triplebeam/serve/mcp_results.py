"""What the tools return: the shapes of HTTP with fewer fields, since it all goes into the context of a model."""

from typing import Annotated, NotRequired, cast

from pydantic import Field
from typing_extensions import TypedDict

from triplebeam.answer import Answer, Evidence
from triplebeam.assemble import IndexReader
from triplebeam.explain.passages import heading
from triplebeam.explain.search_results import SearchResults
from triplebeam.explain.verdict import describe_fact
from triplebeam.passage import Passages
from triplebeam.serve.answer_shapes import ConclusionShape, ThoughtShape, conclusion_json, thought_json
from triplebeam.serve.shapes import TextShape, own_triples, text_json
from triplebeam.triple import Chain, Triple

#: A passage on a busy entity has dozens of chains; a few show why it was found, and a model's context is expensive.
_MAX_CHAINS = 3
_MAX_PASSAGES = 5


class Fact(TypedDict):
    """A fact of the graph."""

    subject: str
    predicate: str
    object: str


class FoundPassage(TextShape):
    """A passage that a search found; `read_passage` takes its id."""

    score: Annotated[float, Field(description="Comparable within this list only.")]
    chains: Annotated[
        list[str], Field(description="Facts that lead here from the question; empty where none explain it.")
    ]


class SearchResult(TypedDict):
    """Passages, best first."""

    method: str
    passages: list[FoundPassage]
    remark: NotRequired[Annotated[str, Field(description="Set if no passage contains a word of the question.")]]


class FollowedChain(TypedDict):
    """Facts, each sharing an entity with the one before it."""

    facts: list[Fact]
    passage_ids: Annotated[list[str], Field(description="The passage each fact comes from, in the same order.")]
    score: Annotated[float, Field(description="Similarity to the question; comparable within this list only.")]


class ExpandResult(TypedDict):
    """Chains that begin at an entity, best first."""

    entity: Annotated[str, Field(description="The entity's name as the index has it.")]
    chains: list[FollowedChain]


class Quote(TypedDict):
    """A fact the answer relies on, and the words that state it."""

    fact: Fact
    sentence: Annotated[str, Field(description="The fact as a sentence, with its speaker and date if they are known.")]
    passage_id: Annotated[str | None, Field(description="Null if no passage was found that states it.")]
    title: Annotated[str | None, Field(description="That passage's title, with the headings above the passage.")]
    words: Annotated[str | None, Field(description="Verbatim from that passage.")]
    from_memory: Annotated[bool, Field(description="The agent's model knew it; no document says it.")]


class AgentStep(ThoughtShape):
    """One step of the agent, without its facts: the evidence quotes those that mattered."""

    passage_ids: list[str]


class RankedPassage(TypedDict):
    """A passage the answer was read from; `read_passage` takes its id."""

    id: str
    title: str


class AskResult(ConclusionShape):
    """An answer with its evidence. If it is a guess, say so. If the model failed, `ending` says why, and nothing is
    known: use search and read_passage instead.
    """

    evidence: list[Quote]
    passages: list[RankedPassage]
    steps: list[AgentStep]
    model_calls: int


class PassageResult(TextShape):
    """A whole passage with the facts extracted from it."""

    document_id: str
    metadata: dict[str, str]
    facts: list[Fact]


def make_search_result(method: str, found: SearchResults) -> SearchResult:
    """Return the passages of a search, each with its first few chains."""
    passages: list[FoundPassage] = [
        {
            **text_json(each.passage),
            "score": each.score,
            # On one line, which takes less of the context than three fields per fact.
            "chains": ["; ".join(map(_describe, chain)) for chain in each.chains[:_MAX_CHAINS]],
        }
        for each in found
    ]
    result: SearchResult = {"method": method, "passages": passages}
    if found.remark:
        result["remark"] = found.remark
    return result


def make_chain(chain: Chain, passage_ids: list[str], score: float) -> FollowedChain:
    """Return a chain as facts."""
    return {"facts": [_make_fact(each) for each in chain], "passage_ids": passage_ids, "score": score}


def make_ask_result(answer: Answer, index: IndexReader) -> AskResult:
    """Return an agent's answer."""
    best = [index.passages[hit.passage_id] for hit in answer.ranking.top(_MAX_PASSAGES)]
    return {
        **conclusion_json(answer),
        "ending": answer.failure or answer.ending,
        "evidence": [_make_quote(each, index.passages) for each in answer.evidence],
        "passages": [{"id": passage.id, "title": passage.title} for passage in best],
        "steps": [{**thought_json(step), "passage_ids": step.ranking.ids} for step in answer.steps],
        "model_calls": answer.usage.calls,
    }


def make_passage_result(index: IndexReader, passage_id: str) -> PassageResult:
    """Return a passage with its triples."""
    passage = index.passages[passage_id]
    return {
        **text_json(passage),
        "document_id": passage.document_id,
        "metadata": dict(passage.metadata),
        "facts": [_make_fact(triple) for triple in own_triples(index, passage_id)],
    }


def _make_fact(triple: Triple) -> Fact:
    return cast("Fact", triple._asdict())


def _make_quote(evidence: Evidence, passages: Passages) -> Quote:
    span = evidence.span
    return {
        "fact": _make_fact(evidence.triple),
        "sentence": describe_fact(evidence),
        "passage_id": span.passage_id if span else None,
        "title": heading(passages[span.passage_id]) if span else None,
        "words": span.text if span else None,
        "from_memory": evidence.from_memory,
    }


def _describe(triple: Triple) -> str:
    return f"{triple.subject} – {triple.predicate} → {triple.object}"
