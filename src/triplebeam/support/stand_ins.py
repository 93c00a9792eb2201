"""Pronouns and nouns such as "the film" at a sentence's start that stand for the passage's title, where that is safe.

It is safe while the sentences before have the title, or a word that stands for it, as their subject too; and where the
word fits: "it" for a thing, "he" and "she" for a person.
"""

from collections.abc import Iterator, Sequence

from triplebeam.support.page import Page, Sentence, Word
from triplebeam.support.words import THINGS, is_verb

_PERSONAL = frozenset({"he", "she", "his", "her"})
_IMPERSONAL = frozenset({"it", "its", "they", "their"})
_SUBJECT_WITHIN = 5
_DEFINITION = 14


def is_title(name: Sequence[Word], page: Page) -> bool:
    """The name is the title, or the title's last word: its surname."""
    ours, title = [word.folded for word in name], [word.folded for word in page.title_words]
    return bool(title) and (ours == title or (len(ours) == 1 and len(title) in (2, 3) and ours[0] == title[-1]))


def stand_ins(name: Sequence[Word], page: Page) -> Iterator[tuple[int, int]]:
    """Where words stand for the title, if that is what the name is: place and number of words."""
    if not is_title(name, page):
        return
    thing = _is_thing(page)
    on_topic = True
    for number, sentence in enumerate(page.sentences):
        found = _stand_in(page, sentence, thing) if on_topic else None
        on_topic = found is not None or _names_title(page, sentence) or (number == 0 and not page.names[1:])
        if found:
            yield found


def _stand_in(page: Page, sentence: Sentence, thing: bool) -> tuple[int, int] | None:
    start = _after_introduction(page.words, sentence)
    word = page.words[start]
    if word.key in (_IMPERSONAL if thing else _PERSONAL):
        return start, 1
    following = page.words[start + 1] if start + 1 < sentence.last else None
    if thing and word.key in ("the", "this") and following and following.text in THINGS:
        return start, 2
    return None


def _after_introduction(words: Sequence[Word], sentence: Sentence) -> int:
    """Where the subject begins: behind a short phrase with a comma and without names, such as "In 1950, "."""
    for place in range(sentence.first + 1, min(sentence.first + 9, sentence.last)):
        if words[place].gap.startswith(","):
            # "Directed by Edward Cahn, it …" speaks of "it"; "After Cahn left, he …" of either.
            plain = all(not word.capital for word in words[sentence.first + 1 : place]) or is_verb(words[sentence.first].key)
            return place if plain else sentence.first
        if is_verb(words[place].key):
            break
    return sentence.first


def _names_title(page: Page, sentence: Sentence) -> bool:
    """The title, its first or its last word stands where the subject does."""
    ends = {page.title_words[0].folded, page.title_words[-1].folded}
    start = _after_introduction(page.words, sentence)
    return any(word.folded in ends and word.capital for word in page.words[start : start + _SUBJECT_WITHIN])


def _is_thing(page: Page) -> bool:
    """The title is no person: it says so itself, a definition does, or nobody is "he" or "she" in the passage."""
    title = page.title.casefold()
    if any(thing in title.replace("(", " ").replace(")", " ").split() for thing in THINGS):
        return True
    first = page.words[: page.sentences[0].last] if page.sentences else []
    for place, word in enumerate(first):
        if word.key in ("is", "was", "are", "were"):
            definition = [other.text for other in first[place + 1 : place + _DEFINITION]]
            until = next((n for n, text in enumerate(definition) if text in ("by", "in", "of", "from", "who")), 99)
            return bool(THINGS.intersection(definition[:until]))
    return not any(word.key in _PERSONAL for word in page.words)
