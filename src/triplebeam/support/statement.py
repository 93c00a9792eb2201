"""Does a sentence state a relation between two mentions, in the right direction? Words and their order decide."""

from triplebeam.support.clause import Clause
from triplebeam.support.page import Page
from triplebeam.support.relation import Relation
from triplebeam.support.vocabulary import APPEARING, COPULAS, KNOWN, NATURES, PLACING, SYMMETRIC
from triplebeam.support.words import is_role, stem

_BETWEEN_EQUALS = ("", "to", "with", "of", "as", "from")


def states(page: Page, sentence: range, relation: Relation, subject: range, object_: range, dated: bool) -> bool:
    """A sentence relates two mentions, in this direction; an empty mention is the title, which is not named."""
    clause = Clause(page, sentence, relation)
    if clause.in_brackets(subject, object_, dated) or _says(clause, subject, object_, dated):
        return True
    return relation.inverse is not None and _says(Clause(page, sentence, relation.inverse), subject, object_, dated)


def _says(clause: Clause, subject: range, object_: range, dated: bool) -> bool:
    said, relation = clause.governors(object_), clause.relation
    if not clause.is_complete(agent=relation.preposition == said[0] == "by"):
        return False
    if not clause.cues:
        return _says_lightly(clause, subject, object_, dated)
    cues = [cue for cue in clause.cues if cue not in object_ and cue not in subject and clause.concerns(cue, subject)]
    if relation.stems & SYMMETRIC and relation.preposition in _BETWEEN_EQUALS:
        ends = [object_, subject] if object_.stop <= subject.start else [object_]
        return said[0] in _BETWEEN_EQUALS and any(clause.reaches(cue, end) for cue in cues for end in ends)
    if object_ and not any(clause.reaches(cue, object_) for cue in cues):
        if object_.stop <= subject.start:
            if clause.governors(subject)[0] == "by" and relation.preposition in ("", "of") and not relation.object_acts:
                return any(clause.reaches(cue, subject) for cue in cues)
            return clause.opens(object_) and said[0] == relation.preposition
        return any(clause.modifies(object_, cue) for cue in cues)
    if (
        dated
        and said[0] in ("", "on", "in")
        and (not said[0] or relation.preposition in ("on", "in") or relation.of_date)
    ):
        return True
    if relation.preposition in ("", "by") or (relation.preposition == "of" != said[0]):
        actor, patient = (object_, subject) if relation.object_acts else (subject, object_)
        return any(_acts(clause, cue, actor, patient) for cue in cues)
    return relation.preposition in said and not _is_object_too(clause, subject, cues)


def _says_lightly(clause: Clause, subject: range, object_: range, dated: bool) -> bool:
    """Without words of its own in the sentence, a relation is a preposition, or a copula."""
    said, wanted, stems = clause.governors(object_), clause.relation.preposition, clause.relation.stems
    verb = clause.verb_before(object_)
    if subject.start >= object_.start or clause.owns(subject):
        return False
    if wanted and wanted in said:
        return not verb or verb in COPULAS or stem(verb) in PLACING
    if said[0] or verb not in COPULAS:
        return False
    if dated:
        return bool(stems) and stems <= APPEARING  # "released in", of "a 1970 film"
    return not wanted and stems <= NATURES and (bool(stems) or not clause.is_modifier(object_))


def _is_object_too(clause: Clause, subject: range, cues: list[int]) -> bool:
    """The subject is where the object is: Ann is no son in "the son of Ann and Paul"."""
    same = clause.relation.preposition == clause.governors(subject)[0]
    return same and any(cue < subject.start and clause.reaches(cue, subject) for cue in cues)


def _acts(clause: Clause, cue: int, actor: range, patient: range) -> bool:
    """The actor does it to the patient: "A directed B", "B, directed by A", "A, director of B", "B's director A"."""
    word = clause.page.words[cue]
    of_actor, of_patient = clause.governors(actor)[0], clause.governors(patient)[0]
    if "by" in (of_actor, of_patient):
        return of_actor == "by" != of_patient
    if is_role(word.key) and (clause.relation.is_role or word.stem in KNOWN):
        owned = of_patient == "of" or (not of_patient and patient.start < cue)
        return owned and not of_actor and not clause.modifies(actor, cue)
    plain = not of_patient or (of_patient in ("of", "as") and not word.is_verb)
    return plain and not clause.relation.is_role and actor.start < cue < patient.start
