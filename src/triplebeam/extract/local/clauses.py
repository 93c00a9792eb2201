"""Facts that verbs state: who did what, to whom, where and when."""

import re
from collections.abc import Iterable, Iterator
from typing import TYPE_CHECKING

from triplebeam.extract.local.antecedents import antecedent
from triplebeam.extract.local.asserted import is_asserted
from triplebeam.extract.local.kinds import PLACE_KINDS, is_common, is_named, is_person, is_time
from triplebeam.extract.local.owners import owners_of
from triplebeam.extract.local.phrases import (
    is_bracketed,
    is_complete,
    is_definite,
    is_empty,
    is_stranded,
    is_vague,
    measured,
    named_modifiers,
    noun_phrase,
    prepositions,
    says_something,
    singular,
    verb_group,
    with_conjuncts,
)
from triplebeam.extract.local.terms import is_stand_in

if TYPE_CHECKING:
    from spacy.tokens import Token

    from triplebeam.extract.local.reference import References

_SUBJECTS = ("nsubj", "nsubjpass")
_OBJECTS = ("dobj", "attr", "oprd", "dative")
_COMPLEMENTS = (*_OBJECTS, "prep", "agent", "xcomp")
_BE = frozenset(("is", "was", "are", "were", "be", "been", "being", "became", "become", "'s", "am", "'m", "'re"))
_ONE_OF = {"are": "is", "were": "was"}
_RELATIVE = ("WDT", "WP")
_FINITE = ("VBD", "VBZ", "VBP")
_DEEPEST = 3
_PARTS_OF_OTHERS = ("aux", "auxpass", "xcomp", "pcomp", "amod", "compound")
#: Verbs that point elsewhere, or tell of a speaker's mind only.
_SAYING_NOTHING_WORDS = (
    "see sees refer refers consult note think thinks thought guess hope hopes bet wonder suppose mean means say"
    " says said tell tells told hear agree feel feels know knows sounds sound seems seem looks look let want wants keep"
)
_SAYING_NOTHING = frozenset(_SAYING_NOTHING_WORDS.split())
#: Verbs that say nothing of their object without the infinitive behind it.
_CAUSES_WORDS = (
    "permit permits permitted allow allows allowed allowing enable enables enabled enabling force forces forced forcing"
    " ask asks asked tell tells told order ordered urge urges urged require requires required invited persuaded causes"
    " caused causing encourage encourages encouraged wants wanted instructed convinced expect expects expected"
    " triggering prompting leading led helping helped"
)
_CAUSES = frozenset(_CAUSES_WORDS.split())
_BARE_WORDS = "go goes went gone come comes came get gets got take takes took make makes made"
_BARE = frozenset(_BARE_WORDS.split())
_CIRCUMSTANCES = ("in", "at", "near", "during", "by")
_REPORTING_WORDS = "argued said says added noted explained claimed insisted replied thinking"
_REPORTING = frozenset(_REPORTING_WORDS.split())
#: What whole pages are about: on such a page, *the film* is the title's.
_SUBJECTS_OF_PAGES_WORDS = (
    "film movie show series song album single novel book story band group team club company school university"
    " city town village county district river lake mountain game season tournament festival station airport church"
    " museum"
)
#: Whom a text means by these, the title alone does not say: ``the boy learned the oboe``.
_PERSONS = frozenset(("boy", "girl", "man", "woman", "child", "couple", "pair", "king", "queen", "president", "judge"))
_SUBJECTS_OF_PAGES = frozenset(_SUBJECTS_OF_PAGES_WORDS.split())
_DURATION = re.compile(r"\b(?:second|minute|hour|day|week|month|year)s?\b")
#: A predicate and the token of its object.
Statement = tuple[str, "Token"]


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
    statements = list(_statements(verb, verb_group(verb))) if verb.lower_ not in _SAYING_NOTHING else []
    for noun, subject, role in _subjects(verb, references) if statements else ():
        for predicate, other in statements:
            target = references.entity(other)
            if not target or target == subject or not _worth_saying(noun, other) or _is_misread(verb, other):
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
    return verb.lower_ in _REPORTING and target.dep_ in _OBJECTS and is_named(target)


