"""Put right what a parser stumbles over: spaces around brackets and quotation marks, and typewriter dashes."""

import re

_REPAIRS = tuple(
    (re.compile(pattern), replacement)
    for pattern, replacement in (
        (r"``|''|[“”„]", '"'),
        (r"[‘’]", "'"),
        (r"(?<=\d) -- (?=\d)", "–"),
        (r"(?<=\w) - (?=\w)", "-"),
        (r" --? ", " – "),
        (r"(?<=\w)- (?=[A-Z])", "-"),
        (r"\(\s*", " ("),
        (r"\s+(?=[,;)])", ""),
        (r"\((?:[^\w()]|\b)*\)", ""),
        (r"\s+", " "),
    )
)
_QUOTED = re.compile(r'\s*"\s*([^"]*?)\s*"\s*')


def tidy(text: str) -> str:
    """The same words with the spacing of print: ``by( 1990)" Joe"`` becomes ``by (1990) "Joe"``."""
    for pattern, replacement in _REPAIRS:
        text = pattern.sub(replacement, text)
    if text.count('"') % 2 == 0:
        text = _QUOTED.sub(_set_apart, text)
    return text.strip()


def _set_apart(quoted: re.Match[str]) -> str:
    """Marks close around the words, with a space on the outside where a word or a bracket stands."""
    before = quoted.string[: quoted.start()][-1:]
    after = quoted.string[quoted.end() :][:1]
    left = "" if before in ("", "(") else " "
    right = " " if after.isalnum() or after in '("–' else ""
    return f'{left}"{quoted[1]}"{right}'
