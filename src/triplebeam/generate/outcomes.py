"""What became of each prompt of a batch: a completion, or why there is none. And the form that wrappers share."""

from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from typing import Protocol, TypeAlias, runtime_checkable

from triplebeam.errors import EndpointError
from triplebeam.generate.language_model import Completion, LanguageModel, Prompt, PromptFailedError

Outcome: TypeAlias = Completion | EndpointError


@runtime_checkable
class GivesOutcomes(Protocol):
    """A model that reports the outcome of each prompt itself."""

    def outcomes(self, prompts: Sequence[Prompt]) -> list[Outcome]:
        """Return one outcome per prompt, in order."""
        ...


def outcomes_of(model: LanguageModel, prompts: Sequence[Prompt]) -> list[Outcome]:
    """Return one outcome per prompt, in order, of any model.

    A model that only completes whole batches does not say which prompt failed, so each is then asked alone.
    """
    if isinstance(model, GivesOutcomes):
        return model.outcomes(prompts)
    try:
        return list(model.complete(prompts))
    except PromptFailedError as failure:
        if len(prompts) == 1:
            return [failure]
        return [outcome for prompt in prompts for outcome in outcomes_of(model, [prompt])]
    except EndpointError as error:
        return [error] * len(prompts)


@runtime_checkable
class DropsReplies(Protocol):
    """A model that keeps replies, or is around one that does."""

    def drop_reply(self, prompt: Prompt) -> None:
        """Keep the reply to this prompt no longer."""
        ...


def drop_replies(model: LanguageModel, prompts: Iterable[Prompt]) -> None:
    """Make a model keep its replies to these prompts no longer, since they could not be used."""
    if isinstance(model, DropsReplies):
        for prompt in prompts:
            model.drop_reply(prompt)


def completions(outcomes: Iterable[Outcome]) -> list[Completion]:
    """Return all completions; raises the first error among the outcomes."""
    done = []
    for outcome in outcomes:
        if isinstance(outcome, EndpointError):
            raise outcome
        done.append(outcome)
    return done


@dataclass(frozen=True)
class Wrapper:
    """A wrapper around a model; one that works on whole batches overrides ``complete`` and offers ``outcomes``."""

    model: LanguageModel

    @property
    def name(self) -> str:
        """The name of the wrapped model."""
        return self.model.name

    def complete(self, prompts: Sequence[Prompt]) -> list[Completion]:
        """Return one completion per prompt, in order; the first error ends the batch."""
        return [self.complete_one(prompt) for prompt in prompts]

    def complete_one(self, prompt: Prompt) -> Completion:
        """Return the wrapped model's completion."""
        return self.model.complete([prompt])[0]

    def drop_reply(self, prompt: Prompt) -> None:
        """Keep the reply to this prompt no longer, wherever below it is kept."""
        drop_replies(self.model, [prompt])
