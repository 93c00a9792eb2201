"""A random sample of passages, extracted to see what a passage costs."""

import random
import time
from collections.abc import Callable, Sequence
from dataclasses import dataclass, field, replace

from triplebeam.extract.extractor import Extraction
from triplebeam.extract.llm import LLMExtractor
from triplebeam.extract.quote import Measured
from triplebeam.generate.language_model import Completion, Prompt, Usage
from triplebeam.generate.outcomes import Outcome, Wrapper, completions, outcomes_of
from triplebeam.passage import Passage


@dataclass(frozen=True, slots=True, kw_only=True)
class Sample:
    """Passages that were extracted, the results and what they cost."""

    extractions: tuple[Extraction, ...]
    measured: tuple[Measured, ...]
    usage: Usage


def draw_sample(passages: Sequence[Passage], size: int, seed: int) -> list[Passage]:
    """Passages at random, in the order of the corpus; all of them if there are no more than ``size``."""
    numbers = random.Random(seed).sample(range(len(passages)), min(size, len(passages)))
    return [passages[number] for number in sorted(numbers)]


def extract_sample(
    extractor: LLMExtractor, passages: Sequence[Passage], clock: Callable[[], float] = time.perf_counter
) -> Sample:
    """Extract passages, no two of them with the same text, as an indexing run would, and record what each costs.

    Prompts run concurrently, so the time is divided in proportion to the tokens written.
    """
    watched = _Watched(extractor.model)
    start = clock()
    extractions = tuple(replace(extractor, model=watched).extract(passages))
    seconds = clock() - start
    usages = [watched.usages[extractor.template.fill(passage=passage.searchable).user] for passage in passages]
    total = sum(usages, start=Usage())
    pace = seconds / total.tokens_out if total.tokens_out else 0.0
    measured = [_measured(passage, usage, pace) for passage, usage in zip(passages, usages, strict=True)]
    return Sample(extractions=extractions, measured=tuple(measured), usage=total)


def _measured(passage: Passage, usage: Usage, pace: float) -> Measured:
    """What a passage costs, also where a part of it was in the cache and cost nothing now."""
    return Measured(
        characters=len(passage.searchable),
        tokens_in=usage.tokens_in + usage.cached_tokens_in,
        tokens_out=usage.tokens_out + usage.cached_tokens_out,
        seconds=None if usage.cached_calls else usage.tokens_out * pace,
    )


@dataclass(frozen=True)
class _Watched(Wrapper):
    """A model that records what the prompts of each passage cost; a correction has the same user part as the first."""

    usages: dict[str, Usage] = field(default_factory=dict)

    def outcomes(self, prompts: Sequence[Prompt]) -> list[Outcome]:
        outcomes = outcomes_of(self.model, prompts)
        for prompt, outcome in zip(prompts, outcomes, strict=True):
            # What was refused cost nothing.
            usage = outcome.usage if isinstance(outcome, Completion) else Usage()
            self.usages[prompt.user] = self.usages.get(prompt.user, Usage()) + usage
        return outcomes

    def complete(self, prompts: Sequence[Prompt]) -> list[Completion]:
        return completions(self.outcomes(prompts))
