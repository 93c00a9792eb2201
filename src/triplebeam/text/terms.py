"""From a text in any language to the words that the term index holds.

Accents and vowel signs that a writer may leave out are removed, letters are lower-cased and spelled in ASCII where they
have such a spelling (ß is ss, ø is o), and words are stemmed: by the Snowball stemmer of the passage's language where
there is one, else by the English one, which changes no letters but Latin ones. Folding comes before stemming, so that a
word typed without its accents gets the stem of the same word with them.

Chinese, Japanese, Thai, Lao, Khmer and Burmese are written without spaces, and Korean writes particles onto its words:
texts in these scripts are indexed as pairs of neighbouring characters, and as single ones for queries of one character.

Function words and question words are left out of a *query* unless it has no others, so that "What is it?" does not rank
passages by "what" and "is", and a film called "It" can still be found.
"""

import re
from collections.abc import Iterable
from functools import cache
from importlib.metadata import version
from itertools import pairwise
from typing import Any
from unicodedata import normalize

from triplebeam.text.language import foreign_language

ENGLISH = "english"
#: What words are made by: raised with every change of the rules below, so that words made by others are made again.
ANALYZER = f"1, tantivy {version('tantivy')}"
_STEMMERS = {
    "ar": "arabic",
    "da": "danish",
    "de": "german",
    "el": "greek",
    "es": "spanish",
    "fi": "finnish",
    "fr": "french",
    "hu": "hungarian",
    "it": "italian",
    "nb": "norwegian",
    "nl": "dutch",
    "nn": "norwegian",
    "no": "norwegian",
    "pt": "portuguese",
    "ro": "romanian",
    "ru": "russian",
    "sv": "swedish",
    "ta": "tamil",
    "tr": "turkish",
}
#: Words that say nothing about what a question asks for.
_FUNCTION_WORDS = (
    "a an and are as at be been but by did do does for from had has have he her his how if in into is it its no not of"
    " on or she such than that the their then there these they this to was were what when where which who whom whose"
    " why will with"
)
#: Bytes; what is longer is no word of any language, and no digest either.
_LONGEST = 256
#: Letters and digits, with the signs that Indian scripts put on and between them.
_WORD = r"[\p{Alphabetic}\p{N}][\p{Alphabetic}\p{N}\p{M}]*"
#: Latin, Greek and Cyrillic accents (й, ў and ї are letters of their own), Hebrew points, Arabic vowel signs and
#: elongation, joiners, variants of signs.
_OPTIONAL_MARKS = re.compile(
    "[\u0300-\u0305\u0307\u0309-\u036f]|(?<![иуИУ])\u0306|(?<![іІ])\u0308"
    "|[\u0591-\u05bd\u05bf\u05c1\u05c2\u05c4\u05c5\u05c7\u0640\u064b-\u065f\u0670\u200d\u20d0-\u20f0\ufe00-\ufe0f]"
)
#: Runs of Thai and Lao, Burmese, Khmer, kana, Bopomofo, Chinese characters, Hangul, and kana of half width.
_UNSPACED = re.compile(
    "[\u0e01-\u0e4e\u0e81-\u0ece\u1000-\u103f\u1050-\u109f\u1100-\u11ff\u1780-\u17d3\u3005-\u3007\u3041-\u309a"
    "\u309d-\u309f\u30a1-\u30fa\u30fc-\u30ff\u3105-\u318e\u31f0-\u31ff\u3400-\u4dbf\u4e00-\u9fff\uac00-\ud7a3\uf900-\ufaff"
    "\uff66-\uff9f\U00020000-\U0003ffff]+"
)


def stemmer_for(text: str) -> str:
    """The name of the stemmer for a passage: that of its language, or the English one."""
    return _STEMMERS.get(foreign_language(text) or "", ENGLISH)


def text_words(text: str, stemmer: str = ENGLISH) -> list[str]:
    """The words of a text, as they are indexed."""
    spaced, runs = _parted(text)
    return _stems(spaced, stemmer) + [part for run in runs for part in (*run, *_pairs(run))]


def query_words(query: str) -> list[str]:
    """The words of a query that are searched for, as English passages have them."""
    return [stems[ENGLISH] for stems in query_stems(query, [])]


def query_stems(query: str, stemmers: Iterable[str]) -> list[dict[str, str]]:
    """For each word of a query that is searched for, its stems by stemmer: by the English one, and by ``stemmers``."""
    spaced, runs = _parted(query)
    names = list(dict.fromkeys([ENGLISH, *stemmers]))
    stems = zip(*(_stems(spaced, stemmer) for stemmer in names), strict=True)
    words = [dict(zip(names, of_one_word, strict=True)) for of_one_word in stems]
    words += [{ENGLISH: part} for run in runs for part in (_pairs(run) or run)]
    return [word for word in words if word[ENGLISH] not in _ignored()] or words


def _parted(text: str) -> tuple[str, list[str]]:
    """A text without its optional marks: what has spaces between words, and the runs that have none."""
    if text.isascii():
        return text, []
    folded = normalize("NFC", _OPTIONAL_MARKS.sub("", normalize("NFD", text)))
    runs = [normalize("NFKC", run) for run in _UNSPACED.findall(folded)]
    return (_UNSPACED.sub(" ", folded), runs) if runs else (folded, runs)


def _pairs(run: str) -> list[str]:
    return ["".join(pair) for pair in pairwise(run)]


def _stems(text: str, stemmer: str) -> list[str]:
    words: list[str] = _analyzer(stemmer).analyze(text)
    return words


@cache
def _ignored() -> frozenset[str]:
    return frozenset(text_words(_FUNCTION_WORDS))


@cache
def _analyzer(stemmer: str) -> Any:
    import tantivy

    return (
        tantivy.TextAnalyzerBuilder(tantivy.Tokenizer.regex(_WORD))
        .filter(tantivy.Filter.remove_long(_LONGEST))
        .filter(tantivy.Filter.lowercase())
        .filter(tantivy.Filter.ascii_fold())
        .filter(tantivy.Filter.stemmer(stemmer))
        .build()
    )
