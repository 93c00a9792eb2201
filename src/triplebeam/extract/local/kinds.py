"""What kind of thing a token is: a name, a common noun, a time, a person."""

from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from spacy.tokens import Token

#: Kinds that spaCy's model tells apart and that are names; the others are numbers and times.
NAME_KINDS = frozenset(
    ("PERSON", "NORP", "FAC", "ORG", "GPE", "LOC", "PRODUCT", "EVENT", "WORK_OF_ART", "LAW", "LANGUAGE")
)
PLACE_KINDS = frozenset(("GPE", "LOC", "FAC"))
#: Grammatical roles of objects.
OBJECTS = ("dobj", "attr", "oprd", "dative")
#: Forms of *be*, and *become*.
BE = frozenset(("is", "was", "are", "were", "be", "been", "being", "became", "become", "'s", "am", "'m", "'re"))
#: Tags of proper nouns.
PROPER = ("NNP", "NNPS")
_TIMES = ("DATE", "TIME")
_NEVER_NAMES = frozenset(
    ("DT", "POS", "IN", "CC", ",", ".", ":", "HYPH", "-LRB-", "-RRB-", "''", "``", "TO", "PRP", "PRP$")
)


def is_named(token: "Token") -> bool:
    """The token is a name, or a time or amount kept whole; an office (``the President of``) is not a name."""
    if token.tag_ in _NEVER_NAMES:
        return False
    if token.ent_type_ in NAME_KINDS or is_time(token):
        return True
    if token.ent_type_ in _TIMES:
        return False  # "July" and "last week" cannot be looked up
    if token.tag_ not in PROPER or any(child.lower_ == "of" for child in token.rights):
        return False
    return token.dep_ not in ("attr", "oprd", "appos") or (token.dep_ == "appos" and not list(token.lefts))


def is_common(token: "Token") -> bool:
    """The token is a noun and not a name."""
    return token.tag_ in ("NN", "NNS", *PROPER) and token.ent_type_ not in _TIMES and not is_named(token)


def is_time(token: "Token") -> bool:
    """The token is a date or a year that can be looked up."""
    return token.ent_type_ in _TIMES and any(char.isdigit() for char in token.text)


def is_person(token: "Token") -> bool:
    """The recogniser took the token for a person's name."""
    return token.ent_type_ == "PERSON"


def is_verb(token: "Token") -> bool:
    """The token is a verb in any form."""
    return token.tag_.startswith("VB")
