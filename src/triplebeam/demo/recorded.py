"""A model that repeats what another one once replied, for a demo that needs no key."""

import json
from collections.abc import Sequence
from dataclasses import dataclass, field
from typing import Any

from triplebeam.errors import EndpointError
from triplebeam.generate.language_model import Completion, Prompt, Usage


@dataclass(frozen=True)
class Recording:
    """A reply, the template it answered, and texts that the prompt must show for the reply to make sense."""

    template: str
    shows: tuple[str, ...]
    reply: str
    tokens_in: int = 0
    tokens_out: int = 0

    def fits(self, prompt: Prompt) -> bool:
        """Was it made for such a prompt?"""
        return prompt.template == self.template and all(text in prompt.user for text in self.shows)


def read_recordings(content: str) -> list[Recording]:
    """Recordings from JSON: a list of objects with the fields above, the reply being an object."""
    rows: list[dict[str, Any]] = json.loads(content)
    return [Recording(**{**row, "shows": tuple(row["shows"]), "reply": json.dumps(row["reply"])}) for row in rows]


@dataclass(frozen=True)
class Recorded:
    """Replies from recordings; a prompt that none fits is an error, never a guess. Its replies count as cached."""

    recordings: Sequence[Recording] = field(repr=False)
    name: str = "recorded"

    def complete(self, prompts: Sequence[Prompt]) -> list[Completion]:
        """The first recording that fits each prompt."""
        return [self._completion(prompt) for prompt in prompts]

    def _completion(self, prompt: Prompt) -> Completion:
        found = next((recording for recording in self.recordings if recording.fits(prompt)), None)
        if found is None:
            raise EndpointError(
                f"no recorded completion fits this {prompt.template!r} prompt: configure a model to go on from here."
            )
        paid = Usage(calls=1, tokens_in=found.tokens_in, tokens_out=found.tokens_out)
        return Completion(text=found.reply, usage=paid.as_cached())
