"""The entities of triples: names that have the same normal form are one."""

from collections.abc import Iterable
from functools import cache

import numpy as np
from numpy.typing import NDArray

from triplebeam.text.names import entity_key
from triplebeam.triple import Triple


def number_entities(triples: Iterable[Triple], others: Iterable[str] = ()) -> tuple[list[str], NDArray[np.int64]]:
    """Assign a number to each entity, by its first name; returns the two of every triple, too: subject and object.

    Behind those of triples come ``others``, of which no triple says anything.
    """
    numbers: dict[str, int] = {}
    names: list[str] = []

    @cache
    def number(name: str) -> int:
        key = entity_key(name)
        if key not in numbers:
            numbers[key] = len(numbers)
            names.append(name)
        return numbers[key]

    ends = [(number(triple.subject), number(triple.object)) for triple in triples]
    for other in others:
        number(other)
    return names, np.array(ends, np.int64).reshape(-1, 2)
