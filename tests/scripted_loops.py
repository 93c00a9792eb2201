"""What the tests of agents share: a retriever that knows its queries, replies of a model, a loop step by step."""

import json
from collections.abc import Mapping, Sequence
from typing import Any, NamedTuple

from small_world import WORLD
from triplebeam.answer import Agent, Answer, Step
from triplebeam.errors import EndpointError
from triplebeam.generate.language_model import Completion, Prompt, Usage
from triplebeam.passage import Passage
from triplebeam.ranking import Hit, Ranking
from triplebeam.testing.scripted import Scripted
from triplebeam.triple import Triple

PASSAGES = {id_: Passage(id_, text, title) for id_, (title, text) in WORLD.items()}


class Table:
    """A retriever that knows its queries; an unknown one is an error, not an empty list."""

    passages = PASSAGES

    def __init__(self, table: Mapping[str, Sequence[str]]) -> None:
        self.table = table
        self.asked: list[str] = []

    def retrieve(self, query: str, k: int = 10) -> Ranking:
        self.asked.append(query)
        return Ranking(Hit(id_, -rank) for rank, id_ in enumerate(self.table[query])).top(k)


class Anywhere(Table):
    """A retriever that finds the same passage whatever it is asked."""

    def __init__(self) -> None:
        super().__init__({})

    def retrieve(self, query: str, k: int = 10) -> Ranking:
        self.asked.append(query)
        return Ranking([Hit("film", 1.0)])


class Gone:
    """An endpoint that does not answer any more."""

    name = "gone"

    def complete(self, prompts: Sequence[Prompt]) -> list[Completion]:
        raise EndpointError("the endpoint does not answer")


def reply(**fields: Any) -> Completion:
    return Completion(text=json.dumps(fields), usage=Usage(calls=1, tokens_in=10, tokens_out=3))


def path(answer: str | None, reasoning: str = "It is known.") -> Completion:
    """A line of thought."""
    return reply(reasoning=reasoning, answer=answer)


def final(text: str) -> Completion:
    return reply(found=bool(text), answer=text, sentence=f"It is {text}." if text else "Nothing says it.")


#: A reply that cannot be read; it is asked for twice.
BAD = Completion(text="no idea", usage=Usage(calls=1))


class Driven(NamedTuple):
    """What a scripted model was asked, what was searched for, and what came of it."""

    model: Scripted
    table: Table
    steps: list[Step]
    answer: Answer


def driven(agent: Agent, question: str) -> tuple[list[Step], Answer]:
    """The steps as they come, then the answer."""
    run = agent.run(question)
    return list(run.steps), run.answer


def read_by(step: Step) -> tuple[Triple, ...]:
    """The facts that a step brought, without their sources."""
    return tuple(fact.triple for fact in step.facts)
