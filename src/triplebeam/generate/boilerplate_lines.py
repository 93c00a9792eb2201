"""Lines that every prompt of a template has, whatever it quotes: they say nothing about documents."""

import tomllib
from collections.abc import Iterator
from functools import cache
from importlib import resources
from importlib.resources.abc import Traversable

from triplebeam.generate.prompts import NOTED, read_template
from triplebeam.plugins import load_plugins
from triplebeam.text.lines import line_numbers

_FILLED_IN = ("", "(none)", "(nothing)", "(not found in the passages)")
"""How prompts write that there is nothing to show."""
_WRITTEN_IN_CODE = (NOTED, "Example passages:")


@cache
def load_boilerplate_lines() -> frozenset[int]:
    """Load the numbers of such lines: of all prompts of this package and its plugins, and of their worked examples."""
    packages = ("triplebeam.generate", *load_plugins("prompts"))
    texts = (text for package in packages for text in _texts(resources.files(package).joinpath("prompts")))
    return frozenset(line_numbers([*_FILLED_IN, *_WRITTEN_IN_CODE, *texts]))


def _texts(folder: Traversable) -> Iterator[str]:
    for file in folder.iterdir():
        if file.is_dir():
            yield from _texts(file)
        elif file.name.endswith(".md"):
            template = read_template(file.name, file.read_text(encoding="utf-8"))
            for nothing in _FILLED_IN:
                yield template.fill(**dict.fromkeys(template.variables, nothing)).user
        elif file.name.endswith(".toml"):
            yield from _words(tomllib.loads(file.read_text(encoding="utf-8")))


def _words(value: object) -> Iterator[str]:
    """Yield every text in a value of TOML."""
    if isinstance(value, str):
        yield value
    elif isinstance(value, dict):
        yield from _words(list(value.values()))
    elif isinstance(value, list):
        for each in value:
            yield from _words(each)