def is_verb(token: "Token") -> bool:
    """The token is a verb in any form."""
    return token.tag_.startswith("VB")


def _worth_saying(subject: "Token", target: "Token") -> bool:
    """One end at least is a name or stands for one, and it is not only a date."""
    return not is_common(subject) or (is_named(target) and not is_time(target))


def _subjects(verb: "Token", references: "References") -> Iterator[tuple["Token", str, str]]:
    """The entities a verb speaks of, each with the role in which it does (``father`` in ``his father was``)."""
    token = _subject_token(verb)
    if token is None or _follows_gerund(token) or _disagrees(verb, token):
        return
    if _is_loose(verb, token) and references.entity(token) != references.title:
        return
    of_one = verb.dep_ in ("acl", "relcl") and verb.head == token
    for noun in [token] if of_one else with_conjuncts(token):
        yield from _stood_for(noun, references)


def _disagrees(verb: "Token", subject: "Token") -> bool:
    """``Purdy find``, ``read_line: pass the length``: the parser missed what the verb's own subject is."""
    if subject.i < verb.i and ":" in (subject.nbor().text, verb.nbor(-1).text):
        return True
    several = any(child.dep_ in ("conj", "appos", "cc") for child in subject.children)
    one = is_person(subject) or is_stand_in(subject.text) or (is_common(subject) and subject.tag_ == "NN")
    return verb.tag_ == "VBP" and not several and one


def _is_loose(verb: "Token", subject: "Token") -> bool:
    """A participle without an auxiliary, behind a technical term: what it hangs on is anyone's guess."""
    participle = verb.dep_ in ("acl", "advcl", "conj") and verb.tag_ in ("VBG", "VBN")
    if not participle or any(child.dep_ in ("aux", "auxpass") for child in verb.children):
        return False
    term = is_stand_in(subject.text) or subject.text.isupper() or not subject.ent_type_
    return verb.lower_ == "using" or (term and (verb.head == subject or verb.head.dep_ == "acl"))


def _follows_gerund(subject: "Token") -> bool:
    """``Overriding the method prevents the call``: what prevents it is the overriding."""
    first = subject.sent[0]
    before = subject.doc[first.i : subject.i]
    return first.lower_.endswith("ing") and 0 < len(before) <= 3 and all(token.text != "," for token in before)


def _stood_for(noun: "Token", references: "References") -> Iterator[tuple["Token", str, str]]:
    entity = references.entity(noun)
    if not is_common(noun):
        if entity and not is_time(noun):
            yield noun, entity, ""
        return
    names = [child for child in noun.children if child.dep_ == "appos" and is_named(child)]
    owners = list(owners_of(noun, references))
    if names:
        yield from ((name, known, "") for name in names if (known := references.entity(name)))
    elif owners and entity != references.title:
        yield from ((token, owner, noun_phrase(noun)) for token, owner in owners)
    elif entity == references.title:
        yield references.title_token or noun, references.title, ""
    elif entity and is_complete(noun) and not is_empty(noun) and any(child.dep_ == "compound" for child in noun.lefts):
        yield noun, entity, ""
    elif (
        references.title
        and is_definite(noun)
        and noun.lower_ not in _PERSONS
        and (noun.lower_ in _SUBJECTS_OF_PAGES or (entity and references.is_about_title(noun)))
    ):
        yield noun, references.title, noun.lower_  # "The decision was made by": the title's decision


