"""Why a passage is where it is: the neighbour whose message brought it nearer, and the keyword they share."""

from collections.abc import Mapping, Sequence

import numpy as np

from triplebeam.index.triple_store import TripleStore
from triplebeam.methods.gnn_ret.propagate import Propagated
from triplebeam.triple import Chain, Triple, entity_key


def messages_that_helped(propagated: Propagated, rows: Sequence[int]) -> list[int | None]:
    """For each row the nearest sender of the last message that was smaller than the row's own distance."""
    senders: list[int | None] = [None] * len(rows)
    for before, sent in zip(propagated.hidden, propagated.messages, strict=False):
        for place, row in enumerate(rows):
            receiver = int(np.searchsorted(sent.receivers, row))
            if receiver < len(sent.receivers) and sent.receivers[receiver] == row:
                sender = int(sent.senders[sent.starts[receiver]])
                if before[sender] < before[row]:
                    senders[place] = sender
    return senders


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
