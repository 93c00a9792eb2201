"""Text that files and databases can hold."""

import re

_UNSTORABLE = re.compile("[\0\ud800-\udfff]")


def storable(text: str) -> str:
    """Replace what cannot be stored as UTF-8: NUL, and lone surrogates (JSON escapes, cut characters, broken fonts)."""
    return _UNSTORABLE.sub("\ufffd", text)
