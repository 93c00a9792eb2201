"""What the tests of GeAR's agent share: its replies, and the agent over a table."""

from collections.abc import Sequence
from typing import Any

from scripted_loops import Table, reply
from triplebeam.generate.accounting import Accounted
from triplebeam.generate.language_model import Completion
from triplebeam.methods.gear import GeAR, PassageLink
from triplebeam.testing.scripted import Scripted


def facts(*triples: tuple[str, str, str]) -> Completion:
    return reply(facts=triples)


def cited(*rows: tuple[tuple[str, str, str], int, str]) -> Completion:
    """Facts with the number of their passage and a quotation."""
    return reply(facts=[{"triple": triple, "passage": number, "quotation": words} for triple, number, words in rows])


def verdict(answer: str = "", missing: str = "", used: Sequence[int] = (), **more: Any) -> Completion:
    return reply(missing=missing, answerable=bool(answer), used=list(used), answer=answer, **more)


def query(text: str) -> Completion:
    return reply(query=text)


def agent(model: Scripted, table: Table, links: Table | None = None, **parameters: Any) -> GeAR:
    link = links or Table({})
    return GeAR(
        retriever=table,
        model=Accounted(model),
        passage_link=PassageLink(passages=link, triples=link),
        **parameters,
    )


#: The agent of the paper.
PAPER: dict[str, Any] = {
    "calls": "paper",
    "read": 10,
    "quotations": False,
    "ranking": "fusion",
    "answer_from": "fusion",
}
QUESTION = "On which lake lies the city where the actor of the drama by Edward Cahn lived?"
DIRECTED = ("Laughter in Hell", "directed by", "Edward Cahn")
STARRED = ("Pat Brien", "starred in", "Laughter in Hell")
LIVED = ("Pat Brien", "lived in", "Milwaukee")
LIES = ("Milwaukee", "lies on", "Lake Michigan")
