"""What is asked of a language model, what comes back, what every language model offers, and what wrappers share."""

from abc import ABC, abstractmethod
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from typing import NamedTuple, Protocol, TypeAlias

from triplebeam.errors import EndpointError


class PromptFailedError(EndpointError):
    """One prompt failed; the endpoint works, and the other prompts of a batch go on."""


class PromptRefusedError(PromptFailedError):
    """The endpoint does not accept this prompt (too long, filtered, a parameter it does not know)."""


def estimate_tokens(*texts: str) -> int:
    """Estimate the tokens of texts, for limits: four characters each, the rule of thumb for English, rounded up."""
    return -(-sum(len(text) for text in texts) // 4)


class Correction(NamedTuple):
    """A second turn: the reply that could not be used, and what is wrong with it."""

    reply: str
    request: str


@dataclass(frozen=True, slots=True, kw_only=True)
class Prompt:
    """One request. Its fields are all that a completion depends on, apart from the model: a cache may key on them."""

    system: str
    user: str
    template: str = ""
    """Name of the template it was filled from, and the version of that template."""
    version: str = ""
    temperature: float | None = 0.0
    """``None`` leaves it to the endpoint, as it does for ``max_tokens``."""
    max_tokens: int | None = None
    schema: Mapping[str, object] | None = field(default=None, hash=False)
    """The JSON schema of an object that the reply should follow."""
    seed: int | None = None
    sample: int = 0
    """Which of several samples of one prompt this is: five samples are five completions."""
    log_probabilities: bool = False
    correction: Correction | None = None
    parameters: Mapping[str, object] | None = field(default=None, hash=False)
    """Whatever else an endpoint takes, such as ``reasoning_effort``: sent unchanged."""

    @property
    def estimated_tokens(self) -> int:
        """About how many tokens in it costs."""
        return estimate_tokens(self.system, self.user, *(self.correction or ()))


@dataclass(frozen=True, slots=True, kw_only=True)
class Usage:
    """What completions cost. Usages add up; a sum is estimated when any part of it is.

    What came from a cache is counted separately, since it costs nothing: ``calls`` and its tokens are what was paid.
    """

    calls: int = 0
    tokens_in: int = 0
    tokens_out: int = 0
    estimated: bool = False
    """The endpoint did not count, so the tokens are estimated from the length of the texts."""
    cached_calls: int = 0
    cached_tokens_in: int = 0
    cached_tokens_out: int = 0

    def __add__(self, other: "Usage") -> "Usage":
        sums = {name: getattr(self, name) + getattr(other, name) for name in self.__slots__}
        return Usage(**{**sums, "estimated": self.estimated or other.estimated})

    @property
    def all_calls(self) -> int:
        """Including those a cache answered: what the work needs, not what was paid for."""
        return self.calls + self.cached_calls

    @property
    def all_tokens(self) -> int:
        """Read and written, including those a cache saved."""
        return self.tokens_in + self.tokens_out + self.cached_tokens_in + self.cached_tokens_out

    def mark_cached(self) -> "Usage":
        """Return the usage of the same completions, read once more from a cache."""
        return Usage(
            estimated=self.estimated,
            cached_calls=self.calls + self.cached_calls,
            cached_tokens_in=self.tokens_in + self.cached_tokens_in,
            cached_tokens_out=self.tokens_out + self.cached_tokens_out,
        )


class TokenLogProbability(NamedTuple):
    """A token of the reply and the natural logarithm of its probability."""

    token: str
    log_probability: float


@dataclass(frozen=True, slots=True, kw_only=True)
class Completion:
    """One reply. ``finish_reason`` is the endpoint's word: "stop", or "length" when the reply was cut off."""

    text: str
    usage: Usage = field(default_factory=Usage)
    finish_reason: str = "stop"
    log_probabilities: tuple[TokenLogProbability, ...] | None = None
    """``None`` when they were not requested or the endpoint does not return them."""
    thought: bool = False
    """The model thought before it replied. The thoughts are not in the text, but were paid for as tokens out."""


class LanguageModel(Protocol):
    """Completes prompts. Concurrency, retries and caches are up to the model."""

    @property
    def name(self) -> str:
        """Identifies the model in an index, a cache and a report."""
        ...

    def complete(self, prompts: Sequence[Prompt]) -> list[Completion]:
        """Return one completion per prompt, in order.

        Raises PromptRefusedError when a prompt is refused, EndpointError when the endpoint cannot be used.
        """
        ...


#: What became of a prompt of a batch: a completion, or why there is none.
Outcome: TypeAlias = Completion | EndpointError


def outcomes_of(model: LanguageModel, prompts: Sequence[Prompt]) -> list[Outcome]:
    """Return one outcome per prompt, in order, of any model.

    A model that only completes whole batches does not say which prompt failed, so each is then asked alone.
    """
    if isinstance(model, BatchWrapper):
        return model.outcomes(prompts)
    try:
        return list(model.complete(prompts))
    except PromptFailedError as failure:
        if len(prompts) == 1:
            return [failure]
        return [outcome for prompt in prompts for outcome in outcomes_of(model, [prompt])]
    except EndpointError as error:
        return [error] * len(prompts)


def drop_replies(model: LanguageModel, prompts: Iterable[Prompt]) -> None:
    """Make a model keep its replies to these prompts no longer, since they could not be used."""
    if isinstance(model, Wrapper):
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
    """A wrapper around a model that works on one prompt after the other."""

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


class BatchWrapper(Wrapper, ABC):
    """A wrapper that works on whole batches, and reports the outcome of each prompt."""

    @abstractmethod
    def outcomes(self, prompts: Sequence[Prompt]) -> list[Outcome]:
        """Return one completion or error per prompt, in order."""

    def complete(self, prompts: Sequence[Prompt]) -> list[Completion]:
        """Return one completion per prompt, in order; the first error in order is raised when the batch is done."""
        return completions(self.outcomes(prompts))
