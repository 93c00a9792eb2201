"""Haystack, both ways: an index as a component, and any retriever component as a base of ours."""

import asyncio
from pathlib import Path
from typing import Any, Protocol

from triplebeam.adapters.retriever import KnownPassages, OwnRetriever, Source, metadata_of, open_or_keep
from triplebeam.assemble import DEFAULT_METHOD, IndexReader, context_of
from triplebeam.errors import BadInputError, ExtraMissingError
from triplebeam.retrieve.retriever import Retriever

try:
    from haystack import Document, component, default_from_dict, default_to_dict
except ImportError as error:
    raise ExtraMissingError("haystack") from error


@component
class TriplebeamRetriever:
    """An index as a component of a pipeline.

    The meta of a document has ``id``, ``title``, ``document_id``, ``score`` and ``chains``, the triples that led to it.
    """

    def __init__(
        self,
        index: IndexReader | str | Path,
        method: str | Retriever = DEFAULT_METHOD,
        top_k: int = 10,
        where: str | None = None,
    ) -> None:
        """Over an open index or an index folder; ``method`` is a name, or a retriever put together by hand.

        With a filter ``where``, only the passages for which it holds are searched.
        """
        self.index = open_or_keep(index) if where is None else open_or_keep(index).filter(where)
        self.method = method
        self.top_k = top_k

    @component.output_types(documents=list[Document])
    def run(self, query: str, top_k: int | None = None) -> dict[str, list[Document]]:
        """Return the best passages for a query."""
        found = self.index.search(query, k=self.top_k if top_k is None else top_k, method=self.method)
        documents = [
            Document(id=each.passage.id, content=each.passage.text, meta=metadata_of(each), score=each.score)
            for each in found
        ]
        return {"documents": documents}

    @component.output_types(documents=list[Document])
    async def run_async(self, query: str, top_k: int | None = None) -> dict[str, list[Document]]:
        """Run in a thread."""
        return await asyncio.to_thread(self.run, query, top_k)

    def to_dict(self) -> dict[str, Any]:
        """Return what a pipeline is saved as: the folder, the method's name and the filter."""
        if not isinstance(self.method, str):
            raise BadInputError(f"{self.method!r} has no name to be saved by: use a method that has one.")
        folder = str(self.index.location.state)
        return default_to_dict(
            self, index=folder, method=self.method, top_k=self.top_k, where=context_of(self.index).filter_text or None
        )

    @classmethod
    def from_dict(cls, data: dict[str, Any]) -> "TriplebeamRetriever":
        """Open the index again."""
        return default_from_dict(cls, data)


class TextRetriever(Protocol):
    """What Haystack's own retrievers of text look like."""

    def run(self, query: str, *, top_k: int | None = None) -> dict[str, Any]:
        """Documents under ``documents``, best first."""
        ...


def from_haystack(retriever: TextRetriever, source: Source, *, id_key: str = "id") -> OwnRetriever:
    """Use any retriever component that takes a text as the base of graph expansion and agents.

    A document belongs to the passage whose id is in its meta under ``id_key``, or is its own id, or else to the
    passage with the same text. For a whole pipeline, use `triplebeam.adapters.retriever.from_function`.
    """
    known = KnownPassages(source, id_key)

    def search(query: str, k: int) -> list[str]:
        documents: list[Document] = retriever.run(query=query, top_k=k)["documents"]
        return [known.find([each.meta.get(id_key), each.id], each.content) for each in documents]

    return OwnRetriever(type(retriever).__name__, search)
