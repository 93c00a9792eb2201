"""In which language a text is written, as far as it matters here: is it English, and if not, what is it?"""

import re
from functools import cache
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from py3langid.langid import LanguageIdentifier

#: The commonest words of English that no other language's text is full of.
_COMMON_WORDS = (
    "the of and to a in is that it for was on with as are be this by at from or an which but not have has had he"
    " his her she they their its were been will can if when who you your i we our my all there these those than"
    " then also more into only other some such no so do does did may must should would could one each any after"
    " before between while where about over under through during because up out most them him me us what how just"
)
FUNCTION_WORDS = frozenset(_COMMON_WORDS.split())
_WORD = re.compile(r"[^\W\d_]+")
#: English prose has a third of such words or more, technical text a sixth; other languages have fewer than a tenth.
_ENGLISH_SHARE = 0.16
_FEWEST_LETTERS = 40
_PERHAPS_ENGLISH = 0.1


def foreign_language(text: str) -> str | None:
    """The code (``de``, ``zh``) of the language if it is surely not English; None for English, code, tables, scraps."""
    words = _WORD.findall(text)
    common = sum(word.lower() in FUNCTION_WORDS for word in words)
    if common >= _ENGLISH_SHARE * len(words) or len(" ".join(words).encode()) < _FEWEST_LETTERS:
        return None
    ranked = _identifier().rank(" ".join(words))
    return ranked[0][0] if dict(ranked)["en"] < _PERHAPS_ENGLISH else None


@cache
def _identifier() -> "LanguageIdentifier":
    from py3langid.langid import MODEL_FILE, LanguageIdentifier

    return LanguageIdentifier.from_model_file(MODEL_FILE, norm_probs=True)
