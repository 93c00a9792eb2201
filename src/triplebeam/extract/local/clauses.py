"""Facts that verbs state: who did what, to whom, where and when."""

from collections.abc import Iterable, Iterator
from typing import TYPE_CHECKING

from triplebeam.extract.local.asserted import is_asserted, is_duty
from triplebeam.extract.local.kinds import OBJECTS, is_common, is_named, is_time, is_verb
from triplebeam.extract.local.phrases import is_vague, singular, verb_group
from triplebeam.extract.local.statements import statements
from triplebeam.extract.local.subjects import subjects

if TYPE_CHECKING:
    from spacy.tokens import Token

    from triplebeam.extract.local.reference import References

_ONE_OF = {"are": "is", "were": "was"}
_PARTS_OF_OTHERS = ("aux", "auxpass", "xcomp", "pcomp", "amod", "compound")
#: Verbs that point elsewhere, or tell of a speaker's mind only.
_SAYING_NOTHING_WORDS = (
    "see sees refer refers consult note think thinks thought guess hope hopes bet wonder suppose mean means say"
    " says said tell tells told hear agree feel feels know knows sounds sound seems seem looks look let want wants keep"
)
_SAYING_NOTHING = frozenset(_SAYING_NOTHING_WORDS.split())
_REPORTING_WORDS = "argued said says added noted explained claimed insisted replied thinking"
_REPORTING = frozenset(_REPORTING_WORDS.split())


def clause_facts(stated: "Iterable[Token]", references: "References") -> Iterator[tuple[str, str, str]]:
    """Triples of every verb among the stated tokens that has a subject which can be named."""
    for verb in stated:
        if is_verb(verb) and verb.dep_ not in _PARTS_OF_OTHERS and not _is_fragment(verb) and is_asserted(verb):
            yield from _facts_of(verb, references)


def _is_fragment(verb: "Token") -> bool:
    """A participle that is the whole sentence's verb: ``Group based on the section``."""
    return (
        verb.dep_ == "ROOT"
        and verb.tag_ in ("VBN", "VBG")
        and not any(c.dep_ in ("aux", "auxpass") for c in verb.children)
    )


def _facts_of(verb: "Token", references: "References") -> Iterator[tuple[str, str, str]]:
    stated = list(statements(verb, verb_group(verb))) if verb.lower_ not in _SAYING_NOTHING else []
    for noun, subject, role in subjects(verb, references) if stated else ():
        for predicate, other in stated:
            target = references.entity(other)
            if not target or target == subject or not _worth_saying(verb, noun, other) or _is_misread(verb, other):
                continue
            if target == references.title or not (is_vague(other) or references.is_small_talk(other)):
                if predicate in _ONE_OF and not role and other.tag_ == "NNS":
                    predicate, target = _ONE_OF[predicate], singular(target)  # "Ext3 and XFS are file systems"
                yield subject, f"{role} {predicate}".strip(), target


def _is_misread(verb: "Token", target: "Token") -> bool:
    """``…, argued Rehn`` argues for nobody, and ``the Monegasque entrant`` is not *Monegasque* alone."""
    if target.dep_ == "attr" and is_time(target):
        return True  # "is a 14th century mosque"
    if target.dep_ == "attr" and target.ent_type_ == "NORP" and " " not in target.text:
        return any(child.dep_ == "det" for child in target.lefts)
    return verb.lower_ in _REPORTING and target.dep_ in OBJECTS and is_named(target)


def _worth_saying(verb: "Token", subject: "Token", target: "Token") -> bool:
    """One end at least is a name or stands for one, and it is not only a date; of a duty, both are whole terms."""
    if is_common(subject) and is_common(target):
        return is_duty(verb) and any(child.dep_ == "compound" for child in target.lefts)
    return not is_common(subject) or (is_named(target) and not is_time(target))
