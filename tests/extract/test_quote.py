"""A sample costs what it costs once, and its cost per character is scaled to all characters."""

from collections.abc import Sequence
from pathlib import Path

import pytest

from triplebeam.extract.llm import LLMExtractor
from triplebeam.extract.quote import Sample, draw_sample, extract_sample
from triplebeam.generate.completion_cache import Cached, CompletionStore
from triplebeam.generate.language_model import Completion, Prompt, PromptRefusedError, Usage
from triplebeam.passage import Passage


class Clerk:
    """Writes one triple a passage, eight tokens each; the first reply to some passages is no JSON."""

    name = "clerk"

    def __init__(self, stumbles: str = "", refuses: str = "") -> None:
        self.stumbles, self.refuses = stumbles, refuses
        self.calls = 0

    def complete(self, prompts: Sequence[Prompt]) -> list[Completion]:
        return [self._complete(prompt) for prompt in prompts]

    def _complete(self, prompt: Prompt) -> Completion:
        if self.refuses and self.refuses in prompt.user:
            raise PromptRefusedError("It is too long.")
        self.calls += 1
        bad = self.stumbles and self.stumbles in prompt.user and not prompt.correction
        text = "Sorry." if bad else '{"entities": [], "triples": [["a", "b", "c"]]}'
        return Completion(text=text, usage=Usage(calls=1, tokens_in=100, tokens_out=8))


WORDS = [Passage(f"p{n}", f"This is passage {n:02} of some.") for n in range(30)]


def test_each_passage_is_measured_with_its_corrections_and_a_refused_one_costs_nothing() -> None:
    sample = extract_sample(LLMExtractor(Clerk(stumbles="passage 03", refuses="passage 01")), WORDS[:5])
    assert [usage.tokens_in for usage in sample.usages] == [100, 0, 100, 200, 100]
    assert [usage.tokens_out for usage in sample.usages] == [8, 0, 8, 16, 8]
    failures = [extraction.failure for extraction in sample.extractions]
    assert failures == [None, "It is too long.", None, None, None]
    assert all(extraction.triples or extraction.failure for extraction in sample.extractions)


def test_a_sample_that_was_cached_tells_its_tokens(tmp_path: Path) -> None:
    with CompletionStore(tmp_path / "c.sqlite") as store:
        clerk = Clerk()
        _, again = (extract_sample(LLMExtractor(Cached(model=clerk, store=store)), WORDS[:6]) for _ in range(2))
    assert clerk.calls == 6
    assert set(again.usages) == {Usage(cached_calls=1, cached_tokens_in=100, cached_tokens_out=8)}


def test_costs_per_character_are_scaled_to_all_characters() -> None:
    sample = Sample(characters=(100, 300), extractions=(), usages=())
    assert sample.estimate([200, 600], 4000) == (8000, 0)
    total, spread = sample.estimate([100, 900], 4000)
    assert (total, spread) == (pytest.approx(10_000), pytest.approx(4000))


def test_a_sample_is_drawn_in_the_order_of_the_corpus() -> None:
    sample = draw_sample(WORDS, 20)
    assert sample == draw_sample(WORDS, 20)
    assert len({passage.id for passage in sample}) == 20
    assert [passage.id for passage in sample] == [passage.id for passage in WORDS if passage in sample]
    assert draw_sample(WORDS, 50) == WORDS
