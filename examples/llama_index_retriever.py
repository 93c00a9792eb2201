"""An index as a LlamaIndex retriever, and one of LlamaIndex made multi-hop: python llama_index_retriever.py INDEX."""

import sys

from llama_index.core.base.base_retriever import BaseRetriever
from llama_index.core.schema import NodeWithScore, TextNode

import triplebeam
from triplebeam.adapters.llama_index import TriplebeamRetriever, from_llama_index

QUESTION = "Where was the discoverer of Uranus born?"


class OneNode(BaseRetriever):
    """Stands for a retriever that you have."""

    def _retrieve(self, query_bundle):
        return [NodeWithScore(node=TextNode(id_="uranus"))]


index = triplebeam.open(sys.argv[1])
for found in TriplebeamRetriever(index, similarity_top_k=3).retrieve(QUESTION):
    print(found.node.metadata["id"], found.node.metadata["chains"][:1])

multi_hop = index.expand(from_llama_index(OneNode(), index))
print(multi_hop.retrieve(QUESTION, k=3).ids)
