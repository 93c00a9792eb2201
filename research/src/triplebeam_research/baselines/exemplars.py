"""Worked examples with a chain of thought, as data: what the prompts of several baselines show before the question.

GE-Reasoning gives every baseline of its tables six of them. Its own are not ours to ship: these were written for this
project (``prompts/chain_of_thought/exemplars.toml``). One set serves with and without passages, so that
nothing but the passages differs between the two.
"""

import tomllib
from collections.abc import Sequence
from functools import cache
from importlib import resources

from pydantic import BaseModel, ConfigDict, Field

from triplebeam.generate.prompts import format_passages
from triplebeam.passage import Passage


class _Strict(BaseModel):
    model_config = ConfigDict(frozen=True, extra="forbid")


class _ExemplarPassage(_Strict):
    title: str
    text: str


class Exemplar(_Strict):
    """A question, the sentences that lead to its answer, and what one search for it might find."""

    question: str
    reasoning: str
    answer: str
    passage: tuple[_ExemplarPassage, ...] = Field(min_length=1)

    def format_question(self, *, with_passages: bool, cue: str = "") -> str:
        """Format the example as it is asked, with a cue after the question if any; its reply is the prompt's own."""
        passages = [Passage(str(place), given.text, given.title) for place, given in enumerate(self.passage)]
        shown = f"Example passages:\n{format_passages(passages)}\n" if with_passages else ""
        return f"{shown}Example question: {with_cue(self.question, cue)}"


class _File(_Strict):
    exemplar: tuple[Exemplar, ...]


@cache
def load_exemplars() -> Sequence[Exemplar]:
    """Load the six exemplars that come with the package."""
    file = resources.files("triplebeam_research").joinpath("prompts", "chain_of_thought", "exemplars.toml")
    return _File.model_validate(tomllib.loads(file.read_text(encoding="utf-8"))).exemplar


def with_cue(question: str, cue: str) -> str:
    """Return the question, followed by what the model is asked to do before it answers."""
    return f"{question}\n{cue}" if cue else question
