"""A model whose user knows better than the prompts what it needs."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, replace

from triplebeam.generate.language_model import Completion, LanguageModel, Prompt


@dataclass(frozen=True, kw_only=True)
class Tuned:
    """Raises every prompt's limit to ``max_tokens`` at least and adds ``parameters`` and ``seed`` to every request.

    A "thinking" model needs room for its thoughts beside the reply, or to be told not to think. A prompt without a
    limit keeps none. This belongs around a cache: another limit is another completion.
    """

    model: LanguageModel
    max_tokens: int | None = None
    parameters: Mapping[str, object] = field(default_factory=dict)
    seed: int | None = None
    """For prompts that name none."""

    @property
    def name(self) -> str:
        """The name of the model within."""
        return self.model.name

    def complete(self, prompts: Sequence[Prompt]) -> list[Completion]:
        """What the model within says to the prompts as they are sent."""
        return self.model.complete([self._tuned(prompt) for prompt in prompts])

    def _tuned(self, prompt: Prompt) -> Prompt:
        limit = prompt.max_tokens
        if limit is not None and self.max_tokens is not None:
            limit = max(limit, self.max_tokens)
        parameters = {**self.parameters, **(prompt.parameters or {})}
        seed = self.seed if prompt.seed is None else prompt.seed
        return replace(prompt, max_tokens=limit, parameters=parameters or None, seed=seed)
