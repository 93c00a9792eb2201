"""A language model for tests: it returns the replies it is given, and nothing else."""

from collections.abc import Mapping, Sequence
from types import TracebackType

from triplebeam.generate.language_model import Completion, Prompt, Usage


class Scripted:
    """Replies in order from a list, or from a mapping by a text that the prompt's user part contains.

    A prompt without a reply, a prompt that two texts match and an unused reply are AssertionErrors; the last
    is found by ``check_all_used``, which leaving a ``with`` block calls. ``prompts`` are those asked so far.
    """

    def __init__(
        self, replies: Sequence[str | Completion] | Mapping[str, str | Completion], *, name: str = "scripted"
    ) -> None:
        self._matching = dict(replies) if isinstance(replies, Mapping) else None
        self._unused: list[str | Completion] = list(replies)  # the texts to match, or the replies themselves
        self.name = name
        self.prompts: list[Prompt] = []

    def complete(self, prompts: Sequence[Prompt]) -> list[Completion]:
        """Return one scripted reply per prompt, in order."""
        return [self._completion(prompt) for prompt in prompts]

    def check_all_used(self) -> None:
        """Check that every reply was used."""
        if self._unused:
            raise AssertionError(f"{len(self._unused)} scripted replies were not asked for: {self._unused!r:.500}")

    def __enter__(self) -> "Scripted":
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        if error is None:
            self.check_all_used()

    def _completion(self, prompt: Prompt) -> Completion:
        self.prompts.append(prompt)
        reply = self._take_reply(prompt) if self._matching is None else self._match(prompt, self._matching)
        return Completion(text=reply, usage=Usage(calls=1)) if isinstance(reply, str) else reply

    def _take_reply(self, prompt: Prompt) -> str | Completion:
        if not self._unused:
            raise AssertionError(f"no scripted reply is left for the prompt {prompt.user!r:.500}")
        return self._unused.pop(0)

    def _match(self, prompt: Prompt, replies: Mapping[str, str | Completion]) -> str | Completion:
        matches = [text for text in replies if text in prompt.user]
        if len(matches) != 1:
            raise AssertionError(f"{len(matches)} scripted replies match the prompt {prompt.user!r:.500}: {matches}")
        self._unused = [text for text in self._unused if text != matches[0]]
        return replies[matches[0]]
