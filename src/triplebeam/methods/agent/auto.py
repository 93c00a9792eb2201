"""Effort only where it is needed: a cheap agent first, an expensive one if the cheap one found no answer.

The expensive agent starts again from the question, and its ranking is the answer's. So its steps give the ranking of
its own steps so far, not mixed with what the cheap one found: that is what stopping there would have given.
"""

from collections.abc import Generator
from contextlib import closing
from dataclasses import dataclass, replace

from triplebeam.answer import Agent, Answer, Step


@dataclass(frozen=True, kw_only=True)
class Auto(Agent):
    """Asks ``first``; where what it read does not answer the question, asks ``then``. All steps are in the trace."""

    first: Agent
    then: Agent

    def steps(self, question: str) -> Generator[Step, None, Answer]:
        """Take the steps of both, numbered through."""
        cheap = yield from self.first.steps(question)
        if cheap.outcome == "answered":
            return replace(cheap, ending="one step answered it")
        steps = [*cheap.steps]
        with closing(self.then.run(question)) as run:
            for step in run.steps:
                steps.append(replace(step, number=len(steps) + 1))
                yield steps[-1]
            expensive = run.answer
        return replace(
            expensive,
            steps=tuple(steps),
            usage=cheap.usage + expensive.usage,
            ending=f"one step did not answer it; then {expensive.ending}",
        )
