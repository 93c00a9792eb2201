"""An index as a LangChain retriever, and a LangChain retriever made multi-hop: python langchain_retriever.py INDEX."""

import sys

from langchain_core.documents import Document
from langchain_core.retrievers import BaseRetriever

import triplebeam
from triplebeam.adapters.langchain import TriplebeamRetriever, from_langchain

QUESTION = "Where was the discoverer of Uranus born?"


class OneDocument(BaseRetriever):
    """Stands for a retriever that you have."""

    def _get_relevant_documents(self, query, *, run_manager):
        return [Document("", metadata={"id": "uranus"})]


index = triplebeam.open(sys.argv[1])
for document in TriplebeamRetriever(index=index, k=3).invoke(QUESTION):
    print(document.metadata["id"], document.metadata["chains"][:1])

multi_hop = index.expand(from_langchain(OneDocument(), index))
print(multi_hop.retrieve(QUESTION, k=3).ids)
