"""A model that is never paid twice for the same completion."""

import threading
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, field, replace

from triplebeam.generate.completion_store import CompletionStore, completion_key
from triplebeam.generate.language_model import Completion, LanguageModel, Prompt


@dataclass(frozen=True, kw_only=True)
class Cached:
    """Asks ``model`` only for what ``store`` does not have, and keeps each completion as soon as it arrives.

    Replies that cannot be used are kept too: they were paid for, and a rerun must come to the same end. ``refresh``
    asks again all the same and keeps the new reply: for what failed, when it is taken up again.
    """

    model: LanguageModel
    store: CompletionStore
    refresh: bool = False
    _turns: "_Turns" = field(default_factory=lambda: _Turns(), init=False, repr=False, compare=False)

    @property
    def name(self) -> str:
        """The name of the model within."""
        return self.model.name

    def complete(self, prompts: Sequence[Prompt]) -> list[Completion]:
        """One completion a prompt, in order; the usage of those that were there already says so."""
        return [self._complete(prompt) for prompt in prompts]

    def _complete(self, prompt: Prompt) -> Completion:
        key = completion_key(self.name, prompt)
        with self._turns.turn(key):
            known = None if self.refresh else self.store.get(key)
            if known is not None:
                return replace(known, usage=known.usage.as_cached())
            [completion] = self.model.complete([prompt])
            self.store.put(key, self.name, prompt, completion)
            return completion


class _Turns:
    """Threads with the same key go one after the other, so that the second finds what the first was given."""

    def __init__(self) -> None:
        self._lock = threading.Lock()
        self._turns: dict[bytes, tuple[threading.Lock, int]] = {}

    @contextmanager
    def turn(self, key: bytes) -> Iterator[None]:
        with self._lock:
            mine, waiting = self._turns.get(key, (threading.Lock(), 0))
            self._turns[key] = (mine, waiting + 1)
        try:
            with mine:
                yield
        finally:
            with self._lock:
                mine, waiting = self._turns.pop(key)
                if waiting > 1:
                    self._turns[key] = (mine, waiting - 1)
