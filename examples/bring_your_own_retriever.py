"""A plain function, made multi-hop: python bring_your_own_retriever.py INDEX."""

import sys

import triplebeam
from triplebeam.adapters.retriever import from_function


def my_search(query: str, k: int) -> list[str]:
    """Stands for a search that you have: ids of passages, best first."""
    return ["uranus"]


index = triplebeam.open(sys.argv[1])
multi_hop = index.expand(from_function(my_search, index))
for result in index.search("Where was the discoverer of Uranus born?", method=multi_hop, k=3):
    print(result.passage.id, result.chains[:1])
