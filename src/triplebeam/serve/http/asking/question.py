"""What a question and a method may be when they come from outside."""

from pathlib import Path as FilePath

from fastapi import Request

from triplebeam.assemble import Method
from triplebeam.assemble import check_question as check_words
from triplebeam.errors import BadInputError
from triplebeam.serve.http.limits import Limits

_METHOD_CHARACTERS = 500
_METHOD_PARTS = 4
_LARGEST_NUMBER = 10_000
#: Work grows with the product of the first four; a model is asked as often as the last two say, all at once.
_LARGEST = {"length": 10, "layers": 100, "width": 1000, "neighbours": 1000, "paths": 100, "samples": 100}


def check_question(request: Request, question: str) -> None:
    """It has words, and not too many."""
    limits: Limits = request.app.state.limits
    limits.check_question(question)
    check_words(question)


def check_method(text: str) -> Method:
    """The method, parsed. It names no file, since the server's are not the client's to read, and asks for no more work
    than is sensible: a search cannot be stopped once it runs.
    """
    if len(text) > _METHOD_CHARACTERS:
        raise BadInputError(f"the method has {len(text):,} characters: {_METHOD_CHARACTERS} are the most.")
    method = Method.parse(text)
    if method.run:
        raise BadInputError(f"{text!r} names a file, and over HTTP none can be read.")
    if len(method.parts) > _METHOD_PARTS:
        raise BadInputError(f"{text!r} has {len(method.parts)} parts: over HTTP {_METHOD_PARTS} are the most.")
    for part in method.every_part():
        for name, value in part.values.items():
            _check_parameter(text, name, value)
    return method


def _check_parameter(method: str, name: str, value: object) -> None:
    if isinstance(value, FilePath):
        raise BadInputError(f"{method!r} names a file, and over HTTP none can be read: leave {name} out.")
    most = _LARGEST.get(name, _LARGEST_NUMBER)
    if isinstance(value, int) and value > most:
        raise BadInputError(f"{name} is {value} in {method!r}: over HTTP {most:,} is the most.")
