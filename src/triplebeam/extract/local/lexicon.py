"""Word lists that the rules use, read once from ``lexicon.toml``."""

import tomllib
from pathlib import Path

_LISTS: dict[str, str] = tomllib.loads(Path(__file__).with_name("lexicon.toml").read_text(encoding="utf-8"))


def get_words(name: str) -> frozenset[str]:
    """Return the words of a list."""
    return frozenset(_LISTS[name].split())


def get_pattern(name: str) -> str:
    """Return the words of a list as alternatives of a regular expression."""
    return "|".join(_LISTS[name].split())