def _subject_token(verb: "Token") -> "Token | None":
    """The verb's own subject, the noun it is a participle or relative clause of, or the subject of the verb above."""
    own = next((child for child in verb.children if child.dep_ in _SUBJECTS), None)
    if own is not None and own.tag_ not in _RELATIVE:
        return own
    if verb.lower_ in ("starring", "featuring") and (verb.dep_ == "advcl" or is_person(verb.head)):
        return _work_before(verb)
    if verb.lower_ in ("known", "called", "renamed") and (named := _name_before_comma(verb)) is not None:
        return named
    if verb.i > 1 and verb.nbor(-1).text == "(":
        return verb.head if verb.head.i == verb.i - 2 else None
    if verb.dep_ == "acl" and _is_compound(verb):
        return None
    if verb.dep_ == "acl" and verb.tag_ in ("VBG", "VBN"):
        return _subject_beyond_place(verb) or _described(antecedent(verb))
    if verb.dep_ == "relcl" and own is not None:
        return _subject_beyond_place(verb, own) or _described(antecedent(verb, own))
    if verb.dep_ == "relcl":
        return None
    shares = verb.dep_ in ("conj", "xcomp") or (verb.dep_ == "advcl" and verb.tag_ in ("VBG", "VBN"))
    return _subject_token(verb.head) if shares and own is None and is_verb(verb.head) else None


def _is_compound(verb: "Token") -> bool:
    """``an HTTP caching proxy``: a participle between a name and a bare noun is a part of one phrase."""
    bare = [child for child in verb.rights if child.dep_ == "dobj" and is_common(child) and not list(child.lefts)]
    return bool(bare) and verb.i == verb.head.i + 1 and bare[0].i == verb.i + 1


def _work_before(verb: "Token") -> "Token | None":
    """Films star people: the last name of a work before ``starring``."""
    before = (token for token in reversed(list(verb.sent)) if token.i < verb.i and is_named(token))
    return next((token for token in before if token.ent_type_ in ("", "WORK_OF_ART")), None)


def _name_before_comma(verb: "Token") -> "Token | None":
    """``at Athletic Park, later known as Borchert Field``: the other name is of what stands just before."""
    index = verb.i - 1
    while index > 0 and verb.doc[index].tag_ in ("RB", "RBR", "RBS"):
        index -= 1
    before = verb.doc[index - 1] if index > 0 and verb.doc[index].text == "," else None
    return before if before is not None and is_named(before) and not is_time(before) else None


def _subject_beyond_place(verb: "Token", relative: "Token | None" = None) -> "Token | None":
    """``a band from Brooklyn, formed in 1968``: behind a comma, the participle is of the band and not of the place."""
    root, first = verb.sent.root, relative or verb
    behind_comma = first.i > verb.head.i and first.nbor(-1).text == ","
    if behind_comma and verb.head.ent_type_ in PLACE_KINDS and root.lower_ in _BE:
        return _subject_token(root)
    return None


def _described(noun: "Token | None") -> "Token | None":
    """The name itself; of a noun after ``is``, the subject of that ``is``."""
    if noun is None:
        return None
    if is_named(noun):
        return noun if not _is_restricted(noun) else None
    head = noun
    while head.dep_ == "conj":
        head = head.head
    if head.dep_ == "attr" and head.head.lower_ in _BE:
        return _subject_token(head.head)
    if head.dep_ == "appos" and is_named(head.head):
        return head.head  # "Darling Mills Creek, a watercourse that is part of"
    return None  # "files stored in": which files, the clause alone does not say


def _is_restricted(name: "Token") -> bool:
    """``the ACL specified by``, without a comma: one of several, and the clause says which."""
    has_article = any(child.dep_ == "det" for child in name.lefts)
    following = name.doc[name.i + 1] if name.i + 1 < len(name.doc) else name
    return has_article and not is_person(name) and following.text not in (",", "(", "–")


