"""Characters: which ones files, databases and terminals can hold, which are accents or white space, which scripts have
no spaces.
"""

import re
import unicodedata

#: All but tabs and line ends: they move the cursor, clear the screen, set titles and links, or turn the text around.
_COMMANDS = re.compile("[\x00-\x08\x0b-\x1f\x7f-\x9f\u202a-\u202e\u2066-\u2069]")
_UNSTORABLE = re.compile("[\0\ud800-\udfff]")
#: Kana, Bopomofo and Chinese characters, as in a class of a regular expression.
CHINESE_AND_JAPANESE = (
    "\u3005-\u3007\u3041-\u309a\u309d-\u309f\u30a1-\u30fa\u30fc-\u30ff\u3105-\u312f\u31f0-\u31ff"
    "\u3400-\u4dbf\u4e00-\u9fff\uf900-\ufaff\U00020000-\U0003ffff"
)
HANGUL = "\u1100-\u11ff\u3131-\u318e\uac00-\ud7a3"
_THAI_AND_LAO, _BURMESE, _KHMER = "\u0e01-\u0e4e\u0e81-\u0ece", "\u1000-\u103f\u1050-\u109f", "\u1780-\u17d3"
_HALF_WIDTH_KANA = "\uff66-\uff9f"
#: Scripts without spaces between words; Korean has spaces, and writes particles onto its words.
UNSPACED = f"{CHINESE_AND_JAPANESE}{HANGUL}{_THAI_AND_LAO}{_BURMESE}{_KHMER}{_HALF_WIDTH_KANA}"


def replace_unstorable(text: str) -> str:
    """Replace what cannot be stored as UTF-8: NUL, and lone surrogates (JSON escapes, cut characters, broken fonts)."""
    return _UNSTORABLE.sub("\ufffd", text)


def replace_control_characters(text: str) -> str:
    """Replace what a terminal would obey and not show."""
    return _COMMANDS.sub("\ufffd", text)


def strip_accents(text: str) -> str:
    """Strip accents, and spell ligatures and wide letters with plain ones."""
    return "".join(each for each in unicodedata.normalize("NFKD", text) if not unicodedata.combining(each))


def trim_span(text: str, start: int, end: int) -> tuple[int, int] | None:
    """Narrow a span to what is not white space; nothing if that is all there is."""
    stretch = text[start:end]
    inner = stretch.strip()
    start += len(stretch) - len(stretch.lstrip())
    return (start, start + len(inner)) if inner else None
