"""Which noun a relative clause or a participle is of: parsers hang it on the nearest one, whatever it means."""

from typing import TYPE_CHECKING

from triplebeam.extract.local.kinds import NAME_KINDS, PLACE_KINDS, is_common, is_named, is_person
from triplebeam.extract.local.phrases import is_empty

if TYPE_CHECKING:
    from spacy.tokens import Token

_OF_WORKS_WORDS = (
    "published released written directed recorded produced based set built designed located filmed broadcast aired"
    " painted adapted distributed issued manufactured opened composed edited printed airing licensed"
)
#: Participles that no person is described with.
_OF_WORKS = frozenset(_OF_WORKS_WORDS.split())
_NAMING = ("known", "called", "named")
_PERSONS = ("who", "whom")
_ADVERBS = ("RB", "RBR", "RBS")


def antecedent(verb: "Token", relative: "Token | None" = None) -> "Token | None":
    """The noun that the verb's clause describes; None where the noun just before it might be meant as well."""
    head, who = verb.head, relative is not None and relative.lower_ in _PERSONS
    before = _word_before(relative or verb)
    if relative is not None and not who and before == head:
        return head  # without a comma there is no other
    if _suits(head, verb, relative):
        other = before != head and is_common(before) and before not in head.conjuncts and not is_empty(head)
        return None if other and not who else head
    if head.dep_ not in ("pobj", "appos"):
        return head  # more likely the recogniser errs than the parser
    while head.dep_ not in ("ROOT", "conj"):  # "a film by Hurst, which is based on": not Hurst, the film
        head = head.head
        if is_common(head) or is_named(head):
            return head if _suits(head, verb, relative) else None
    return None


def _suits(noun: "Token", verb: "Token", relative: "Token | None") -> bool:
    """*Who* is of a person, *which* is not, no person is published, and a place has a comma before its participle."""
    if relative is not None and relative.lower_ in _PERSONS:
        team = noun.ent_type_ == "ORG" and noun.text.endswith("s")  # "the Chicago Bulls, who won"
        return team or noun.ent_type_ not in NAME_KINDS - {"PERSON", "NORP"}
    if relative is None and noun.ent_type_ in PLACE_KINDS:
        return _word_before(verb).text in (",", "(") or verb.lower_ in _NAMING  # "an ensemble in Boston devoted to"
    return not is_person(noun) or (relative is None and verb.lower_ not in _OF_WORKS)


def _word_before(token: "Token") -> "Token":
    """The word before the clause, without the adverbs between."""
    index = token.i - 1
    while index > 0 and token.doc[index].tag_ in _ADVERBS:
        index -= 1
    return token.doc[max(index, 0)]