def _statements(verb: "Token", group: str) -> Iterator[Statement]:
    """Predicates and objects: direct ones, those behind a preposition, times, and those of verbs that hang below."""
    yield from _shared_statements(verb, group)
    given = any(child.dep_ == "dobj" for child in verb.children)
    roles = [role for role in _OBJECTS if not (given and role == "dative")]  # "gives owners the option": not owners
    listed = [(child, noun) for child in verb.children if child.dep_ in roles for noun in with_conjuncts(child)]
    objects = [noun for first, noun in listed if first.dep_ != "attr" or _is_alike(first, noun)]
    if objects and verb.lower_ in _CAUSES and any(child.dep_ in ("xcomp", "ccomp") for child in verb.rights):
        return  # "permitted Spain to leave": nobody permitted Spain
    own = next((child for child in verb.children if child.dep_ == "nsubj"), None)
    if verb.dep_ == "relcl" and not objects and own is not None and own.tag_ not in _RELATIVE:
        where = any(child.lower_ == "where" for child in verb.children)
        yield from object_statements(verb.head, f"{group} in" if where else group)  # "Ghent, where he died"
    for noun in objects:
        yield from object_statements(verb.head if noun.tag_ in _RELATIVE and verb.dep_ == "relcl" else noun, group)
    first = next((noun for noun in objects if is_common(noun) or is_named(noun)), None)
    longer = f"{group} {noun_phrase(first)}" if first is not None else group
    half = (first is not None and not _is_expressed(first)) or any(map(_completes, verb.children))
    governed = list(prepositions(verb))
    if len({word for word, _ in governed}) > 1 and any(child.dep_ == "neg" for child in verb.children):
        governed = []  # "did not qualify for the cup until 1990": no part of it is true by itself
    for word, noun in governed:
        if word in ("with", "without") and noun.i < verb.i:
            continue  # "With two outs, Gibson stepped in": a circumstance
        first_word = word == governed[0][0] or is_time(noun)
        named = is_named(noun) and not is_time(noun) and _may_stand_apart(verb, word, noun, first_word)
        if verb.lower_ in _BE and (adjective := _adjective_before(verb, noun)) is not None:
            yield from object_statements(noun, f"{group} {adjective.lower_} {word}") if is_named(noun) else ()
            continue
        bare = first is None and verb.lower_ in _BARE and is_time(noun)  # "went to trial in May": not "went in May"
        if (verb.lower_ not in _BE and not half and first_word and not bare) or named:
            yield from object_statements(noun, f"{longer} {word}")
    for child in verb.children:
        if not (child.dep_ == "xcomp" and objects):  # "takes the union to find": not "takes to find"
            yield from _hanging_below(child, group, None if half else longer)


def _may_stand_apart(verb: "Token", word: str, noun: "Token", first_word: bool) -> bool:
    """The verb and this preposition say something true without the verb's other complements."""
    complements = {child.dep_ for child in verb.children}
    if verb.lower_ in _BE:
        return "attr" in complements or (first_word and "acomp" not in complements)
    if noun.i < verb.i and complements & {"xcomp", "ccomp"}:
        return False  # "With Kupp back, Stafford continues to trust Nacua"
    given = any(child.dep_ == "dobj" and child.tag_ == "PRP" for child in verb.children)
    return (not given or word in _CIRCUMSTANCES) and not (verb.lower_ == "known" and not first_word)


def _adjective_before(verb: "Token", noun: "Token") -> "Token | None":
    return next((child for child in verb.children if child.dep_ == "acomp" and child.i < noun.i), None)


def _is_alike(noun: "Token", other: "Token") -> bool:
    """``a member of Ajax and PSV``, ``the monarchy of Spain and its islands``: what is listed is not what X is."""
    owned = any(child.tag_ == "PRP$" for child in other.lefts)
    return noun == other or is_named(noun) or (is_common(other) and noun.tag_ == other.tag_ and not owned)


def _is_restricted_by_clause(noun: "Token") -> bool:
    """``Brown's first song to reach the top``: not his first song."""
    return any(child.dep_ in ("acl", "relcl") for child in noun.rights)


