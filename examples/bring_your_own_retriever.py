"""A plain function, made multi-hop: python bring_your_own_retriever.py INDEX."""

import sys

import triplebeam
from triplebeam.serve.own_retriever import from_function


def my_search(query: str, k: int) -> list[str]:
    """Stands for a search that you have: ids of passages, best first."""
    return ["uranus"]


index = triplebeam.open(sys.argv[1])
multi_hop = index.expand(from_function(my_search, index))
for hit in multi_hop.retrieve("Where was the discoverer of Uranus born?", k=3):
    print(hit.passage_id, hit.chains[:1])
