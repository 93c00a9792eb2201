"""Text that files and databases can hold, and that terminals can show."""

import re

#: All but tabs and line ends: they move the cursor, clear the screen, set titles and links, or turn the text around.
_COMMANDS = re.compile("[\x00-\x08\x0b-\x1f\x7f-\x9f\u202a-\u202e\u2066-\u2069]")
_UNSTORABLE = re.compile("[\0\ud800-\udfff]")


def storable(text: str) -> str:
    """Replace what cannot be stored as UTF-8: NUL, and lone surrogates (JSON escapes, cut characters, broken fonts)."""
    return _UNSTORABLE.sub("\ufffd", text)


def showable(text: str) -> str:
    """Replace what a terminal would obey and not show."""
    return _COMMANDS.sub("\ufffd", text)
