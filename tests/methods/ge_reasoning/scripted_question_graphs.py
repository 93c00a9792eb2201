"""GE-Reasoning over the small world: the replies a scripted model gives, and an agent that is driven by them."""

import json
import math
import re
from collections.abc import Callable, Mapping, Sequence
from typing import Any

from scripted_loops import PASSAGES, Driven, Table, driven, reply
from triplebeam.answer import Agent, Step
from triplebeam.generate.accounting import Accounted
from triplebeam.generate.language_model import Completion, LanguageModel, TokenLogProbability, Usage
from triplebeam.methods.ge_reasoning import GEReasoning
from triplebeam.methods.grounded_reasoning import GroundedReasoning
from triplebeam.testing.scripted import Scripted
from triplebeam.triple import Triple

QUESTION = "On which lake lies the city where an actor of Laughter in Hell lived?"
CHAIN = [
    ["Laughter in Hell", "actor", "name: #1"],
    ["name: #1", "lived in", "city: #2"],
    ["city: #2", "lies on", "lake: #3"],
]
WHO, WHERE, LAKE = "Who acted in Laughter in Hell?", "Where did Pat Brien live?", "On which lake lies Milwaukee?"


def graph(triplets: Any, *target: str) -> Completion:
    return reply(triplets=triplets, target=list(target))


def asks(question: str) -> Completion:
    return reply(question=question)


def says(answer: str, sure: float = 0.9, used: Sequence[int] = ()) -> Completion:
    """A sub-answer whose words have the probability ``sure``."""
    text = json.dumps({"sentence": f"It is {answer}.", "answer": answer, "used": list(used)})
    pieces = re.findall(r"\w+|\W+", text)
    words = answer.split()
    scored = (TokenLogProbability(piece, math.log(sure) if piece in words else 0.0) for piece in pieces)
    return Completion(text=text, usage=Usage(calls=1), log_probabilities=tuple(scored))


def reads(answer: str, *rows: tuple[Triple, int, str]) -> Completion:
    """A sub-answer that was read in passages: each fact with the number of its passage and a quotation."""
    facts = [{"triple": list(triple), "passage": number, "quotation": words} for triple, number, words in rows]
    return reply(sentence=f"It is {answer}.", answer=answer, facts=facts)


def extracts(*triples: Triple | Sequence[str]) -> Completion:
    return reply(triplets=[list(triple) for triple in triples])


def helpful(*numbers: int) -> Completion:
    return reply(helpful=numbers)


def agent(model: LanguageModel, table: Table | None = None, **parameters: Any) -> GEReasoning:
    return GEReasoning(model=Accounted(model), retriever=table, passages=PASSAGES, **parameters)


def make_grounded(model: LanguageModel, table: Table, **parameters: Any) -> GroundedReasoning:
    return GroundedReasoning(model=Accounted(model), retriever=table, passages=PASSAGES, **parameters)


def ask(
    replies: Sequence[Completion],
    finds: Mapping[str, Sequence[str]] | None = None,
    question: str = QUESTION,
    make: Callable[..., Agent] = agent,
    **parameters: Any,
) -> Driven:
    """Ask an agent over a table, or with a closed book; every reply has to be asked for."""
    table: Any = None if finds is None else Table(finds)
    with Scripted(replies) as model:
        return Driven(model, table, *driven(make(model, table, **parameters), question))


def first_lines(steps: Sequence[Step]) -> list[str]:
    return [step.thought.splitlines()[0] for step in steps]


STARRED, LIVED = Triple("Pat Brien", "starred in", "Laughter in Hell"), Triple("Pat Brien", "lived in", "Milwaukee")
LIES = Triple("Milwaukee", "lies on", "Lake Michigan")
