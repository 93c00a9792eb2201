"""What the tools give back: the shapes a client is told of beforehand."""

from pydantic import BaseModel, Field

from triplebeam.answer import Answer, Evidence, Step
from triplebeam.assemble import Index
from triplebeam.passage import Passage
from triplebeam.serve.found_passages import Found
from triplebeam.triple import Chain, Triple

#: A passage on a busy entity has dozens of chains; a few say why it is there, and the reader's context is dear.
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
        return cls(subject=triple.subject, predicate=triple.predicate, object=triple.object)


def _line(chain: Chain) -> str:
    """A chain on one line, as it is read: a fact in three fields would take five."""
    return "; ".join(f"{triple.subject} – {triple.predicate} → {triple.object}" for triple in chain)


class FoundPassage(BaseModel):
    """A passage that a search found."""

    id: str = Field(description="Give it to read_passage.")
    title: str
    text: str
    score: float = Field(description="Comparable within this list only.")
    chains: list[str] = Field(description="Facts that lead from the question's passages here; empty without a graph.")

    @classmethod
    def of(cls, found: Found) -> "FoundPassage":
        """A passage with its first few chains."""
        passage = found.passage
        chains = [_line(chain) for chain in found.hit.chains[:_MOST_CHAINS]]
        return cls(id=passage.id, title=passage.title, text=passage.text, score=found.hit.score, chains=chains)


class SearchResult(BaseModel):
    """Passages, best first."""

    method: str
    passages: list[FoundPassage]


class FollowedChain(BaseModel):
    """Facts, each sharing an entity with the one before it."""

    facts: list[Fact]
    passage_ids: list[str] = Field(description="The passage each fact stands in, in the same order.")
    score: float = Field(description="Likeness to the question; comparable within this list only.")


class ExpandResult(BaseModel):
    """Chains that begin at an entity, best first."""

    entity: str = Field(description="The entity's name as the collection has it.")
    chains: list[FollowedChain]


class Quote(BaseModel):
    """A fact the answer rests on, and the words that say so."""

    fact: Fact
    passage_id: str | None = Field(description="Null where no passage was found to say it.")
    words: str | None = Field(description="Verbatim from that passage.")

    @classmethod
    def of(cls, evidence: Evidence) -> "Quote":
        """Evidence with its place."""
        fact, span = Fact.of(evidence.triple), evidence.span
        return cls(fact=fact, passage_id=span.passage_id if span else None, words=span.text if span else None)


class TakenStep(BaseModel):
    """What the agent did once."""

    number: int
    query: str
    thought: str
    passage_ids: list[str]

    @classmethod
    def of(cls, step: Step) -> "TakenStep":
        """A step without its facts, which the evidence quotes where they mattered."""
        return cls(number=step.number, query=step.query, thought=step.thought, passage_ids=step.ranking.ids)


class RankedPassage(BaseModel):
    """A passage the answer was read from."""

    id: str = Field(description="Give it to read_passage.")
    title: str


class AskResult(BaseModel):
    """An answer with what it rests on."""

    answer: str = Field(description="A few words; empty where the passages do not say.")
    sentence: str
    supported: bool = Field(description="Every fact it rests on was found in a passage, word for word.")
    ending: str = Field(description="Why the agent stopped.")
    evidence: list[Quote]
    passages: list[RankedPassage]
    steps: list[TakenStep]
    model_calls: int

    @classmethod
    def of(cls, answer: Answer, collection: Index) -> "AskResult":
        """An agent's answer."""
        best = [collection.passages[hit.passage_id] for hit in answer.ranking.top(_MOST_PASSAGES)]
        return cls(
            answer=answer.text,
            sentence=answer.sentence,
            supported=answer.supported,
            ending=answer.ending,
            evidence=[Quote.of(each) for each in answer.evidence],
            passages=[RankedPassage(id=passage.id, title=passage.title) for passage in best],
            steps=[TakenStep.of(step) for step in answer.steps],
            model_calls=answer.usage.calls,
        )


class PassageResult(BaseModel):
    """A passage, whole, with the facts drawn from it."""

    id: str
    title: str
    text: str
    document_id: str
    metadata: dict[str, str]
    facts: list[Fact]

    @classmethod
    def of(cls, passage: Passage, collection: Index) -> "PassageResult":
        """A passage with its triples."""
        triples = collection.triples
        facts = [Fact.of(triples.triple(number)) for number in triples.triples_of([passage.id]).tolist()]
        return cls(
            id=passage.id,
            title=passage.title,
            text=passage.text,
            document_id=passage.document_id,
            metadata=dict(passage.metadata),
            facts=facts,
        )
