"""A model whose usage adds up somewhere, for a report on a question or a run."""

import threading
from collections.abc import Sequence
from dataclasses import dataclass, field

from triplebeam.generate.language_model import Completion, LanguageModel, Prompt, Usage


class Meter:
    """Adds up usages, from any number of threads and models."""

    def __init__(self) -> None:
        self._lock = threading.Lock()
        self._usage = Usage()

    @property
    def usage(self) -> Usage:
        """All so far."""
        return self._usage

    def add(self, usage: Usage) -> None:
        """Count one more."""
        with self._lock:
            self._usage += usage


@dataclass(frozen=True, kw_only=True)
class Metered:
    """Counts what ``model`` uses, also in a batch that fails later."""

    model: LanguageModel
    meter: Meter = field(default_factory=Meter)

    @property
    def name(self) -> str:
        """The name of the model within."""
        return self.model.name

    def complete(self, prompts: Sequence[Prompt]) -> list[Completion]:
        """What the model within says, counted."""
        completions = self.model.complete(prompts)
        for completion in completions:
            self.meter.add(completion.usage)
        return completions
