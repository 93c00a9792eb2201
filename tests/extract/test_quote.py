"""A quote's interval holds the truth at least as often as it claims; a sample costs what it costs once."""

import re
from collections.abc import Sequence
from pathlib import Path

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from triplebeam.errors import BadInputError
from triplebeam.extract.llm import LLMExtractor
from triplebeam.extract.quote import COVERAGE, FEWEST, Measured, Quote, draw_sample, extract_sample, quote
from triplebeam.generate.accounting import Price
from triplebeam.generate.completion_cache import Cached, CompletionStore
from triplebeam.generate.language_model import Completion, Prompt, PromptRefusedError, Usage
from triplebeam.passage import Passage
from triplebeam.testing.toy import passages

PRICE = Price(0.25, 2.0)
SAMPLES = 60


def toy() -> list[Measured]:
    """The toy corpus with the tokens of a model that writes a triple for every name and number."""
    return [
        Measured(
            characters=len(passage.searchable),
            tokens_in=1800 + len(re.findall(r"\w{1,6}|[^\w\s]", passage.searchable)),
            tokens_out=20 + 14 * len(re.findall(r"[A-Z]\w+|\d+", passage.text)),
        )
        for passage in passages()
    ]


def synthetic(kind: str) -> list[Measured]:
    """A thousand passages whose costs scatter in some way around a line."""
    random = np.random.default_rng(7)
    lengths = random.integers(300, 1200, 1000)
    if kind == "crumbs":
        lengths[random.random(1000) < 0.1] = 40
    scatter = {
        "even": 1 + random.normal(0, 0.2, 1000) * 300 / lengths,
        "crumbs": random.gamma(20, 1 / 20, 1000),
        "growing": random.gamma(8, 1 / 8, 1000),
        "skewed": random.lognormal(0, 0.5, 1000),
        "two kinds": np.where(random.random(1000) < 0.3, 2.5, 1.0) * random.gamma(20, 1 / 20, 1000),
    }[kind]
    return [
        Measured(characters=int(length), tokens_in=int(1800 + length / 4 * factor), tokens_out=int(length / 3 * factor))
        for length, factor in zip(lengths, scatter, strict=True)
    ]


def quotes(population: Sequence[Measured], size: int = 20) -> list[Quote]:
    lengths = [one.characters for one in population]
    samples = [
        np.random.default_rng(seed).choice(len(population), size, replace=False).tolist() for seed in range(SAMPLES)
    ]
    return [quote([population[number] for number in sample], lengths, PRICE) for sample in samples]


@pytest.mark.parametrize("kind", ["toy", "even", "crumbs", "growing", "skewed", "two kinds"])
def test_the_interval_holds_the_truth_as_often_as_it_claims(kind: str) -> None:
    population = toy() if kind == "toy" else synthetic(kind)
    tokens_in, tokens_out = (sum(getattr(one, name) for one in population) for name in ("tokens_in", "tokens_out"))
    price = (tokens_in * PRICE.input + tokens_out * PRICE.output) / 1e6
    drawn = quotes(population)
    for truth, intervals in (
        (tokens_in, [each.tokens_in for each in drawn]),
        (tokens_out, [each.tokens_out for each in drawn]),
        (price, [each.price for each in drawn if each.price]),
    ):
        held = sum(interval.low <= truth <= interval.high for interval in intervals)
        assert held >= COVERAGE * SAMPLES
        middle = float(np.mean([interval.estimate for interval in intervals]))
        assert middle == pytest.approx(truth, rel=0.05), "the estimate is not off to one side"


def test_the_interval_is_narrow_enough_to_be_of_use() -> None:
    for each in quotes(toy()):
        assert (each.tokens_out.high - each.tokens_out.low) / each.tokens_out.estimate < 0.4


