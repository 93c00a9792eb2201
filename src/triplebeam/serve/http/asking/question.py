"""What a question and a method may be when they come from outside."""

from fastapi import Request

from triplebeam.assemble import check_question as check_words
from triplebeam.assemble.method_names import retriever_parts, split_agent
from triplebeam.errors import BadInputError
from triplebeam.serve.http.limits import Limits

_METHOD_CHARACTERS = 500


def check_question(request: Request, question: str) -> None:
    """It has words, and not too many."""
    limits: Limits = request.app.state.limits
    limits.check_question(question)
    check_words(question)


def check_method(method: str) -> None:
    """It names no file: the client's files are not here, and the server's are not the client's to read."""
    if len(method) > _METHOD_CHARACTERS:
        raise BadInputError(f"the method has {len(method):,} characters: {_METHOD_CHARACTERS} are the most.")
    _, retriever = split_agent(method)
    if retriever and any("weights" in part.parameters for part in retriever_parts(retriever, method)):
        raise BadInputError(f"{method!r} names a file, and over HTTP none can be read: leave weights out.")
