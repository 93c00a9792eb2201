"""Technical terms: paths, options, identifiers, addresses and code are words of their own, never clauses.

Each is replaced before the parse by a word that the parser reads as it reads *Linux*: one proper noun. The facts get
the term back. A word that only says what kind of thing the term is (``the --force option``) leaves with it.
"""

import re
from collections.abc import Iterable
from typing import TYPE_CHECKING

from triplebeam.extract.local.lexicon import get_pattern

if TYPE_CHECKING:
    from spacy.vocab import Vocab

_FILE_ENDING = get_pattern("file_endings")
_KINDS = get_pattern("term_kinds")
_IDENTIFIER = r"[A-Za-z_][\w.+-]{0,80}"
#: Each begins where a word does, or has a limit, so that no text makes it look at all of it again and again.
_TERM = re.compile(
    "|".join(
        (
            r"(?::\w+:)?`(?P<code>[^`\n]{1,60})`(?!`)_?",
            r"\b(?:https?|ftp|file|git|ssh)://[^\s<>\"')\]]+[\w/]",
            r"(?<![\w.+-])[\w.+-]+@[\w-]+(?:\.[\w-]+)+",
            r"</?[A-Za-z][\w-]*(?: [\w.*-]+)?/?>",
            r"\$\{[^}\s]{1,40}\}|\$[A-Za-z_]\w*",
            r"(?<![\w/.-])(?:~|\.{1,2}|[A-Za-z]:)?(?:/[\w.+*@%-]*\w)+/?",
            r"(?<![\w/.+-])[\w.+-]+(?:/[\w.+*-]+){2,}/?",
            rf"(?<![\w.*+~-])[\w*][\w*+~-]*(?:\.[\w+~-]+)*\.(?:{_FILE_ENDING})(?!\.*\w)",
            r"(?<![\w%-])--?[A-Za-z][\w-]*+(?:=[\w./<>-]{1,200})?(?![\w-]*,? ?-)",
            rf"\b{_IDENTIFIER}(?:\(\)|\([1-9][a-z]{{0,3}}\))",
            r"\b\w+(?:::\w+)+",
            r"\b[A-Za-z0-9]*[A-Za-z0-9]_\w*[A-Za-z0-9](?:\([\w ,*&.]{0,30}\))?",
            r"\bv?\d+(?:\.\d+){2,}[\w.~+-]*\w|\bv?\d+(?:\.\d+){2,}",
            r"\b(?:[A-Za-z]{2,12}\d+[A-Za-z]?|UTF-(?:8|16|32))\b(?!-)",
        )
    )
)
_STAND_IN = re.compile(r"Zqx([a-p]+)zx")
#: Hexadecimal digits as letters, so that a number reads like a word.
_LETTERS = str.maketrans("0123456789abcdef", "abcdefghijklmnop")
_KIND_BEFORE = re.compile(rf"\b(?:[Tt]he|[Aa]n?|[Tt]his) (?:{_KINDS}) (?=Zqx[a-p]+zx)")
_KIND_BEHIND = re.compile(
    rf"(?:\b(?:[Tt]he|[Aa]n?|[Tt]his) )?(Zqx[a-p]+zx) (?:{_KINDS})\b"
    r"(?! (?:line|name|file|option|package|type|list)s?\b|-)"
)
_READS_LIKE = "Linux"


class Terms:
    """The technical terms of one passage, each with its stand-in."""

    def __init__(self) -> None:
        self._stand_ins: dict[str, str] = {}
        self._terms: dict[str, str] = {}

    def hide(self, text: str) -> str:
        """Return the text with a stand-in for each term."""
        hidden = _TERM.sub(self._replace, text)
        if hidden is not text and self._terms:
            hidden = _KIND_BEHIND.sub(r"\1", _KIND_BEFORE.sub("", hidden))
        return hidden

    def show(self, text: str) -> str:
        """Return the text with its terms again."""
        return _STAND_IN.sub(lambda match: self._terms.get(match[0], match[0]), text)

    def _replace(self, match: re.Match[str]) -> str:
        written = match["code"] or match[0]
        term = re.sub(r"\([^()]*\)$", "", written.strip()) or written
        stand_in = self._stand_ins.setdefault(term, f"Zqx{f'{len(self._terms):x}'.translate(_LETTERS)}zx")
        self._terms[stand_in] = term
        return stand_in


def is_stand_in(word: str) -> bool:
    """Return whether the word stands for a technical term."""
    return _STAND_IN.fullmatch(word) is not None


def make_readable(vocab: "Vocab", words: Iterable[str]) -> None:
    """Give stand-ins the features of a word that the parser knows for a proper noun."""
    known = vocab[_READS_LIKE]
    for word in words:
        lexeme = vocab[word]
        lexeme.norm, lexeme.shape, lexeme.prefix, lexeme.suffix = known.norm, known.shape, known.prefix, known.suffix


def find_stand_ins(text: str) -> list[str]:
    """Return the stand-ins of a text, once each."""
    return list(dict.fromkeys(match[0] for match in _STAND_IN.finditer(text)))
