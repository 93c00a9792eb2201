"""What a step cost: calls made anywhere below count towards the account that is open in this thread.

A retriever returns a ranking and nothing else, yet its reader may have called a model. An agent opens an account for a
step; models wrapped in `Accounted` charge their usage to it, and code that had to go on without a model's reply notes
that there. `compute_cost` turns usage into US dollars, where the model's price is known.

A later prompt of an agent may repeat what an earlier reply said of a document, in words that no document has. So
`follow_run` notes the replies of a run: a reply is cached with the numbers of those before it, and forgotten with any.
"""

import re
import tomllib
from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager
from contextvars import ContextVar
from dataclasses import dataclass, field
from functools import cache
from importlib import resources
from typing import NamedTuple

from triplebeam.generate.language_model import BatchWrapper, Completion, Outcome, Prompt, Usage, outcomes_of
from triplebeam.system.work import check_cancelled


@dataclass(slots=True)
class Account:
    """What was used while the account was open, and what went wrong without stopping the work."""

    usage: Usage = field(default_factory=Usage)
    problems: list[str] = field(default_factory=list)
    failure: str | None = None
    """Why the last reply could not be used; empty where it could, None where no reply was asked for."""


_DATE = re.compile(r"-\d{4}-\d{2}-\d{2}$")
_OPEN: ContextVar[tuple[Account, ...]] = ContextVar("open_accounts", default=())


@contextmanager
def account() -> Iterator[Account]:
    """Open an account for the calls inside; an outer account sees them too."""
    opened = Account()
    token = _OPEN.set((*_OPEN.get(), opened))
    try:
        yield opened
    finally:
        _OPEN.reset(token)


def note_problem(problem: Exception) -> None:
    """Note what went wrong on the open accounts; where none is open, it is raised instead of lost."""
    if not _OPEN.get():
        raise problem
    note_warning(str(problem))


def note_warning(words: str) -> None:
    """Note a small loss on the open accounts: something to report, nothing to stop for."""
    for opened in _OPEN.get():
        opened.problems.append(words)


def note_last_reply(failure: str = "") -> None:
    """Note on the open accounts whether the last reply could be used, or why it could not."""
    for opened in _OPEN.get():
        opened.failure = failure


class Accounted(BatchWrapper):
    """A model whose calls count towards the open accounts; it is not called once the caller's thread is cancelled."""

    def outcomes(self, prompts: Sequence[Prompt]) -> list[Outcome]:
        """Return the outcome of each prompt; completions are charged even if another prompt of the batch fails."""
        check_cancelled()
        outcomes = outcomes_of(self.model, prompts)
        for opened in _OPEN.get():
            opened.usage = sum((each.usage for each in outcomes if isinstance(each, Completion)), opened.usage)
        return outcomes


#: The number of an earlier reply that nobody knows: one of a conversation, say. What follows it is forgotten whenever
#: anything is.
UNKNOWN_ORIGIN = 0

_SHOWN: ContextVar[set[int] | None] = ContextVar("replies_shown", default=None)


@contextmanager
def follow_run(shown: set[int]) -> Iterator[None]:
    """Note replies in ``shown``, and count these as shown to the prompts inside. A run within a run is a part of it."""
    token = _SHOWN.set(shown) if _SHOWN.get() is None else None
    try:
        yield
    finally:
        if token:
            _SHOWN.reset(token)


def replies_shown() -> frozenset[int]:
    """Return the numbers of the replies that a prompt may repeat now."""
    return frozenset(_SHOWN.get() or ())


def note_reply(number: int) -> None:
    """Note that later prompts of the run may repeat a reply."""
    shown = _SHOWN.get()
    if shown is not None and UNKNOWN_ORIGIN not in shown:
        shown.add(number)


class Price(NamedTuple):
    """US dollars for a million tokens."""

    input: float
    output: float


@cache
def load_prices() -> Mapping[str, Price]:
    """Load the prices that come with the package."""
    text = resources.files("triplebeam.generate").joinpath("prices.toml").read_text(encoding="utf-8")
    return {model: Price(**entry) for model, entry in tomllib.loads(text).items()}


def find_price(model: str, own_prices: Mapping[str, Price] | None = None) -> Price | None:
    """Find a model's price: the user's own, else the package's; a dated release has the price of its model."""
    prices = {**load_prices(), **(own_prices or {})}
    return prices.get(model) or prices.get(_DATE.sub("", model))


def compute_cost(usage: Usage, model: str, own_prices: Mapping[str, Price] | None = None) -> float | None:
    """Compute the cost of a usage in US dollars; None where the model's price is unknown. Cached calls cost nothing."""
    known = find_price(model, own_prices)
    if known is None:
        return None
    return (usage.tokens_in * known.input + usage.tokens_out * known.output) / 1_000_000
