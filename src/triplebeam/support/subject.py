"""Is what a sentence says of a fact's subject said of another one? For facts in the order of their sentence.

"The cousin of Ann owns the mill", "Ann met Per, who owns the mill", "Per beat Ann and won": the verb is behind the name
and has another subject.
"""

from collections.abc import Sequence

from triplebeam.support.names import mentions, object_mentions
from triplebeam.support.page import Page
from triplebeam.text.stop_words import word_set
from triplebeam.text.words import Word, content
from triplebeam.triple import Triple

_GOVERNING = word_set("of with by than against")
_RELATED = word_set(
    "brother sister father mother son daughter wife husband cousin uncle aunt nephew niece parents parent friend rival"
    " partner colleague teacher student boss widow child children grandfather grandmother owner agent critic fan"
    " opponent successor predecessor neighbour neighbor"
)
_JOINING = word_set("and or but")


def has_other_subject(triple: Triple, page: Page, sentence: range) -> bool:
    """Has the predicate another subject in every reading of the sentence with the predicate between the two ends?"""
    subjects, objects = mentions(triple.subject, page, sentence), object_mentions(triple, page, sentence)
    verb = {word.folded for word in content(triple.predicate)}
    readings = [
        _is_others(page.words, sentence, subject, place)
        for subject in subjects
        for end in objects
        for place in range(subject.stop, end.start)
        if page.words[place].folded in verb
    ]
    return bool(readings) and all(readings)


def _is_others(words: Sequence[Word], sentence: range, subject: range, verb: int) -> bool:
    """Is the verb at a place said of another than the subject before it?"""
    before = words[subject.start - 1] if subject.start > sentence.start else None
    breaks = "," in words[subject.start].gap or "," in words[subject.stop].gap
    if before and before.key in _GOVERNING and words[subject.start - 2].key in _RELATED and not breaks:
        return True
    earlier = any(words[place].is_name for place in range(sentence.start, subject.start))
    if words[subject.stop].key in _JOINING and subject.stop + 1 == verb and earlier:
        return True
    return any(_begins_others(words, subject, place, verb) for place in range(subject.stop, verb))


def _begins_others(words: Sequence[Word], subject: range, place: int, verb: int) -> bool:
    """Decide whether a clause about somebody else begins at a place and goes on up to the verb."""
    if any("," in word.gap for word in words[place + 1 : verb + 1]):
        return False
    if words[place].key == "whose":
        return words[place + 1].key in _RELATED
    of_another = place > subject.stop and words[place - 1].is_name and "," in words[place].gap
    return words[place].key in ("who", "which") and of_another
