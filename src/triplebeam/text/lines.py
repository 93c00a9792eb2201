"""Lines of texts as numbers: what lets a cache forget whatever quoted a text, without keeping the text.

Passages and facts are quoted in prompts line by line, under numbers such as ``[2]`` or ``3.``.
"""

import hashlib
import re
from collections.abc import Iterable

_NUMBERING = re.compile(r"^(?:(?:\[\d+\]|\d+\.)\s+)+")


def line_numbers(texts: Iterable[str]) -> set[int]:
    """Return a number for each line of the texts, the same wherever the line is quoted."""
    lines = {_NUMBERING.sub("", line.strip()).strip() for text in texts for line in text.splitlines()}
    return {_number(line) for line in lines if line}


def _number(line: str) -> int:
    digest = hashlib.blake2b(line.encode("utf-8", "surrogatepass"), digest_size=8).digest()
    return int.from_bytes(digest, signed=True)
