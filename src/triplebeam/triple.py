"""A fact extracted from a passage; `triplebeam.text.names.entity_key` makes two mentions one entity."""

from typing import NamedTuple, TypeAlias


class Triple(NamedTuple):
    """Subject, predicate, object. A stored triple has an id and exactly one passage (GeAR, section 3)."""

    subject: str
    predicate: str
    object: str

    def __str__(self) -> str:
        """Return the text that is embedded and put into the term index."""
        return f"{self.subject} {self.predicate} {self.object}"


#: A sequence of triples, each sharing an entity with the one before it: a beam of GeAR's Algorithm 1.
Chain: TypeAlias = tuple[Triple, ...]
