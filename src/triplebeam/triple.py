"""A fact extracted from a passage; `entity_key` is the normal form under which two mentions are one entity."""

from typing import NamedTuple, TypeAlias

from triplebeam.text.names import entity_key as entity_key


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
