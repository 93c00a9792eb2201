"""Why a passage is where it is: the neighbour whose message brought it nearer, and the keyword they share."""

import numpy as np
from numpy.typing import NDArray

from triplebeam.index.triple_graph import TripleGraph
from triplebeam.methods.gnn_ret.propagate import Propagated
from triplebeam.triple import Chain


def messages_that_helped(propagated: Propagated, rows: NDArray[np.int64]) -> NDArray[np.int64]:
    """For each row the nearest sender of the last message that was smaller than the row's own distance, or -1."""
    helped_by = np.full(len(rows), -1)
    for before, sent in zip(propagated.hidden, propagated.messages, strict=False):
        if len(sent.receivers):
            place = np.minimum(np.searchsorted(sent.receivers, rows), len(sent.receivers) - 1)
            senders = sent.senders[sent.starts[place]]
            helped = (sent.receivers[place] == rows) & (before[senders] < before[rows])
            helped_by[helped] = senders[helped]
    return helped_by


def shared_keyword(triples: TripleGraph, sender: int, receiver: int) -> tuple[Chain, ...]:
    """A triple of the sender and one of the receiver with an entity in common, the receiver's first; nothing where
    they share none, as neighbours in a document may.
    """
    sent, received = (triples.triples_at([row]).tolist() for row in (sender, receiver))
    first: dict[int, int] = {}
    for triple_id, ends in zip(sent, triples.ends(sent).tolist(), strict=True):
        for entity in ends:
            first.setdefault(entity, triple_id)
    for triple_id, ends in zip(received, triples.ends(received).tolist(), strict=True):
        for entity in ends:
            if entity in first:
                return ((triples.triple(first[entity]), triples.triple(triple_id)),)
    return ()
