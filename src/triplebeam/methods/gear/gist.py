"""GeAR, Eq. 5: the gist memory, all proximal triples of the steps so far, one after the other.

Ours: a fact the gist holds already is not added again, since it would be linked and counted twice in Eq. 9.
"""

from collections.abc import Sequence

from triplebeam.triple import Triple, entity_key


def new_facts(read: Sequence[Triple], gist: Sequence[Triple]) -> tuple[Triple, ...]:
    """What a step adds to the gist: facts it does not hold under the entities' normal form."""
    known = {_key(fact) for fact in gist}
    fresh: dict[tuple[str, ...], Triple] = {}
    for fact in read:
        if _key(fact) not in known:
            fresh.setdefault(_key(fact), fact)
    return tuple(fresh.values())


def _key(fact: Triple) -> tuple[str, ...]:
    return tuple(entity_key(part) for part in fact)
