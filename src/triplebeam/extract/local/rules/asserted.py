"""Whether a clause is stated as a fact: conditions, wishes, questions and what someone else says are not.

- *if*, *unless*, *whether*, *until*, *lest*: never stated, nor is what depends on them. *when*, *where*, *once*,
  *before*, *after* and *as* tell of what happened if the verb is in the past; in the present they are conditions, too.
- *may*, *might*, *could*, *would*, *should*: not stated. *can*, *must* and *will* are, and stay in the predicate.
- What must or should be done to a thing is stated (``the inlet valve must be replaced by``), and a present *when* or
  *once* says only at which time; *if* remains a condition.
- *not* and *never* stay in the predicate; *hardly*, *rarely* and *almost* change it: nothing is said.
- What stands between quotation marks, or below a verb of saying or thinking, belongs to its speaker.
- Questions state nothing.
"""

from typing import TYPE_CHECKING

from triplebeam.extract.local.lexicon import get_words

if TYPE_CHECKING:
    from spacy.tokens import Doc, Span, Token

_NEVER = get_words("conditions")
_ONLY_PAST = get_words("time_clauses")
_OPEN_MODALS = get_words("open_modals")
_DUTIES = frozenset(("must", "should", "shall"))
_OF_TIME = frozenset(("when", "whenever", "once", "before", "after"))
_WEAKENING = get_words("weakening_adverbs")
_FACTIVE = get_words("factive_verbs")
_FINITE = ("VBZ", "VBP", "VBD", "MD")
_MAX_SHORT_WORDS = 6
_MIN_STOP_WORD_SHARE = 0.2
_LEANS_ON_HEAD = ("conj", "xcomp", "ccomp", "pcomp")


def is_asserted(verb: "Token") -> bool:
    """Return whether the verb's clause, and every clause above it that it leans on, is stated as a fact."""
    if not _is_plain(verb) or (verb.dep_ == "ccomp" and verb.head.lower_ not in _FACTIVE):
        return False
    participle = verb.dep_ == "advcl" and verb.tag_ in ("VBG", "VBN")
    leans = verb.dep_ in _LEANS_ON_HEAD or participle
    above = verb.head.head if verb.dep_ == "pcomp" else verb.head
    return not leans or above == verb or not above.tag_.startswith("VB") or is_asserted(above)


def _is_plain(verb: "Token") -> bool:
    """No child of the verb makes it a condition, a guess, or something else than it says."""
    children = list(verb.children)
    duty = is_duty(verb)
    return not any(
        _opens_condition(child, verb)
        or (child.dep_ == "aux" and child.lower_ in _OPEN_MODALS and not duty)
        or (child.dep_ in ("advmod", "preconj") and child.lower_ in _WEAKENING)
        or (child.dep_ == "advcl" and any(_opens_condition(mark, child, duty) for mark in child.children))
        for child in children
    )


def is_duty(verb: "Token") -> bool:
    """Recognise what must be done to a thing: ``the outlet hose should be connected to``; of names it is an opinion."""
    roles = {child.dep_: child for child in verb.children}
    subject, modal = roles.get("nsubjpass"), roles.get("aux")
    is_thing = subject is not None and subject.tag_ in ("NN", "NNS") and subject.ent_type_ in ("", "PRODUCT")
    return is_thing and "auxpass" in roles and modal is not None and modal.lower_ in _DUTIES


def _opens_condition(child: "Token", verb: "Token", of_duty: bool = False) -> bool:
    if child.dep_ not in ("mark", "advmod") or child.i > verb.i or (of_duty and child.lower_ in _OF_TIME):
        return False
    return child.lower_ in _NEVER or (child.lower_ in _ONLY_PAST and not _is_past(verb))


def _is_past(verb: "Token") -> bool:
    auxiliaries = [child.tag_ for child in verb.children if child.dep_ in ("aux", "auxpass")]
    return "VBD" in (verb.tag_, *auxiliaries)


def list_stated_tokens(doc: "Doc") -> "list[Token]":
    """Return the tokens of the sentences that state something, without those between quotation marks."""
    quoted = _find_quoted(doc)
    return [token for sentence in doc.sents if _is_statement(sentence) for token in sentence if token.i not in quoted]


def _find_quoted(doc: "Doc") -> frozenset[int]:
    """Return the tokens between pairs of quotation marks."""
    marks = [token.i for token in doc if token.text == '"']
    pairs = zip(marks[::2], marks[1::2], strict=False)
    return frozenset(index for opening, closing in pairs for index in range(opening, closing + 1))


def _is_statement(sentence: "Span") -> bool:
    """Return whether the sentence has a finite verb, asks nothing, and is held together by small words as prose is."""
    words = [token for token in sentence if not token.is_punct]
    if not words or sentence[-1].text == "?":
        return False
    finite = any(token.tag_ in _FINITE for token in words)
    return finite and (
        len(words) <= _MAX_SHORT_WORDS or sum(token.is_stop for token in words) >= _MIN_STOP_WORD_SHARE * len(words)
    )
