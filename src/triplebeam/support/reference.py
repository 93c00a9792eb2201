"""Who is meant: names of a statement, written where its sentence says "she", "it", "the company" or "the singer".

A pronoun stands for the only name of the sentence before; or for its first one, if that sentence has the same pronoun
behind it, or the title begins with it. If the sentence before has the pronoun first, the one before that decides. A
description stands for the only name that no pronoun stands for. Places and days do not count, and nothing is written
behind a name of the sentence itself.
"""

import re
from collections.abc import Iterator, Sequence
from itertools import pairwise

from triplebeam.support.names import is_date
from triplebeam.support.page import Page
from triplebeam.support.resolve import Change
from triplebeam.text.stop_words import word_set
from triplebeam.text.words import Word, words_of

_PRONOUNS = {
    form: forms for forms in map(word_set, ("he him his himself", "she her herself", "it its itself")) for form in forms
}
_PERSONAL = word_set("he she")
_NOMINATIVES = _PERSONAL | {"it"}
#: In sentences, backwards.
_MAX_DISTANCE = 5
#: In words: the longest name of a speaker, or term, before a colon.
_MAX_HEAD_WORDS = 4
#: A name behind one of these says where, when or whose something is.
_PLACING = word_set("in at on from near since during until his her its their my your our")
_DISTINCT = "other|another|first|second|third|new|next|last|latter|former|rival|same|only"
#: Kinds of what has a name. Offices and relations are none: "the owner" may be anybody.
_KINDS = (
    "singer|rapper|musician|songwriter|actor|actress|comedian|star|player|footballer|quarterback|athlete|author|novelist"
    "|poet|painter|artist|scientist|politician|billionaire|company|firm|startup|giant|retailer|bank|airline|club|team"
    "|band|group|game|film|movie|book|novel|album|song|series|app|platform|service|website|tool|program|city|town"
    "|village|country|island|university|school|museum"
)
_DESCRIPTION = re.compile(
    rf"\b[Tt]he (?:(?!(?:{_DISTINCT})\b)(?:[“\"][^”\"\n]{{1,40}}[”\"]|[a-z-]+|[A-Z]{{2,5}}) ){{0,2}}(?:{_KINDS})\b"
    r"(?! (?:of|that|who|which|in|for|[A-Z]))"
)


def name_references(statement: str, page: Page, sentence: range) -> list[Change]:
    """Write names that a statement has and its sentence has not in the places of what stands for them."""
    words = _read_sentence(page, sentence)
    said = {word.folded for word in words}
    wanted = [name for name in _list_names(words_of(statement)) if not said & _fold(name)]
    first_name = next((name[0].start for name in _list_names(words)), len(page.text))
    meant: list[Sequence[Word]] = []
    changes = []
    for start, end, pronoun in _find_references(page, words):
        named = _find_antecedent(page, sentence, pronoun, meant)
        name = next((each for each in wanted if named and _is_same(each, named)), None)
        if name and start < first_name:
            wanted.remove(name)
            meant.append(name)
            changes.append(Change(start, end, statement[name[0].start : name[-1].end]))
    return sorted(changes)


def _find_references(page: Page, words: Sequence[Word]) -> Iterator[tuple[int, int, str]]:
    """Find the first pronoun that is a subject, and each description, with their places."""
    pronoun = next((word for word in words if word.key in _NOMINATIVES), None)
    if pronoun:
        yield pronoun.start, pronoun.end, pronoun.key
    for each in _DESCRIPTION.finditer(page.text, words[0].start, words[-1].end) if words else ():
        yield each.start(), each.end(), ""


def _find_antecedent(page: Page, sentence: range, pronoun: str, meant: Sequence[Sequence[Word]]) -> Sequence[Word]:
    """Find the name that a pronoun, or a description, stands for; nothing if it may be another one."""
    forms = _PRONOUNS.get(pronoun, frozenset())
    earlier = [_read_sentence(page, each) for each in page.sentences if each.stop <= sentence.start]
    title = words_of(page.title)
    speakers = [head for each in page.sentences if (head := _read_head(page, each))] if pronoun not in _PERSONAL else []
    meant = [*meant, *speakers]
    for words in [*earlier[: -_MAX_DISTANCE - 1 : -1], title]:
        names = [name for name in _list_names(words) if not any(_is_same(name, each) for each in meant)]
        same = next((word.start for word in words if word.key in forms), None)
        if not names or (same is not None and same < names[0][0].start):
            continue
        others = [name[0].start for name in names if not _is_same(name, names[0])]
        goes_on = same is not None and same < min(others, default=0)
        is_topic = any(_is_same(name, names[0]) for name in _list_names(title)[:1])
        return names[0] if not others or (pronoun and (goes_on or is_topic)) else ()
    return ()


def _read_head(page: Page, sentence: range) -> list[Word]:
    """List the words of the speaker or term that a sentence begins with."""
    words = [page.words[place] for place in sentence]
    return words[: next((n for n, word in enumerate(words[: _MAX_HEAD_WORDS + 1]) if n and ":" in word.gap), 0)]


def _read_sentence(page: Page, sentence: range) -> list[Word]:
    """List the words of a sentence behind its speaker or term."""
    return [page.words[place] for place in sentence[len(_read_head(page, sentence)) :]]


def _list_names(words: Sequence[Word]) -> list[list[Word]]:
    """List the names among words: those with a capital letter that follow each other, but for places and days."""
    names: list[list[Word]] = []
    for before, word in zip([None, *words], words, strict=False):
        if word.is_name and before and before.is_name and word.gap in (" ", "-", ". "):
            names[-1].append(word)
        elif word.is_name:
            names.append([word])
    placed = {word for before, word in pairwise(words) if before.key in _PLACING}
    return [name for name in names if name[0] not in placed and not is_date(f"{name[0].text} 1")]


def _is_same(name: Sequence[Word], other: Sequence[Word]) -> bool:
    """Has one of two names all words of the other?"""
    return _fold(name) <= _fold(other) or _fold(other) <= _fold(name)


def _fold(name: Sequence[Word]) -> set[str]:
    return {word.folded for word in name}
