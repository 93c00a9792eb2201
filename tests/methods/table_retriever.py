"""What tests of agents share: a retriever that knows its queries, the small world's passages, replies as JSON."""

import json
from collections.abc import Mapping, Sequence
from typing import Any

from small_world import WORLD
from triplebeam.generate.language_model import Completion, Usage
from triplebeam.passage import Passage
from triplebeam.ranking import Hit, Ranking

PASSAGES = {id_: Passage(id_, text, title) for id_, (title, text) in WORLD.items()}


class Table:
    """A retriever that knows its queries; an unknown one is an error, not an empty list."""

    def __init__(self, table: Mapping[str, Sequence[str]]) -> None:
        self.table = table
        self.asked: list[str] = []

    def retrieve(self, query: str, k: int = 10) -> Ranking:
        self.asked.append(query)
        return Ranking(Hit(id_, -rank) for rank, id_ in enumerate(self.table[query])).top(k)


def completion(reply: Mapping[str, Any]) -> Completion:
    return Completion(text=json.dumps(reply), usage=Usage(calls=1, tokens_in=10, tokens_out=3))


def path(answer: str | None, reasoning: str = "It is known.") -> Completion:
    return completion({"reasoning": reasoning, "answer": answer})
