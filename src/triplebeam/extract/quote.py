"""What the extraction of a corpus will cost: the mean cost per character of a sample, times all characters."""

import random
from collections.abc import Sequence
from dataclasses import dataclass, field, replace
from statistics import pstdev
from typing import NamedTuple

from triplebeam.extract.extractor import Extraction
from triplebeam.extract.llm import LLMExtractor
from triplebeam.generate.language_model import BatchWrapper, Completion, Outcome, Prompt, Usage, outcomes_of
from triplebeam.passage import Passage


class Estimate(NamedTuple):
    """A sum over all passages, and how far the cost per character of sampled passages spreads, times all characters."""

    total: float
    spread: float


@dataclass(frozen=True, slots=True, kw_only=True)
class Sample:
    """Passages that were extracted, the results, and what each cost; what was in the cache counts as well."""

    characters: tuple[int, ...]
    extractions: tuple[Extraction, ...]
    usages: tuple[Usage, ...]

    def estimate(self, costs: Sequence[float], characters: int) -> Estimate:
        """Scale costs, one per sampled passage, to the characters of a corpus."""
        mean = sum(costs) / sum(self.characters)
        each = [cost / count for cost, count in zip(costs, self.characters, strict=True)]
        return Estimate(mean * characters, pstdev(each) * characters)


def draw_sample(passages: Sequence[Passage], size: int) -> list[Passage]:
    """Draw passages at random, in the order of the corpus; all of them if there are no more than ``size``."""
    numbers = random.Random(0).sample(range(len(passages)), min(size, len(passages)))
    return [passages[number] for number in sorted(numbers)]


def extract_sample(extractor: LLMExtractor, passages: Sequence[Passage]) -> Sample:
    """Extract passages, no two of them with the same text, as an indexing run would, and record what each costs."""
    watched = _Watched(extractor.model)
    extractions = tuple(replace(extractor, model=watched).extract(passages))
    return Sample(
        characters=tuple(len(passage.searchable) for passage in passages),
        extractions=extractions,
        usages=tuple(watched.usages[extractor.template.fill(passage=each.searchable).user] for each in passages),
    )


@dataclass(frozen=True)
class _Watched(BatchWrapper):
    """A model that records what the prompts of each passage cost; a correction has the same user part as the first."""

    usages: dict[str, Usage] = field(default_factory=dict)

    def outcomes(self, prompts: Sequence[Prompt]) -> list[Outcome]:
        outcomes = outcomes_of(self.model, prompts)
        for prompt, outcome in zip(prompts, outcomes, strict=True):
            # What was refused cost nothing.
            usage = outcome.usage if isinstance(outcome, Completion) else Usage()
            self.usages[prompt.user] = self.usages.get(prompt.user, Usage()) + usage
        return outcomes
