"""What became of each prompt of a batch: a completion, or why there is none."""

from collections.abc import Sequence
from typing import Protocol, TypeAlias, runtime_checkable

from triplebeam.errors import EndpointError
from triplebeam.generate.language_model import Completion, LanguageModel, Prompt, PromptFailedError

Outcome: TypeAlias = Completion | EndpointError


@runtime_checkable
class GivesOutcomes(Protocol):
    """A model that can tell them apart itself."""

    def outcomes(self, prompts: Sequence[Prompt]) -> list[Outcome]:
        """One outcome a prompt, in order."""
        ...


def outcomes_of(model: LanguageModel, prompts: Sequence[Prompt]) -> list[Outcome]:
    """One outcome a prompt, in order, of any model.

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
