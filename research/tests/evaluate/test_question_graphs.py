"""Question graphs beside the evidences of a dataset: GE-Reasoning's Table 5."""

import json
from dataclasses import replace

import numpy as np
import pytest

from triplebeam.evaluate.ask_all import ask_all, read_graph
from triplebeam.evaluate.measures import values
from triplebeam.evaluate.questions import Question
from triplebeam.methods.ge_reasoning import GEReasoning
from triplebeam.testing.scripted import Scripted
from triplebeam_research.experiments.grading import Triplet, check_graphs, graph_is_right

CHAIN = [("Lisbet Palme", "spouse", "Olof Palme"), ("Olof Palme", "place of birth", "Stockholm")]
SAME = [("Vasilyevsky Island", "country", "Russia"), ("Preobrazheniya Island", "country", "Russia")]


def graph(*rows: tuple[str, str]) -> list[Triplet]:
    return [(head, "is of", tail) for head, tail in rows]


@pytest.mark.parametrize(
    ("triplets", "evidences", "right"),
    [
        (graph(("Lisbeth Palme", "name: #1"), ("name: #1", "place: #2")), CHAIN, True),
        (graph(("place: #7", "#3"), ("#3", "Lisbeth Palme")), CHAIN, True),  # read from the other side
        (graph(("Lisbeth Palme", "place: #1")), CHAIN, False),  # a link is missing
        (graph(("Lisbeth Palme", "#1"), ("Lisbeth Palme", "#2")), CHAIN, False),  # not a chain
        (graph(("Lisbeth Palme", "#1"), ("#2", "#3")), CHAIN, False),
        (graph(("Otto", "#1"), ("#1", "#2")), CHAIN, False),  # about somebody else
        (graph(("Vasilyevsky Island", "#1"), ("Preobrazheniya Island", "#2")), SAME, True),
        (graph(("Vasilyevsky Island", "#1"), ("Preobrazheniya Island", "#1")), SAME, False),  # nothing to compare
        ([], CHAIN, False),
    ],
)
def test_a_graph_is_right_if_its_triplets_pair_up(
    triplets: list[Triplet], evidences: list[Triplet], right: bool
) -> None:
    assert graph_is_right(triplets, evidences) == right


def test_graphs_are_read_as_they_are_written() -> None:
    text = "The question as a graph:\n(Lisbeth Palme; spouse; name: #1)\n(name: #1; born in; city: #2)"
    assert read_graph(text) == (("Lisbeth Palme", "spouse", "name: #1"), ("name: #1", "born in", "city: #2"))


@pytest.mark.parametrize(("evidences", "share"), [(CHAIN[:1], 1.0), (CHAIN, 0.0)])
def test_an_agents_graph_is_measured(evidences: list[Triplet], share: float) -> None:
    question = Question(id="1", question="Who?", answers=("Olof",), evidences=tuple(evidences))
    said = [json.dumps({"triplets": [["Lisbeth Palme", "spouse", "name: #1"]], "target": ["#1"]})]
    said += [json.dumps({"question": "Who?"}), *[json.dumps({"sentence": "", "answer": "Olof", "used": []})] * 5]
    with Scripted([*said, json.dumps({"found": True, "answer": "Olof", "sentence": ""})]) as model:
        results = ask_all("ge", GEReasoning(model=model), [question])
    assert values("Graph", [question], check_graphs([question], results)) == [share]
    without = [replace(question, evidences=())]
    assert np.isnan(values("Graph", without, check_graphs(without, results))).all()
