"""Pronouns and nouns such as "the film" at a sentence's start that refer to the passage's title, where that is safe.

It is safe while the sentences before have the title, or a word that refers to it, as their subject too; and where the
word fits: "it" for a thing, "he" and "she" for a person.
"""

from collections.abc import Iterator, Sequence
from itertools import pairwise

from triplebeam.support.page import Page, Sentence, Word
from triplebeam.support.words import LIGHT, THINGS

_PERSONAL = frozenset({"he", "she", "his", "her"})
_IMPERSONAL = frozenset({"it", "its", "they", "their"})
_SUBJECT_WITHIN = 5
_DEFINITION = 14


def is_title(name: Sequence[Word], page: Page) -> bool:
    """The name is the title, or the title's last word: its surname."""
    ours, title = [word.folded for word in name], [word.folded for word in page.title_words]
    head = next((n for n, word in enumerate(page.title_words) if n and word.gap.startswith(",")), len(title))
    if not title or ours == title[:head]:  # "Hughesville" in "Hughesville, Maryland"
        return bool(title)
    return ours == title or (len(ours) == 1 and len(title) in (2, 3) and ours[0] == title[-1])


def coreferences(name: Sequence[Word], page: Page) -> Iterator[tuple[int, int]]:
    """Where words refer to the title, if that is what the name is: place and number of words."""
    if not is_title(name, page):
        return
    thing = _is_thing(page)
    on_topic = True
    for number, sentence in enumerate(page.sentences):
        found = _coreference(page, sentence, thing) if on_topic else None
        on_topic = found is not None or _names_title(page, sentence) or (number == 0 and not page.names[1:])
        if found:
            yield found


def _coreference(page: Page, sentence: Sentence, thing: bool) -> tuple[int, int] | None:
    start = _after_introduction(page.words, sentence)
    word = page.words[start]
    if word.key in (_IMPERSONAL if thing else _PERSONAL):
        return start, 1
    following = page.words[start + 1] if start + 1 < sentence.last else None
    if thing and word.key in ("the", "this") and following and _is_kind(following, page):
        return start, 2
    return None


def _is_kind(word: Word, page: Page) -> bool:
    """A noun that says what the title is: "the film", and "the canal" for the Suez Canal."""
    return word.text in THINGS or (not word.capital and word.folded == page.title_words[-1].folded)


def _after_introduction(words: Sequence[Word], sentence: Sentence) -> int:
    """Where the subject begins: behind a short phrase with a comma and without names, such as "In 1950, "."""
    for place in range(sentence.first + 1, min(sentence.first + 13, sentence.last)):
        if words[place].gap.startswith(","):
            # "Directed by Edward Cahn, it …" speaks of "it"; "After Cahn left, he …" of either.
            plain = all(not word.capital for word in words[sentence.first + 1 : place]) or words[sentence.first].verb
            return place if plain else sentence.first
        if words[place].verb:
            break
    return sentence.first


def _names_title(page: Page, sentence: Sentence) -> bool:
    """The title, its first or its last word is where the subject is."""
    ends = {page.title_words[0].folded, page.title_words[-1].folded}
    start = _after_introduction(page.words, sentence)
    return any(word.folded in ends and word.capital for word in page.words[start : start + _SUBJECT_WITHIN])


def _is_thing(page: Page) -> bool:
    """The title is no person: it says so itself, a definition does, or nobody is "he" or "she" in the passage."""
    title = page.title.casefold()
    if any(thing in title.replace("(", " ").replace(")", " ").split() for thing in THINGS):
        return True
    first = page.words[: page.sentences[0].last] if page.sentences else []
    copula = next((n for n, word in enumerate(first) if word.key in ("is", "was", "are", "were")), len(first))
    for word, following in pairwise(first[copula + 1 : copula + _DEFINITION]):
        if word.text in THINGS and not _goes_on(following):  # "a film", not "a film director"
            return True
        if word.key in ("by", "in", "of", "from", "who"):
            break
    return not any(word.key in _PERSONAL for word in page.words)


def _goes_on(word: Word) -> bool:
    """A noun after a noun: the two are one."""
    ends = word.capital or word.key in LIGHT or word.verb or word.gap != " " or word.key.endswith("ing")
    return not ends
