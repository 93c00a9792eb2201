"""From a text in any language to the words that the term index holds; and which language that is.

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
from collections.abc import Iterable, Iterator
from functools import cache, lru_cache
from importlib.metadata import version
from itertools import pairwise
from typing import TYPE_CHECKING, Any
from unicodedata import normalize

from triplebeam.text.characters import CHINESE_AND_JAPANESE, HANGUL, UNSPACED
from triplebeam.text.stop_words import FUNCTION_WORDS, QUERY_STOP_WORDS, word_set
from triplebeam.text.words import LETTERS, WORD, compile_word

if TYPE_CHECKING:
    from py3langid.langid import LanguageIdentifier

ENGLISH = "english"
#: Raised with every change of the rules below.
_RULES = 1
_STEMMERS = dict(
    pair.split(":")
    for pair in word_set(
        "ar:arabic da:danish de:german el:greek es:spanish fi:finnish fr:french hu:hungarian it:italian nb:norwegian "
        "nl:dutch nn:norwegian no:norwegian pt:portuguese ro:romanian ru:russian sv:swedish ta:tamil tr:turkish"
    )
)
#: Bytes; what is longer is no word of any language, and no digest either.
_MAX_WORD_CHARACTERS = 256
#: Letters and digits, with the signs that Indian scripts put on and between them.
_WORD = r"[\p{Alphabetic}\p{N}][\p{Alphabetic}\p{N}\p{M}]*"
#: Latin, Greek and Cyrillic accents (й, ў and ї are letters of their own), Hebrew points, Arabic vowel signs and
#: elongation, joiners, variants of signs.
_OPTIONAL_MARKS = re.compile(
    "[\u0300-\u0305\u0307\u0309-\u036f]|(?<![иуИУ])\u0306|(?<![іІ])\u0308"
    "|[\u0591-\u05bd\u05bf\u05c1\u05c2\u05c4\u05c5\u05c7\u0640\u064b-\u065f\u0670\u200d\u20d0-\u20f0\ufe00-\ufe0f]"
)
#: From Thai to Khmer, and from kana on: all scripts without spaces are there, and few others. Their own classes take
#: Python milliseconds to compile: `re` does so, and keeps them, when a text has such a character.
_MAY_BE_UNSPACED = re.compile("[^\0-\u0e00\u17d4-\u3004]")
#: Of these scripts, each character has a place in the text: folding leaves it one character.
_EAST_ASIAN = f"{CHINESE_AND_JAPANESE}{HANGUL}"
_EAST_ASIAN_RUN, _UNSPACED_RUN = rf"[{_EAST_ASIAN}]+", rf"[{UNSPACED}]+"
#: English prose has a third of such words or more, technical text a sixth; other languages have fewer than a tenth.
_MIN_ENGLISH_SHARE = 0.16
_MIN_LETTERS = 40
#: With a tenth of them, a text may still be English that is full of foreign names, or of code.
_MAX_FOREIGN_SHARE = 0.1
#: The code of what is no language, such as encoded data.
_NO_LANGUAGE = "zxx"


@cache
def name_analyzer() -> str:
    """Name what words are made by, so that words made by others are made again."""
    return f"{_RULES}, tantivy {version('tantivy')}"


def stemmer_for(text: str) -> str:
    """Return the name of the stemmer for a passage: that of its language, or the English one."""
    return _STEMMERS.get(detect_foreign_language(text) or "", ENGLISH)


def detect_foreign_language(text: str) -> str | None:
    """Return the code (``de``, ``zh``) of a language that is surely not English; else None, as for code and tables."""
    words = LETTERS.findall(text)
    common = sum(word.lower() in FUNCTION_WORDS for word in words)
    letters = " ".join(words)
    if common >= _MIN_ENGLISH_SHARE * len(words) or len(letters.encode()) < _MIN_LETTERS:
        return None
    ranked = _identifier().rank(letters)
    (language, best), english = ranked[0], dict(ranked)["en"]
    # Lists of names look like some language or other, mostly like a rare one: the margin has to be clear.
    if common < _MAX_FOREIGN_SHARE * len(words):
        is_clear = best >= 0.95 or english < 1e-6
    else:
        is_clear = best >= 0.99 and english < 1e-4
    return language if language != "en" and (is_clear or _is_in_another_script(letters)) else None


def is_language_throughout(text: str, language: str) -> bool:
    """Return whether each half of a text is in the language. The halves of code and tables look like two."""
    words = LETTERS.findall(text)
    halves = words[: len(words) // 2], words[len(words) // 2 :]
    return language != _NO_LANGUAGE and all(_identifier().rank(" ".join(half))[0][0] == language for half in halves)


def _is_in_another_script(letters: str) -> bool:
    """Return whether most of the bytes are of letters that no Latin alphabet has."""
    other = sum(len(letter.encode()) for letter in letters if letter > "\u024f")
    return 2 * other > len(letters.encode())


def text_words(text: str, stemmer: str = ENGLISH) -> list[str]:
    """Return the words of a text, as they are indexed."""
    spaced, runs = _split_unspaced(text)
    return _stems(spaced, stemmer) + [part for run in runs for part in (*run, *_pairs(run))]


def query_words(query: str) -> list[str]:
    """Return the words of a query that are searched for, as English passages have them."""
    return [stems[ENGLISH] for stems in query_stems(query, [])]


def query_stems(query: str, stemmers: Iterable[str]) -> list[dict[str, str]]:
    """Return for each searched word of a query its stems by stemmer: by the English one, and by ``stemmers``."""
    spaced, runs = _split_unspaced(query)
    names = list(dict.fromkeys([ENGLISH, *stemmers]))
    stems = zip(*(_stems(spaced, stemmer) for stemmer in names), strict=True)
    words = [dict(zip(names, of_one_word, strict=True)) for of_one_word in stems]
    words += [{ENGLISH: part} for run in runs for part in (_pairs(run) or run)]
    return [word for word in words if word[ENGLISH] not in _stem_stop_words()] or words


def words_in(text: str, stemmer: str = ENGLISH) -> set[str]:
    """Collect the words of a text that is shown, as they are compared with those of a question."""
    return {word for written in set(_written_word(text).findall(text)) for word in _stem_word(written, stemmer)}


def locate_words(text: str, stemmer: str = ENGLISH) -> Iterator[tuple[int, int, str]]:
    """Give the words of a text as `words_in` does, each with its place."""
    for match in _written_word(text).finditer(text):
        start, end = match.span()
        for place, word in enumerate(_stem_word(match[0], stemmer)):
            first = start + place // 2
            yield (first, first + len(word), word) if is_unspaced(match[0]) else (start, end, word)


def is_unspaced(word: str) -> bool:
    """Return whether the word is of a script in which a single character is a word."""
    return _MAY_BE_UNSPACED.match(word) is not None and re.match(_EAST_ASIAN_RUN, word) is not None


def _written_word(text: str) -> re.Pattern[str]:
    """Return the pattern of a word in a text: a run of East Asian characters, or of others."""
    if not _MAY_BE_UNSPACED.search(text):
        return WORD
    return re.compile(rf"{_EAST_ASIAN_RUN}|{compile_word(without=f'_{_EAST_ASIAN}').pattern}")


@lru_cache(1 << 15)
def _stem_word(written: str, stemmer: str) -> tuple[str, ...]:
    """Stem a word as the term index does; where no spaces are written, give each character, alone and with the next.

    Most words of a text are common ones, and stemming each time took most of the time of a search over HTTP.
    """
    if is_unspaced(written):
        return tuple(written[place : place + length] for place in range(len(written)) for length in (1, 2))
    return tuple(text_words(written, stemmer))


def _split_unspaced(text: str) -> tuple[str, list[str]]:
    """Split a text, without its optional marks, into what has spaces between words and the runs that have none."""
    if text.isascii():
        return text, []
    folded = normalize("NFC", _OPTIONAL_MARKS.sub("", normalize("NFD", text)))
    if not _MAY_BE_UNSPACED.search(folded):
        return folded, []
    runs = [normalize("NFKC", run) for run in re.findall(_UNSPACED_RUN, folded)]
    return (re.sub(_UNSPACED_RUN, " ", folded), runs) if runs else (folded, runs)


def _pairs(run: str) -> list[str]:
    return ["".join(pair) for pair in pairwise(run)]


def _stems(text: str, stemmer: str) -> list[str]:
    words: list[str] = _analyzer(stemmer).analyze(text)
    return words


@cache
def _stem_stop_words() -> frozenset[str]:
    return frozenset(text_words(" ".join(QUERY_STOP_WORDS)))


@cache
def _identifier() -> "LanguageIdentifier":
    from py3langid.langid import MODEL_FILE, LanguageIdentifier

    return LanguageIdentifier.from_model_file(MODEL_FILE, norm_probs=True)


@cache
def _analyzer(stemmer: str) -> Any:
    import tantivy

    return (
        tantivy.TextAnalyzerBuilder(tantivy.Tokenizer.regex(_WORD))
        .filter(tantivy.Filter.remove_long(_MAX_WORD_CHARACTERS))
        .filter(tantivy.Filter.lowercase())
        .filter(tantivy.Filter.ascii_fold())
        .filter(tantivy.Filter.stemmer(stemmer))
        .build()
    )
