"""What a search found, with texts and chains, as other libraries and machines want it."""

from dataclasses import dataclass, field
from pathlib import Path

from triplebeam.assemble import Index, check_question, open_index
from triplebeam.errors import BadInputError
from triplebeam.passage import Passage
from triplebeam.ranking import Hit, Ranking
from triplebeam.retrieve.retriever import Retriever


@dataclass(frozen=True, slots=True)
class Found:
    """A passage, its score, and the chains of triples that led to it."""

    passage: Passage
    hit: Hit = field(repr=False)

    @property
    def metadata(self) -> dict[str, object]:
        """All but the text, in values that JSON knows; what the document's reader noted stands first."""
        return {
            **self.passage.metadata,
            "id": self.passage.id,
            "title": self.passage.title,
            "document_id": self.passage.document_id,
            "score": self.hit.score,
            "chains": [[list(triple) for triple in chain] for chain in self.hit.chains],
        }


def opened(collection: Index | str | Path) -> Index:
    """An open collection as it is, an index folder opened."""
    return collection if isinstance(collection, Index) else open_index(collection)


def find_passages(collection: Index, question: str, method: str | Retriever, k: int) -> list[Found]:
    """Search by a method's name, or with a retriever that was put together by hand."""
    if isinstance(method, str):
        ranking: Ranking = collection.search(question, method, k)
    else:
        check_question(question)
        if k < 1:
            raise BadInputError(f"k is {k}: ask for at least one passage.")
        ranking = method.retrieve(question, k)
    return [Found(collection.passages[hit.passage_id], hit) for hit in ranking]
