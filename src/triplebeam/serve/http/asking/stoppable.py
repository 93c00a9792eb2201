"""A collection whose models can be told to ask nothing any more: for a client that has gone away."""

import threading
from collections.abc import Sequence
from dataclasses import dataclass, replace

from triplebeam.assemble import Collection
from triplebeam.generate.language_model import Completion, LanguageModel, Prompt
from triplebeam.generate.outcomes import Outcome, outcomes_of
from triplebeam.generate.patience import GivenUpError


@dataclass(frozen=True)
class Stoppable:
    """Asks ``model`` until ``stop`` is set; from then on no call is made."""

    model: LanguageModel
    stop: threading.Event

    @property
    def name(self) -> str:
        """The name of the model within."""
        return self.model.name

    def complete(self, prompts: Sequence[Prompt]) -> list[Completion]:
        """What the model within says."""
        self._check()
        return self.model.complete(prompts)

    def outcomes(self, prompts: Sequence[Prompt]) -> list[Outcome]:
        """What became of each prompt."""
        self._check()
        return outcomes_of(self.model, prompts)

    def _check(self) -> None:
        if self.stop.is_set():
            raise GivenUpError("the question was given up before this prompt was asked: ask it again.")


def stoppable(collection: Collection, stop: threading.Event) -> Collection:
    """The same collection for one question, which can be given up.

    Retrievers hold the model they were made with, so a question has its own; index, embedder and clients are shared.
    """
    own = replace(collection)
    # These are properties that are made once: what is there before they are first read is what they give.
    vars(own)["embedder"] = collection.embedder
    vars(own)["model"] = Stoppable(collection.model, stop)
    vars(own)["reading_model"] = Stoppable(collection.reading_model, stop)
    return own
