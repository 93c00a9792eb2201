"""What a method takes in brackets: read off the class, or off the function that builds it.

A class's parameters are those of its fields that a person can type: numbers, yes or no, a choice of words. Its
collaborators (a retriever, a model, the passages) have other types, and so are none. A function that builds an object
adds its own keyword arguments. Bounds are the classes' own business: they refuse what they cannot use.
"""

import inspect
import math
from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass, fields, is_dataclass
from functools import cache
from pathlib import Path
from types import NoneType, UnionType
from typing import Any, Literal, Union, get_args, get_origin, get_type_hints

from triplebeam.errors import BadInputError, nearest
from triplebeam.retrieve.retriever import Retriever

_TYPED = (bool, int, float, str, Path, Retriever)


@dataclass(frozen=True)
class Parameter:
    """A name, the type of its value without ``None``, and its default."""

    name: str
    type: Any
    default: object
    is_field: bool
    """It is a field of the object that is built, and no argument of the function that builds it."""

    def read(self, text: str, method: str) -> object:
        """The value that a text means."""
        if get_origin(self.type) is Literal:
            return choice(self.name, text, get_args(self.type))
        if self.type is bool:
            if text not in ("yes", "no"):
                raise BadInputError(f"{self.name}={text} in {method!r} is not yes or no.")
            return text == "yes"
        try:
            value = self.type(text)
        except ValueError:
            value = math.nan
        if value != value:
            raise BadInputError(f"{self.name}={text} in {method!r} is not a number.")
        return value


@cache
def parameters_of(build: Callable[..., object]) -> Mapping[str, Parameter]:
    """The parameters of a class, or of a function and the class it says it returns."""
    if inspect.isclass(build):
        return _fields_of(build)
    hints = get_type_hints(build)
    own = {
        name: Parameter(name, _without_none(hints[name]), each.default, is_field=False)
        for name, each in inspect.signature(build).parameters.items()
        if each.kind is each.KEYWORD_ONLY
    }
    return _fields_of(hints["return"]) | own


def _fields_of(kind: type) -> dict[str, Parameter]:
    if not is_dataclass(kind):
        return {}
    hints = {name: _without_none(hint) for name, hint in get_type_hints(kind).items()}
    return {
        each.name: Parameter(each.name, hints[each.name], each.default, is_field=True)
        for each in fields(kind)
        if each.init and _can_be_typed(hints[each.name]) and hints[each.name] is not Retriever
    }


def _without_none(hint: Any) -> Any:
    """``int`` of ``int | None``."""
    kinds = [each for each in get_args(hint) if each is not NoneType]
    return kinds[0] if get_origin(hint) in (Union, UnionType) and len(kinds) == 1 else hint


def _can_be_typed(hint: Any) -> bool:
    return hint in _TYPED or get_origin(hint) is Literal


def choice(name: str, text: str, words: Iterable[str]) -> Any:
    """The word that was chosen, once it is known to be one of those there are."""
    if text not in words:
        raise BadInputError(f"{name}={text}{nearest(text, words)}: choose one of {', '.join(words)}.")
    return text
