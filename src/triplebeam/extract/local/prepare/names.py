"""Names as plain text: their words, two forms of one name, and where a name stands in a text."""

import re

from triplebeam.extract.local.lexicon import get_pattern, get_words
from triplebeam.text.names import strip_qualifier
from triplebeam.text.words import compile_word

_WORD = compile_word(without="", joined_by="'.-")
_MAX_TITLE_WORDS = 12
_WORKS = get_pattern("works")
_IS_WORK = re.compile(
    rf",?(?: \([^()]*\),?)?(?: [^.]{{0,80}},)? (?:is|was) (?:a|an|the) [^.]{{0,80}}?\b(?:{_WORKS})\b",
    re.IGNORECASE,
)
_PHRASE_WORDS = get_words("phrase_words")
_SMALL_WORDS = _PHRASE_WORDS | {"de", "la", "le", "of", "the"}


def shorten_title(title: str, text: str) -> str:
    """Return the title as the text says it: without brackets, and without what follows a comma if the text omits it."""
    name = strip_qualifier(title).strip() or title.strip()
    short = name.split(", ")[0]
    return short if name not in text and find_name(short, text) else name


def find_name(name: str, text: str) -> list[tuple[int, int]]:
    """Where the name stands in the text as whole words; capitals may differ in a name of several words."""
    flags = re.IGNORECASE if " " in name else re.NOFLAG
    return [match.span() for match in re.finditer(rf"(?<!\w){re.escape(name)}(?!\w)", text, flags)] if name else []


def strip_place(person: str) -> str:
    """Return the name without what follows a comma or ``of``: titles and places are not what a person is called by."""
    return re.split(r", | of ", person)[0]


def same_name(title: list[str], name: list[str], *, person: bool) -> bool:
    """One form is the other with words added; a person's two forms end alike. Both are given as their words."""
    if person and title[-1:] == name[-1:]:
        return True
    return set(title) <= set(name) or title[: len(name)] == name or (title[:2] == name[:2] and len(title) > 2)


def is_called(title: str, sentence: str) -> bool:
    """Return whether the sentence says that its subject is known by the title."""
    return re.search(rf"\b(?:known|called|nicknamed|referred)\b[^.]{{0,30}}\b{re.escape(title)}", sentence) is not None


def looks_like_title(quoted: str) -> bool:
    """Few words, all but the small ones beginning with a capital or a digit: a work's name, not someone's words."""
    words = _WORD.findall(quoted)
    large = [word for word in words[1:] if word not in _SMALL_WORDS]
    return 0 < len(words) <= _MAX_TITLE_WORDS and all(not word[0].islower() for word in [words[0], *large])


def reads_like_phrase(title: str) -> bool:
    """Return whether the title is long, or has a word that a parser would take for a part of the sentence around it."""
    words = title.split()
    return len(words) > 1 and (len(words) > 3 or any(word in _PHRASE_WORDS for word in words))


def is_work(title: str, text: str) -> bool:
    """Return whether the text opens by saying that the title is a film, a song, a book or the like."""
    opens = bool(title) and text[: len(title)].casefold() == title.casefold()
    return opens and _IS_WORK.match(text, len(title)) is not None
