"""Why a passage is where it is: the neighbour whose message brought it nearer, and the keyword they share."""

from collections.abc import Mapping

import numpy as np
from numpy.typing import NDArray

from triplebeam.index.triple_store import TripleStore
from triplebeam.methods.gnn_ret.propagate import Propagated
from triplebeam.triple import Chain, Triple, entity_key


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


def keywords(triples: TripleStore, passage_id: str) -> dict[str, Triple]:
    """Each entity of a passage's triples, by its normal form, with the first triple it stands in."""
    first: dict[str, Triple] = {}
    for triple in map(triples.triple, triples.triples_of([passage_id]).tolist()):
        for entity in (triple.subject, triple.object):
            first.setdefault(entity_key(entity), triple)
    return first


def shared_keyword(sender: Mapping[str, Triple], receiver: Mapping[str, Triple]) -> tuple[Chain, ...]:
    """A triple of the sender and one of the receiver with an entity in common, the receiver's first; nothing where
    they share none, as neighbours in a document may.
    """
    return next((((sender[entity], triple),) for entity, triple in receiver.items() if entity in sender), ())
