"""What the tools return, smaller than over HTTP: it all goes into the context of a model."""

from operator import not_

from pydantic import BaseModel, Field

from triplebeam.answer import Answer, AnswerPart, Evidence, Outcome, Step
from triplebeam.assemble import Index
from triplebeam.explain.found import Found, heading
from triplebeam.explain.graph import ScoredChain
from triplebeam.explain.verdict import describe_fact, remarks
from triplebeam.passage import Passages
from triplebeam.serve.shapes import place_json
from triplebeam.triple import Chain, Triple

#: A passage on a busy entity has dozens of chains; a few show why it was found, and a model's context is expensive.
_MOST_CHAINS = 3
_MOST_PASSAGES = 5


class Fact(BaseModel):
    """A fact of the graph."""

    subject: str
    predicate: str
    object: str

    @classmethod
    def of(cls, triple: Triple) -> "Fact":
        """A triple as a fact."""
        return cls(**triple._asdict())


def _line(chain: Chain) -> str:
    """A chain on one line, which takes less of the context than three fields per fact."""
    return "; ".join(f"{triple.subject} – {triple.predicate} → {triple.object}" for triple in chain)


class FoundPassage(BaseModel):
    """A passage that a search found."""

    id: str = Field(description="Pass it to read_passage.")
    title: str
    section: str = Field(description="The headings above it.")
    text: str
    score: float = Field(description="Comparable within this list only.")
    chains: list[str] = Field(description="Facts that lead here from the question; empty where none explain it.")

    @classmethod
    def of(cls, found: Found) -> "FoundPassage":
        """A passage with its first few chains."""
        chains = [_line(chain) for chain in found.chains[:_MOST_CHAINS]]
        return cls.model_validate({**place_json(found.passage), "score": found.hit.score, "chains": chains})


class SearchResult(BaseModel):
    """Passages, best first."""

    method: str
    passages: list[FoundPassage]
    remark: str = Field("", exclude_if=not_, description="Set if no passage contains a word of the question.")


class FollowedChain(BaseModel):
    """Facts, each sharing an entity with the one before it."""

    facts: list[Fact]
    passage_ids: list[str] = Field(description="The passage each fact comes from, in the same order.")
    score: float = Field(description="Similarity to the question; comparable within this list only.")

    @classmethod
    def of(cls, found: ScoredChain) -> "FollowedChain":
        """A chain as facts."""
        return cls(
            facts=[Fact.of(each) for each in found.chain], passage_ids=list(found.passage_ids), score=found.score
        )


class ExpandResult(BaseModel):
    """Chains that begin at an entity, best first."""

    entity: str = Field(description="The entity's name as the index has it.")
    chains: list[FollowedChain]


class Quote(BaseModel):
    """A fact the answer relies on, and the words that state it."""

    fact: Fact
    sentence: str = Field(description="The fact as a sentence, with its speaker and date where they are known.")
    passage_id: str | None = Field(description="Null if no passage was found that states it.")
    title: str | None = Field(description="That passage's title, with the headings above the passage.")
    words: str | None = Field(description="Verbatim from that passage.")
    from_memory: bool = Field(description="The agent's model knew it; no document says it.")

    @classmethod
    def of(cls, evidence: Evidence, passages: Passages) -> "Quote":
        """Evidence with the passage it comes from."""
        span = evidence.span
        return cls(
            fact=Fact.of(evidence.triple),
            sentence=describe_fact(evidence),
            passage_id=span.passage_id if span else None,
            title=heading(passages[span.passage_id]) if span else None,
            words=span.text if span else None,
            from_memory=evidence.from_memory,
        )


class AgentStep(BaseModel):
    """One step of the agent."""

    number: int
    query: str
    thought: str
    passage_ids: list[str]

    @classmethod
    def of(cls, step: Step) -> "AgentStep":
        """A step without its facts: the evidence quotes those that mattered."""
        return cls(number=step.number, query=step.query, thought=step.thought, passage_ids=step.ranking.ids)


class RankedPassage(BaseModel):
    """A passage the answer was read from."""

    id: str = Field(description="Pass it to read_passage.")
    title: str


class AskResult(BaseModel):
    """An answer with its evidence."""

    outcome: Outcome = Field(
        description="answered: the documents say it; guess: `answer` is only a guess, say so; not_in_documents;"
        " false_premise: the documents contradict the question, `premise` says how;"
        " model_failed: nothing is known, `ending` says why, use search and read_passage instead."
    )
    answer: str = Field(description="A few words; empty if the outcome is not_in_documents or model_failed.")
    sentence: str
    premise: str = Field("", exclude_if=not_, description="What the documents say instead of the question's premise.")
    parts: list[AnswerPart] = Field(description="Each part of `answer`, its facts by number from 1, and whether any.")
    remarks: list[str] = Field(description="Contradictions with their dates, and whether a list may be incomplete.")
    others: list[str] = Field(description="Further answers that fit.")
    missing: list[str] = Field(description="What no document says.")
    supported: bool = Field(description="Every fact it relies on was found in a passage, word for word.")
    ending: str = Field(description="Why the agent stopped.")
    evidence: list[Quote]
    passages: list[RankedPassage]
    steps: list[AgentStep]
    model_calls: int

    @classmethod
    def of(cls, answer: Answer, index: Index) -> "AskResult":
        """An agent's answer."""
        best = [index.passages[hit.passage_id] for hit in answer.ranking.top(_MOST_PASSAGES)]
        return cls(
            outcome=answer.outcome,
            answer=answer.text,
            sentence=answer.sentence,
            premise=answer.premise,
            parts=list(answer.parts),
            remarks=remarks(answer),
            others=list(answer.others),
            missing=list(answer.missing),
            supported=answer.supported,
            ending=answer.failure or answer.ending,
            evidence=[Quote.of(each, index.passages) for each in answer.evidence],
            passages=[RankedPassage(id=passage.id, title=passage.title) for passage in best],
            steps=[AgentStep.of(step) for step in answer.steps],
            model_calls=answer.usage.calls,
        )


class PassageResult(BaseModel):
    """A whole passage with the facts extracted from it."""

    id: str
    title: str
    section: str
    text: str
    document_id: str
    metadata: dict[str, str]
    facts: list[Fact]

    @classmethod
    def of(cls, index: Index, passage_id: str) -> "PassageResult":
        """A passage with its triples."""
        passage, triples = index.passages[passage_id], index.triples
        facts = [Fact.of(triples.triple(number)) for number in triples.triples_of([passage.id]).tolist()]
        return cls.model_validate({**place_json(passage), "metadata": dict(passage.metadata), "facts": facts})
