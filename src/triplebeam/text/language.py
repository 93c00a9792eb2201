"""In which language a text is written, as far as it matters here: is it English, and if not, what is it?"""

from functools import cache
from typing import TYPE_CHECKING

from triplebeam.text.stop_words import FUNCTION_WORDS
from triplebeam.text.words import LETTERS

if TYPE_CHECKING:
    from py3langid.langid import LanguageIdentifier

#: English prose has a third of such words or more, technical text a sixth; other languages have fewer than a tenth.
_MIN_ENGLISH_SHARE = 0.16
_MIN_LETTERS = 40
#: With a tenth of them, a text may still be English that is full of foreign names, or of code.
_MAX_FOREIGN_SHARE = 0.1
#: The code of what is no language, such as encoded data.
_NO_LANGUAGE = "zxx"


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


@cache
def _identifier() -> "LanguageIdentifier":
    from py3langid.langid import MODEL_FILE, LanguageIdentifier

    return LanguageIdentifier.from_model_file(MODEL_FILE, norm_probs=True)
