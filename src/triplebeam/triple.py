"""A fact extracted from a passage, and the normal form under which two mentions are one entity."""

import re
from functools import lru_cache
from typing import NamedTuple, TypeAlias

_NOT_WORD = re.compile(r"[\W_]+")


class Triple(NamedTuple):
    """Subject, predicate, object. A stored triple has an id and exactly one passage (GeAR, section 3)."""

    subject: str
    predicate: str
    object: str

    def __str__(self) -> str:
        """The text that is embedded and put into the term index."""
        return f"{self.subject} {self.predicate} {self.object}"


#: A sequence of triples, each sharing an entity with the one before it: a beam of GeAR's Algorithm 1.
Chain: TypeAlias = tuple[Triple, ...]


@lru_cache(maxsize=100_000)
def entity_key(name: str) -> str:
    """The normal form of an entity: lower case, punctuation to spaces, one space between words.

    A name of nothing but punctuation stays as it is, so that two such names are not one entity.
    """
    return _NOT_WORD.sub(" ", name.casefold()).strip() or name.strip()
