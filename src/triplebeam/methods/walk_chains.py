"""Why a walk over entities came to a passage: the triples it set out from, told as chains of one triple or two."""

from collections import defaultdict
from dataclasses import dataclass
from functools import cache

import numpy as np
from numpy.typing import NDArray

from triplebeam.index.entity_graph import EntityGraph
from triplebeam.index.passages import PassageTable
from triplebeam.index.triple_graph import TripleGraph
from triplebeam.ranking import Ranking
from triplebeam.triple import Chain

#: Chains of a passage; more say no more.
CHAINS = 3
#: Of an entity that stands in thousands of triples, a few tell enough.
TRIPLES_OF_AN_ENTITY = 20


@dataclass(frozen=True)
class WalkChains:
    """Explains the hits of a walk."""

    triples: TripleGraph
    graph: EntityGraph
    passages: PassageTable

    def from_entities(self, ranking: Ranking, entities: NDArray[np.int64]) -> Ranking:
        """For a walk that set out from entities: from their triples."""
        seeds = [self.triples.of_entity(entity)[:TRIPLES_OF_AN_ENTITY] for entity in entities.tolist()]
        return self.from_triples(ranking, np.unique(np.concatenate(seeds)))

    def from_triples(self, ranking: Ranking, seeds: NDArray[np.int64]) -> Ranking:
        """With the seed triples of each passage or, where it has none, each that a triple of the passage goes on from,
        by the first that does.
        """
        triple = cache(self.triples.triple)
        chains: dict[int, list[Chain]] = defaultdict(list)
        for seed in seeds.tolist():
            chains[int(self.graph.triple_passages[seed])].append((triple(seed),))
        at_home = frozenset(chains)
        own = self.triples.triples_of(ranking.ids)
        ends, rows = self.graph.triple_entities[own], self.graph.triple_passages[own]
        for seed in seeds.tolist():
            sharing = np.flatnonzero(np.isin(ends, self.graph.triple_entities[seed]).any(axis=1))
            reached, first = np.unique(rows[sharing], return_index=True)
            for row, place in zip(reached.tolist(), sharing[first].tolist(), strict=True):
                if row not in at_home:
                    chains[row].append((triple(seed), triple(int(own[place]))))
        return Ranking(
            hit._replace(chains=tuple(chains[self.passages.row(hit.passage_id)][:CHAINS])) for hit in ranking
        )