def _completes(child: "Token") -> bool:
    """Without this child the verb says only half: ``was asked to sing in 2002``, ``accused him of fraud``."""
    nameless = child.dep_ in ("dobj", "dative") and not (is_common(child) or is_named(child))
    predicative = child.dep_ == "acomp" and child.head.lower_ not in _BE  # "pleaded guilty"
    return child.dep_ in ("xcomp", "ccomp") or nameless or predicative


def _is_expressed(noun: "Token") -> bool:
    """The words of the noun phrase are enough to know what is meant."""
    return is_named(noun) or (says_something(noun) and is_complete(noun))


def _shared_statements(verb: "Token", group: str) -> Iterator[Statement]:
    """``written and directed by``: what follows the last verb belongs to those before it as well."""
    complements = [child for child in verb.children if child.dep_ in _COMPLEMENTS]
    if verb.tag_ in ("VBN", "VBG", "VBD") and all(is_stranded(child) for child in complements):
        following = [child for child in verb.children if child.dep_ == "conj" and is_verb(child)]
        for other in following[:1]:
            if complements or other.tag_ == verb.tag_:
                yield from _statements(other, group)


def _hanging_below(child: "Token", group: str, longer: str | None) -> Iterator[Statement]:
    """``is famous for``, ``released June 2016``, ``began to write``, ``known for playing``."""
    if child.dep_ == "acomp":
        yield from ((f"{group} {child.lower_} {word}", noun) for word, noun in prepositions(child))
    elif child.dep_ == "npadvmod" and is_time(child) and longer and not _DURATION.search(child.text):
        yield f"{longer} on", child
    elif child.dep_ == "xcomp" and is_verb(child) and child.tag_ not in _FINITE:
        linked = "to " if any(part.tag_ == "TO" for part in child.children) else ""
        yield from _statements(child, f"{group} {linked}{verb_group(child)}")
    elif child.dep_ == "prep" and longer and child.head.lower_ not in _BE:
        for inner in child.children:
            if inner.dep_ == "pcomp" and inner.tag_ == "VBG":
                yield from _statements(inner, f"{longer} {child.lower_} {verb_group(inner)}")


def object_statements(noun: "Token", predicate: str, depth: int = 0) -> Iterator[Statement]:
    """The noun as object; a common noun's own prepositions lead on: ``played trumpet on``, ``is town in county of``."""
    if is_named(noun) or noun.tag_ in ("PRP", "PRP$"):
        yield predicate, noun
        return
    if (target := measured(noun)) is not None and predicate not in _BE:
        yield from object_statements(target, predicate, depth)
        return
    names = [c for c in noun.children if c.dep_ == "appos" and is_named(c) and not is_bracketed(noun, c)]
    if names:
        yield from ((predicate, name) for first in names for name in with_conjuncts(first))
        return
    if not noun_phrase(noun):
        return
    phrase = f"{predicate} {noun_phrase(noun)}"
    further = [
        statement
        for word, target in (prepositions(noun) if depth < _DEEPEST else ())
        if word == "of" or is_common(noun)
        for statement in object_statements(target, f"{phrase} {word}", depth + 1)
    ]
    further += [
        (f"{phrase} of", name)  # "launched Park's career"
        for child in noun.lefts
        if child.dep_ == "poss" and is_named(child) and not is_time(child) and not _is_restricted_by_clause(noun)
        for name in with_conjuncts(child)
    ]
    yield from further
    yield from ((f"{predicate} {noun.lower_} of", name) for name in named_modifiers(noun))
    leads_to_name = any(is_named(target) and not is_time(target) for _, target in further)
    whole = is_complete(noun) or (predicate in _BE and " " in noun_phrase(noun) and not is_empty(noun))
    if says_something(noun) and whole and not leads_to_name and (depth == 0 or predicate.endswith(" of")):
        yield predicate, noun
    for child in noun.children if not is_empty(noun) else ():
        if child.dep_ == "acl" and child.tag_ == "VB":
            yield from _statements(child, f"{phrase} to {verb_group(child)}")
