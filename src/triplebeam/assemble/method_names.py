"""Reading a method's name.

A retriever is a base, then ``+`` what expands it: ``hybrid+naive_ge``. ``@triples`` behind a base searches the triples
instead of the passages. An agent stands in front, with ``:``: ``gear:hybrid``. Parameters stand in brackets behind what
they belong to: ``hybrid+naive_ge[scorer=exact,diversity=inf]``, ``gear[max_steps=2]:hybrid``.
"""

import difflib
import re
from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass
from typing import Any, TypeAlias

from triplebeam.errors import BadInputError

#: The parameters a part takes in brackets, each with what reads its value.
Parameters: TypeAlias = Mapping[str, Callable[[str], object]]

_WALK: Parameters = {"base_k": int, "width": int, "length": int, "neighbours": int, "diversity": float}
_EXPANSION: Parameters = {**_WALK, "scorer": str, "shortlist": int}
BASES: Mapping[str, Parameters] = {"bm25": {}, "dense": {}, "hybrid": {"depth": int, "constant": float}}
EXPANSIONS: Mapping[str, Parameters] = {"naive_ge": _EXPANSION, "sync_ge": _EXPANSION}
AGENTS: Mapping[str, Parameters] = {
    "gear": {"max_steps": int, "retrieved": int, "read": int, "linked": int, "answered_from": int},
    "single_step": {"retrieved": int, "answered_from": int},
    "auto": {"max_steps": int},
    "ircot": {"max_steps": int, "retrieved": int, "collected": int, "answered_from": int},
}

_PART = re.compile(r"(?P<name>[^@\[\]]+)(@(?P<over>[^\[\]]+))?(\[(?P<parameters>[^\[\]]*)\])?")


@dataclass(frozen=True)
class Part:
    """One part of a method's name, read but not yet believed."""

    name: str
    over: str
    parameters: Mapping[str, str]
    method: str

    def values(self, known: Mapping[str, Parameters], role: str) -> dict[str, Any]:
        """The parameters as values, once the name and they are known to be right."""
        if self.name not in known:
            raise BadInputError(
                f"there is no {role} {self.name!r} in the method {self.method!r}{nearest(self.name, known)};"
                f" known are {', '.join(known)}."
            )
        allowed = known[self.name]
        return {name: self._value(name, text, allowed) for name, text in self.parameters.items()}

    def _value(self, name: str, text: str, allowed: Parameters) -> object:
        if name not in allowed:
            takes = f"it takes {', '.join(allowed)}" if allowed else "it takes none"
            raise BadInputError(f"{self.name} has no parameter {name!r}{nearest(name, allowed)}; {takes}.")
        try:
            value = allowed[name](text)
        except ValueError:
            raise BadInputError(f"{name}={text} in {self.method!r} is not a number.") from None
        if isinstance(value, int | float) and not value > 0:
            raise BadInputError(f"{name}={text} in {self.method!r} must be above 0.")
        return value


def split_agent(method: str) -> tuple[Part | None, str]:
    """The agent in front, if one is named, and the retriever's name, which may be empty behind an agent."""
    head, colon, rest = method.partition(":")
    if colon:
        return parse(head, method), rest
    return (parse(method, method), "") if re.split(r"[\[+@]", method.strip())[0] in AGENTS else (None, method)


def retriever_parts(retriever: str, method: str) -> list[Part]:
    """The base and what expands it."""
    return [parse(part, method) for part in retriever.split("+")]


def parse(text: str, method: str) -> Part:
    """One part."""
    match = _PART.fullmatch(text.strip())
    over = (match["over"] or "passages") if match else ""
    if not match or over not in ("passages", "triples"):
        raise BadInputError(
            f"the method {method!r} cannot be read at {text!r}: write a base, + what expands it, parameters in"
            " brackets, such as hybrid+naive_ge[scorer=exact], bm25@triples or gear:hybrid."
        )
    pairs = [pair.partition("=") for pair in (match["parameters"] or "").split(",") if pair.strip()]
    return Part(match["name"], over, {name.strip(): value.strip() for name, _, value in pairs}, method)


def nearest(name: str, known: Iterable[str]) -> str:
    """What was probably meant."""
    near = difflib.get_close_matches(name, list(known), n=1)
    return f" (did you mean {near[0]!r}?)" if near else ""
