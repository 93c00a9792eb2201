"""Whose a thing is: ``Lincoln's wife``, ``his wife``, ``the wife of Lincoln``, ``whose wife``."""

from collections.abc import Iterator
from typing import TYPE_CHECKING

from triplebeam.extract.local.kinds import is_common, is_named, is_time
from triplebeam.extract.local.phrases import prepositions, with_conjuncts

if TYPE_CHECKING:
    from spacy.tokens import Token

    from triplebeam.extract.local.reference import References


def owners_of(noun: "Token", references: "References") -> Iterator[tuple["Token", str]]:
    """The names and pronouns that own the noun, each with its entity."""
    owners = [owner for child in noun.children if child.dep_ == "poss" for owner in with_conjuncts(child)]
    owners += [owner for word, owner in prepositions(noun) if word == "of" and is_named(owner) and not is_time(owner)]
    for owner in owners:
        meant = _antecedent(owner) if owner.tag_ == "WP$" else owner
        if not is_common(meant) and (entity := references.entity(meant)):
            yield meant, entity


def _antecedent(relative: "Token") -> "Token":
    """The noun that the relative clause around ``whose`` describes."""
    for ancestor in relative.ancestors:
        if ancestor.dep_ == "relcl":
            return ancestor.head
    return relative
