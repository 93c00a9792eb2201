"""LangChain, both ways: an index as a LangChain retriever, and any LangChain retriever as a base of ours."""

import inspect
from pathlib import Path
from typing import Annotated

from pydantic import Field, GetPydanticSchema
from pydantic_core.core_schema import no_info_plain_validator_function

from triplebeam.adapters.retriever import KnownPassages, OwnRetriever, Source, metadata_of, open_or_keep
from triplebeam.assemble import DEFAULT_METHOD, IndexReader
from triplebeam.errors import ExtraMissingError
from triplebeam.retrieve.retriever import Retriever

try:
    from langchain_core.callbacks import CallbackManagerForRetrieverRun
    from langchain_core.documents import Document
    from langchain_core.retrievers import BaseRetriever
except ImportError as error:
    raise ExtraMissingError("langchain") from error

#: The field's value is what `open_or_keep` makes of it; pydantic is kept from looking into an index.
_OPENED = GetPydanticSchema(lambda _, __: no_info_plain_validator_function(open_or_keep))


class TriplebeamRetriever(BaseRetriever):
    """An index as a LangChain retriever. ``ainvoke`` searches in a thread, as LangChain's own default does.

    A document's metadata has ``id``, ``title``, ``document_id``, ``score`` and ``chains``, the triples that led to it.
    """

    index: Annotated[IndexReader | Path | str, _OPENED]
    """An open index, or an index folder, which is opened at once."""
    method: str | Retriever = DEFAULT_METHOD
    """A method by name, or a retriever such as ``index.expand(from_langchain(yours, index))``."""
    k: int = Field(10, ge=1)

    def _get_relevant_documents(
        self, query: str, *, run_manager: CallbackManagerForRetrieverRun, k: int | None = None
    ) -> list[Document]:
        found = open_or_keep(self.index).search(query, k=self.k if k is None else k, method=self.method)
        return [
            Document(id=each.passage.id, page_content=each.passage.text, metadata=metadata_of(each)) for each in found
        ]


def from_langchain(
    retriever: BaseRetriever, source: Source, *, id_key: str = "id", k_name: str | None = "k"
) -> OwnRetriever:
    """Use any LangChain retriever as the base of graph expansion and agents.

    A document belongs to the passage whose id is in its metadata under ``id_key``, or is its own id, or else to the
    passage with the same text. ``k_name`` is the retriever's argument for the number of documents. A retriever
    without one returns the number it was created with, which should be 15 or more.
    """
    known = KnownPassages(source, id_key)
    number = k_name if k_name and _takes(retriever, k_name) else None

    def search(query: str, k: int) -> list[str]:
        documents = retriever.invoke(query, None, **({number: k} if number else {}))
        return [known.find([each.metadata.get(id_key), each.id], each.page_content) for each in documents]

    return OwnRetriever(type(retriever).__name__, search)


def _takes(retriever: BaseRetriever, name: str) -> bool:
    parameters = inspect.signature(retriever._get_relevant_documents).parameters
    return name in parameters or any(each.kind is each.VAR_KEYWORD for each in parameters.values())
