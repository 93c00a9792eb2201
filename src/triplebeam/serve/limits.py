"""How much one request may ask for."""

import math
import sys
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from triplebeam.assemble import Method
from triplebeam.errors import BadInputError, check_question
from triplebeam.methods.gear import Cascade

MEGABYTE = 1_000_000
_METHOD_CHARACTERS = 500
_METHOD_PARTS = 4
_DEFAULT_MAX = 1000
_MAX_VALUES = {
    "length": 10,
    "layers": 20,
    "damping": 0.99,
    "paths": 100,
    "samples": 100,
    "tokens": 100_000,
    "seed": 2**31,
}
_MIN_VALUES = {"tolerance": 1e-8}
#: Triples in all chains that walks score, and in those that they encode, at about two milliseconds of CPU time.
_MAX_SCORED, _MAX_ENCODED = 100_000, 2000
#: A model may be called as often as these say, multiplied.
_CALLS = ("max_steps", "max_rounds", "attempts", "max_sentences", "paths", "samples", "seeds", "branches")
_MAX_CALLS = 1000


class QuestionTooLongError(BadInputError):
    """The question is longer than the server accepts."""


@dataclass(frozen=True, kw_only=True)
class Limits:
    """A server's limits; `triplebeam serve` has an option for most of them."""

    upload_bytes: int = 20 * MEGABYTE
    waiting_bytes: int = 1_000 * MEGABYTE
    """What was sent and is not indexed yet, in all; more is refused."""
    question_characters: int = 10_000
    search_seconds: float = 30.0
    ask_seconds: float = 600.0
    agents: int = 4
    """Agents running at once; one more is refused."""
    searches: int = 4
    """Searches running at once; more of them wait."""

    def check(self, question: str, method: str) -> Method:
        """Parse the method. Refuse a question that is empty or too long, and a method that asks for too much."""
        self.check_length(question)
        check_question(question)
        if len(method) > _METHOD_CHARACTERS:
            raise BadInputError(f"the method has {len(method):,} characters: the limit is {_METHOD_CHARACTERS}.")
        parsed = Method.parse(method)
        _check_method(parsed)
        return parsed

    def check_length(self, question: str) -> None:
        """Refuse a text that is too long for a question."""
        if len(question) > self.question_characters:
            raise QuestionTooLongError(
                f"the question has {len(question):,} characters, and the limit is {self.question_characters:,}:"
                " ask in fewer words."
            )


#: For a process that its own user started and that only this user reaches. A method names no file there either: the
#: one who writes it is a model.
UNLIMITED = Limits(
    question_characters=sys.maxsize, search_seconds=math.inf, ask_seconds=math.inf, agents=32, searches=32
)


def _check_method(method: Method) -> None:
    """Refuse a method that reads the server's files, or asks for more than a few seconds of CPU time."""
    if method.run:
        raise BadInputError(f"{method.text!r} names a file, which a server does not read.")
    if len(method.parts) > _METHOD_PARTS:
        raise BadInputError(f"{method.text!r} has {len(method.parts)} parts: a server accepts at most {_METHOD_PARTS}.")
    for part in method.every_part():
        for name, value in part.values.items():
            _check_parameter(method.text, name, value)
    _check_work(method)


def _check_parameter(method: str, name: str, value: object) -> None:
    if isinstance(value, Path):
        raise BadInputError(f"{method!r} names a file, which a server does not read: leave {name} out.")
    if not isinstance(value, int | float) or isinstance(value, bool):
        return
    least, most = _MIN_VALUES.get(name, -math.inf), _MAX_VALUES.get(name, _DEFAULT_MAX)
    if value > most and not (name == "diversity" and value == math.inf):  # which switches it off
        raise BadInputError(f"{name} is {value} in {method!r}: a server accepts at most {most:,}.")
    if value < least:
        raise BadInputError(f"{name} is {value} in {method!r}: a server accepts at least {least}.")


def _check_work(method: Method) -> None:
    """Multiply parameters: each may be large, but not all at once, nor in each of several parts."""
    scored, encoded, calls = 0, 0, 0
    for part in method.every_part():
        default = {name: each.default for name, each in part.row.parameters.items() if each.default is not None}
        values: dict[str, Any] = {"shortlist": Cascade.shortlist, **default, **part.values}
        factors = [values[name] for name in _CALLS if isinstance(values.get(name), int)]
        calls += math.prod(factors) if factors else 0
        if "neighbours" in values:
            # Each chain of two triples or more, at every step: 2 + 3 + … + length triples for each neighbour.
            length, neighbours = values["length"], values["neighbours"]
            triples = values["width"] * (length * (length + 1) // 2 - 1)
            shortlists = {"exact": neighbours, "cascade": min(neighbours, values["shortlist"]), "pooled": 0}
            scored += triples * neighbours
            encoded += triples * shortlists[values["scorer"]]
    work = {
        "triples to score": (scored, _MAX_SCORED),
        "triples to encode": (encoded, _MAX_ENCODED),
        "calls of a model": (calls, _MAX_CALLS),
    }
    for what, (amount, most) in work.items():
        if amount > most:
            raise BadInputError(f"{method.text!r} means {amount:,} {what}: a server accepts at most {most:,}.")
