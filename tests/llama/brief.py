"""A real model that may not go on for long: most of what so small a model says after the first words is repetition."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, replace

from triplebeam.generate.language_model import Completion, LanguageModel, Prompt

MOST_TOKENS = 96


@dataclass(frozen=True)
class Brief:
    """The model with short replies, except to templates whose reply is given; keeps what it was asked."""

    model: LanguageModel
    given: Mapping[str, str] = field(default_factory=dict)
    asked: list[tuple[Prompt, Completion]] = field(default_factory=list)

    @property
    def name(self) -> str:
        return self.model.name

    def complete(self, prompts: Sequence[Prompt]) -> list[Completion]:
        if prompts and prompts[0].template in self.given:
            return [Completion(text=self.given[prompt.template]) for prompt in prompts]
        completions = self.model.complete([replace(prompt, max_tokens=MOST_TOKENS) for prompt in prompts])
        self.asked.extend(zip(prompts, completions, strict=True))
        return completions
