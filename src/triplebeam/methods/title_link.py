"""Title link: passages whose title is named by the facts of what was found already.

Ours, no paper's. Of the triples of the base's best passages those nearest to the query are taken, and every passage
whose title is an end of one of them comes, the nearest triple's first: the page about a director, since the page about
the film names him. Where titles name nothing, as in manuals and reports, nothing comes, which is no fault.
"""

from dataclasses import dataclass, field
from functools import cached_property

import numpy as np

from triplebeam.embed.embedder import Embedder
from triplebeam.index.passages import PassageTable
from triplebeam.index.triple_graph import TripleGraph
from triplebeam.index.vectors import top
from triplebeam.ranking import Hit, Ranking
from triplebeam.retrieve.retriever import Retriever
from triplebeam.triple import Chain, entity_key


@dataclass(frozen=True, kw_only=True)
class TitleLink:
    """Passages by title, from the triples of another retriever's passages."""

    base: Retriever
    triples: TripleGraph = field(repr=False)
    passages: PassageTable = field(repr=False)
    embedder: Embedder = field(repr=False)
    base_k: int = 15
    followed: int = 20
    """Triples whose ends are looked for among the titles."""

    def retrieve(self, query: str, k: int = 10) -> Ranking:
        """The k passages whose titles the nearest triples name; a hit's chain is the triple that named it."""
        triple_ids = self.triples.triples_of(self.base.retrieve(query, self.base_k).ids)
        if not len(triple_ids):
            return Ranking()
        (vector,) = self.embedder.embed([query], kind="query")
        similarity = np.asarray(self.triples.vectors(triple_ids) @ vector)
        found: dict[str, tuple[float, Chain]] = {}
        for place in top(similarity, self.followed).tolist():
            triple = self.triples.triple(int(triple_ids[place]))
            for name in (triple.subject, triple.object):
                for row in self._rows_by_title.get(entity_key(name), ()):
                    (passage_id,) = self.passages.ids(np.array([row]))
                    found.setdefault(passage_id, (float(similarity[place]), (triple,)))
        return Ranking.of(Hit(id_, score, (chain,)) for id_, (score, chain) in found.items()).top(k)

    @cached_property
    def _rows_by_title(self) -> dict[str, list[int]]:
        rows: dict[str, list[int]] = {}
        for row, title in enumerate(self.passages.titles):
            if key := entity_key(title):
                rows.setdefault(key, []).append(row)
        return rows
