"""What the tests of GeAR's agent and of ours share: replies, and an agent over a table."""

from collections.abc import Sequence
from typing import Any

from scripted_loops import Table, reply
from triplebeam.generate.accounting import Accounted
from triplebeam.generate.language_model import Completion
from triplebeam.methods.agent import EvidenceAgent
from triplebeam.methods.gear import PassageLink
from triplebeam.testing.scripted import Scripted


def facts(*triples: tuple[str, str, str]) -> Completion:
    return reply(facts=triples)


def cited(*rows: tuple[tuple[str, str, str], int, str]) -> Completion:
    """Facts with the number of their passage and a quotation."""
    return reply(facts=[{"triple": triple, "passage": number, "quotation": words} for triple, number, words in rows])


def verdict(answer: str = "", missing: str = "", used: Sequence[int] = (), **more: Any) -> Completion:
    return reply(missing=missing, answerable=bool(answer), used=list(used), answer=answer, **more)


def agent(model: Scripted, table: Table, links: Table | None = None, **parameters: Any) -> EvidenceAgent:
    """Few of these facts are quoted, which is how a weak model is told: by default nothing is made of it."""
    return EvidenceAgent(**over(model, table, links), **{"fall_back": False, "answer_from": "evidence", **parameters})


def over(model: Scripted, table: Table, links: Table | None = None) -> dict[str, Any]:
    """What an agent is built over."""
    link = PassageLink(passages=links or Table({}), triples=links or Table({}))
    return {"retriever": table, "model": Accounted(model), "passage_link": link}


QUESTION = "On which lake lies the city where the actor of the drama by Edward Cahn lived?"
DIRECTED = ("Laughter in Hell", "directed by", "Edward Cahn")
STARRED = ("Pat Brien", "starred in", "Laughter in Hell")
LIVED = ("Pat Brien", "lived in", "Milwaukee")
LIES = ("Milwaukee", "lies on", "Lake Michigan")
