"""What a question and a method may be when they come from outside."""

from fastapi import Request

from triplebeam.assemble import check_question as check_words
from triplebeam.assemble.method_names import retriever_parts, split_agent
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


def check_method(method: str) -> None:
    """It names no file, since the server's are not the client's to read, and asks for no more work than is sensible:
    a search cannot be stopped once it runs.
    """
    if len(method) > _METHOD_CHARACTERS:
        raise BadInputError(f"the method has {len(method):,} characters: {_METHOD_CHARACTERS} are the most.")
    agent, retriever = split_agent(method)
    parts = retriever_parts(retriever, method) if retriever else []
    if len(parts) > _METHOD_PARTS:
        raise BadInputError(f"{method!r} has {len(parts)} parts: over HTTP {_METHOD_PARTS} are the most.")
    for part in [*([agent] if agent else []), *parts]:
        for name, value in part.parameters.items():
            _check_parameter(method, name, value)


def _check_parameter(method: str, name: str, value: str) -> None:
    if name == "weights":
        raise BadInputError(f"{method!r} names a file, and over HTTP none can be read: leave weights out.")
    most = _LARGEST.get(name, _LARGEST_NUMBER)
    if value.isdecimal() and int(value) > most:
        raise BadInputError(f"{name} is {value} in {method!r}: over HTTP {most:,} is the most.")
