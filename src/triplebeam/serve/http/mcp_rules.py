"""The limits of the server, kept by the tools of the Model Context Protocol as by every other route."""

from collections.abc import Callable
from contextlib import AbstractContextManager
from dataclasses import dataclass
from typing import TypeVar

from triplebeam.assemble import Method
from triplebeam.serve.http.asking.question import check_method
from triplebeam.serve.http.library import Library
from triplebeam.serve.http.limits import Limits
from triplebeam.serve.http.workers import Workers
from triplebeam.serve.mcp import Rules

T = TypeVar("T")


@dataclass(frozen=True)
class ServerRules(Rules):
    """Questions have an end, methods name no file, and searches and agents run where all of them run."""

    library: Library
    limits: Limits
    workers: Workers

    def check(self, question: str, method: str) -> None:
        """Refuse what any route would."""
        self.limits.check_question(question)
        check_method(method)

    def search(self, function: Callable[[], T], method: str) -> T:
        """Run a search in its pool; one that calls a language model has a place among the agents."""
        if not Method.parse(method).uses_model or not self.library.can_ask:
            return self.workers.search_from_thread(function)
        with self.answering():
            return function()

    def answering(self) -> AbstractContextManager[None]:
        """A place among the agents."""
        return self.workers.agent_from_thread()

    def told(self, text: str) -> str:
        """Nothing of the server's folders."""
        return self.library.told(text)
