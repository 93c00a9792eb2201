"""Why a walk over entities came to a passage: the triples it set out from, as chains of one triple or two."""

from collections import defaultdict
from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from triplebeam.index.folder.entity_graph import EntityGraph
from triplebeam.index.folder.triple_graph import TripleGraph
from triplebeam.triple import Chain

#: Chains per passage; more of them explain no more.
MAX_CHAINS = 3
#: Of an entity that occurs in thousands of triples, a few explain enough.
MAX_TRIPLES_PER_ENTITY = 20


@dataclass(frozen=True)
class WalkChains:
    """Explains the hits of a walk."""

    triples: TripleGraph
    graph: EntityGraph

    def from_entities(self, entities: NDArray[np.int64], rows: Sequence[int]) -> dict[int, tuple[Chain, ...]]:
        """Return chains for a walk that started from entities: from their triples."""
        seeds = [self.triples.of_entity(entity)[:MAX_TRIPLES_PER_ENTITY] for entity in entities.tolist()]
        return self.from_triples(np.unique(np.concatenate(seeds)), rows)

    def from_triples(self, seeds: NDArray[np.int64], rows: Sequence[int]) -> dict[int, tuple[Chain, ...]]:
        """Return for each passage its own seed triples or, where it has none, those that a triple of the passage goes
        on from, each with the first that does.
        """
        at_home: dict[int, list[tuple[int, ...]]] = defaultdict(list)
        wanted = set(rows)
        for seed, row in zip(seeds.tolist(), self.graph.triple_passages[seeds].tolist(), strict=True):
            if row in wanted:
                at_home[row].append((seed,))
        found = at_home | self._find_leading([row for row in rows if row not in at_home], seeds)
        return {row: tuple(map(self._chain, found.get(row, [])[:MAX_CHAINS])) for row in rows}

    def _find_leading(self, passages: Sequence[int], seeds: NDArray[np.int64]) -> dict[int, list[tuple[int, ...]]]:
        """Find, by passage, a seed and its first triple that shares an entity with it, in the order of the seeds."""
        own = self.triples.triples_at(passages)
        rows, ends_of_own = self.graph.triple_passages[own].tolist(), self.graph.triple_entities[own].tolist()
        shared = {entity for ends in ends_of_own for entity in ends}
        places: dict[int, list[int]] = defaultdict(list)
        for place, ends in enumerate(self.graph.triple_entities[seeds].tolist()):
            for entity in shared.intersection(ends):
                places[entity].append(place)
        first: dict[int, dict[int, int]] = defaultdict(dict)
        for triple_id, row, ends in zip(own.tolist(), rows, ends_of_own, strict=True):
            for place in (place for entity in ends if entity in places for place in places[entity]):
                first[row].setdefault(place, triple_id)
        return {
            row: [(int(seeds[place]), triple_id) for place, triple_id in sorted(found.items())]
            for row, found in first.items()
        }

    def _chain(self, triple_ids: tuple[int, ...]) -> Chain:
        return tuple(map(self.triples.triple, triple_ids))
