"""Who pays for what: calls made anywhere below count towards the account that is open in this thread.

A retriever gives back a ranking and nothing else, yet its reader may have called a model. An agent opens an account for
a step; models wrapped in `Accounted` put their usage on it, and whoever had to go on without a model's reply says so
there.
"""

from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from contextvars import ContextVar
from dataclasses import dataclass, field

from triplebeam.generate.language_model import Completion, LanguageModel, Prompt, Usage
from triplebeam.generate.outcomes import Outcome, outcomes_of


@dataclass(slots=True)
class Account:
    """What was used while the account was open, and what went wrong without stopping the work."""

    usage: Usage = field(default_factory=Usage)
    problems: list[str] = field(default_factory=list)


_OPEN: ContextVar[tuple[Account, ...]] = ContextVar("open_accounts", default=())


@contextmanager
def account() -> Iterator[Account]:
    """An account for the calls inside; an outer account sees them too."""
    opened = Account()
    token = _OPEN.set((*_OPEN.get(), opened))
    try:
        yield opened
    finally:
        _OPEN.reset(token)


def note_problem(problem: Exception) -> None:
    """Put what went wrong on the open accounts; where nobody keeps one, it is raised instead of lost."""
    if not _OPEN.get():
        raise problem
    remark(str(problem))


def remark(words: str) -> None:
    """Put a small loss on the open accounts: something to tell, nothing to stop for."""
    for opened in _OPEN.get():
        opened.problems.append(words)


@dataclass(frozen=True)
class Accounted:
    """A model whose calls count towards the open accounts."""

    model: LanguageModel

    @property
    def name(self) -> str:
        """The name of the model within."""
        return self.model.name

    def complete(self, prompts: Sequence[Prompt]) -> list[Completion]:
        """What the model within says."""
        completions = self.model.complete(prompts)
        _charge(completions)
        return completions

    def outcomes(self, prompts: Sequence[Prompt]) -> list[Outcome]:
        """What became of each prompt; completions are charged though others of the batch fail."""
        outcomes = outcomes_of(self.model, prompts)
        _charge([outcome for outcome in outcomes if isinstance(outcome, Completion)])
        return outcomes


def _charge(completions: Sequence[Completion]) -> None:
    for opened in _OPEN.get():
        opened.usage = sum((completion.usage for completion in completions), opened.usage)