def test_more_passages_make_it_narrower() -> None:
    widths = [
        np.mean([each.tokens_out.high - each.tokens_out.low for each in quotes(synthetic("growing"), size)])
        for size in (10, 40, 160)
    ]
    assert widths[0] > 1.5 * widths[1] > 2.25 * widths[2]


@given(st.lists(st.integers(1, 3000), min_size=1, max_size=30))
def test_a_sample_of_all_is_exact(lengths: list[int]) -> None:
    sample = [Measured(characters=n, tokens_in=2 * n, tokens_out=n % 7) for n in lengths]
    each = quote(sample, lengths)
    assert each.tokens_in == (2 * sum(lengths),) * 3
    assert each.tokens_out == (sum(n % 7 for n in lengths),) * 3
    assert (each.price, each.seconds) == (None, None)


@given(
    st.lists(st.tuples(st.integers(1, 2000), st.integers(0, 4000)), min_size=FEWEST, max_size=25),
    st.lists(st.integers(1, 2000), max_size=50),
)
def test_bounds_are_in_order_and_above_what_is_known(sample: list[tuple[int, int]], rest: list[int]) -> None:
    measured = [Measured(characters=n, tokens_in=tokens, tokens_out=tokens, seconds=1.0) for n, tokens in sample]
    each = quote(measured, [n for n, _ in sample] + rest)
    known = sum(tokens for _, tokens in sample)
    assert known <= each.tokens_in.low <= each.tokens_in.estimate <= each.tokens_in.high
    assert np.isfinite(each.tokens_in).all()


def test_too_small_a_sample_is_refused() -> None:
    with pytest.raises(BadInputError, match="take at least 5"):
        quote([Measured(characters=1, tokens_in=1, tokens_out=1)] * 4, [1] * 100)


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


def clock() -> object:
    """A clock that goes a minute further each time it is looked at."""
    minutes = iter(range(0, 6000, 60))
    return lambda: float(next(minutes))


def test_each_passage_is_measured_with_its_corrections() -> None:
    sample = extract_sample(LLMExtractor(Clerk(stumbles="passage 03")), WORDS[:5], clock())  # type: ignore[arg-type]
    assert [one.tokens_in for one in sample.measured] == [100, 100, 100, 200, 100]
    assert [one.tokens_out for one in sample.measured] == [8, 8, 8, 16, 8]
    assert [one.seconds for one in sample.measured] == [10, 10, 10, 20, 10]
    assert sample.usage == Usage(calls=6, tokens_in=600, tokens_out=48)
    assert all(extraction.triples for extraction in sample.extractions)


def test_a_refused_passage_costs_nothing_and_is_reported() -> None:
    sample = extract_sample(LLMExtractor(Clerk(refuses="passage 01")), WORDS[:3])
    assert [one.tokens_in for one in sample.measured] == [100, 0, 100]
    assert sample.extractions[1].failure == "It is too long."


def test_a_sample_that_was_cached_tells_tokens_and_price_but_no_time(tmp_path: Path) -> None:
    with CompletionStore(tmp_path / "c.sqlite") as store:
        clerk = Clerk()
        first, again = (extract_sample(LLMExtractor(Cached(model=clerk, store=store)), WORDS[:6]) for _ in range(2))
    assert clerk.calls == 6
    assert again.usage == Usage(cached_calls=6, cached_tokens_in=600, cached_tokens_out=48)
    quoted = quote(again.measured, [len(passage.text) for passage in WORDS], PRICE)
    assert quoted.tokens_in == quote(first.measured, [len(passage.text) for passage in WORDS]).tokens_in
    assert quoted.price
    assert quoted.seconds is None


def test_a_sample_is_drawn_by_its_seed() -> None:
    first, same, other = (draw_sample(WORDS, 20, seed) for seed in (1, 1, 2))
    assert first == same != other
    assert len({passage.id for passage in first}) == 20
    assert [passage.id for passage in first] == [passage.id for passage in WORDS if passage in first]
    assert draw_sample(WORDS, 50, 0) == WORDS
