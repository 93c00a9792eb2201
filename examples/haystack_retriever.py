"""An index as a Haystack component, and a Haystack retriever made multi-hop: python haystack_retriever.py INDEX."""

import sys

from haystack import Document
from haystack.components.retrievers.in_memory import InMemoryBM25Retriever
from haystack.document_stores.in_memory import InMemoryDocumentStore

import triplebeam
from triplebeam.adapters.haystack import TriplebeamRetriever, from_haystack

QUESTION = "Where was the discoverer of Uranus born?"

index = triplebeam.open(sys.argv[1])
for document in TriplebeamRetriever(index, top_k=3).run(QUESTION)["documents"]:
    print(document.meta["id"], document.meta["chains"][:1])

store = InMemoryDocumentStore()  # stands for a store that you have
store.write_documents([Document(id="uranus", content=index.passages["uranus"].text)])
multi_hop = index.expand(from_haystack(InMemoryBM25Retriever(store), index))
print(multi_hop.retrieve(QUESTION, k=3).ids)
