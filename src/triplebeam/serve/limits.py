"""How much one request may ask for."""

import math
import sys
from dataclasses import dataclass
from pathlib import Path

from triplebeam.assemble import Method, check_question
from triplebeam.errors import BadInputError

MEGABYTE = 1_000_000
_METHOD_CHARACTERS = 500
_METHOD_PARTS = 4
_LARGEST_NUMBER = 10_000
#: Work grows with the product of the first four; the last two say how many samples a model is asked for at once.
_LARGEST = {"length": 10, "layers": 100, "width": 1000, "neighbours": 1000, "paths": 100, "samples": 100}


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
        """The method, parsed. Refuse a question that is empty or too long, and a method that asks for too much."""
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
    question_characters=sys.maxsize,
    search_seconds=math.inf,
    ask_seconds=math.inf,
    agents=32,
    searches=32,
)


def _check_method(method: Method) -> None:
    """A method must not read the server's files, nor ask for unreasonable work: a running search cannot be stopped."""
    if method.run:
        raise BadInputError(f"{method.text!r} names a file, which a server does not read.")
    if len(method.parts) > _METHOD_PARTS:
        raise BadInputError(f"{method.text!r} has {len(method.parts)} parts: a server accepts at most {_METHOD_PARTS}.")
    for part in method.every_part():
        for name, value in part.values.items():
            _check_parameter(method.text, name, value)


def _check_parameter(method: str, name: str, value: object) -> None:
    if isinstance(value, Path):
        raise BadInputError(f"{method!r} names a file, which a server does not read: leave {name} out.")
    most = _LARGEST.get(name, _LARGEST_NUMBER)
    if isinstance(value, int) and value > most:
        raise BadInputError(f"{name} is {value} in {method!r}: a server accepts at most {most:,}.")
