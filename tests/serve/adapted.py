"""What the adapters of all frameworks are tried with."""

import threading

from triplebeam.assemble import Index
from triplebeam.ranking import Ranking

GRAPH = "hybrid+naive_ge"
QUESTION = "When did the director of Laughter in Hell die?"


class Watched:
    """A search that notes the threads it is asked from."""

    def __init__(self, index: Index) -> None:
        self._index = index
        self.threads: list[int] = []

    def retrieve(self, query: str, k: int = 10) -> Ranking:
        self.threads.append(threading.get_ident())
        return self._index.retriever("bm25").retrieve(query, k)
