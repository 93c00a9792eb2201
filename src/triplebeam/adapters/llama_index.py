"""LlamaIndex, both ways: an index as a LlamaIndex retriever, and any LlamaIndex retriever as a base of ours."""

import asyncio
from pathlib import Path

from triplebeam.adapters.retriever import KnownPassages, OwnRetriever, Source, metadata_of, open_or_keep
from triplebeam.assemble import DEFAULT_METHOD, IndexReader
from triplebeam.errors import ExtraMissingError
from triplebeam.retrieve.retriever import Retriever

try:
    from llama_index.core.base.base_retriever import BaseRetriever
    from llama_index.core.callbacks import CallbackManager
    from llama_index.core.schema import NodeWithScore, QueryBundle, TextNode
except ImportError as error:
    raise ExtraMissingError("llama-index") from error

#: Metadata that a program wants and a model that reads the node does not.
_FOR_PROGRAMS = ["id", "document_id", "score", "chains"]


class TriplebeamRetriever(BaseRetriever):
    """An index as a LlamaIndex retriever.

    The metadata of a node has ``id``, ``title``, ``document_id``, ``score`` and ``chains``, the triples that led to it.
    """

    def __init__(
        self,
        index: IndexReader | str | Path,
        method: str | Retriever = DEFAULT_METHOD,
        similarity_top_k: int = 10,
        callback_manager: CallbackManager | None = None,
    ) -> None:
        """Over an open index or an index folder; ``method`` is a name, or a retriever put together by hand."""
        super().__init__(callback_manager=callback_manager)
        self._index = open_or_keep(index)
        self._method = method
        self._k = similarity_top_k

    def _retrieve(self, query_bundle: QueryBundle) -> list[NodeWithScore]:
        found = self._index.search(query_bundle.query_str, k=self._k, method=self._method)
        return [
            NodeWithScore(
                node=TextNode(
                    id_=each.passage.id,
                    text=each.passage.text,
                    metadata=metadata_of(each),
                    excluded_llm_metadata_keys=_FOR_PROGRAMS,
                    excluded_embed_metadata_keys=_FOR_PROGRAMS,
                ),
                score=each.score,
            )
            for each in found
        ]

    async def _aretrieve(self, query_bundle: QueryBundle) -> list[NodeWithScore]:
        """In a thread: LlamaIndex's own default would search on the event loop."""
        return await asyncio.to_thread(self._retrieve, query_bundle)


def from_llama_index(retriever: BaseRetriever, source: Source, *, id_key: str = "id") -> OwnRetriever:
    """Use any LlamaIndex retriever as the base of graph expansion and agents.

    A node belongs to the passage whose id is in its metadata under ``id_key``, is its own id, or is that of the
    document it was split from, or else to the passage with the same text. The retriever returns the number of nodes it
    was created with (``similarity_top_k``), which should be 15 or more.
    """
    known = KnownPassages(source, id_key)

    def search(query: str, k: int) -> list[str]:
        nodes = [found.node for found in retriever.retrieve(query)]
        return [
            known.find([node.metadata.get(id_key), node.node_id, node.ref_doc_id], node.get_content()) for node in nodes
        ]

    return OwnRetriever(type(retriever).__name__, search)
