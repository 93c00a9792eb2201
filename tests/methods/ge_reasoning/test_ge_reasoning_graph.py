"""Question graphs: read from what models write, checked, filled in and drawn."""

import json
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from triplebeam.generate.accounting import account
from triplebeam.methods.ge_reasoning import QuestionTriplet, Variable
from triplebeam.methods.ge_reasoning.construct import GraphConstruction, fault_of, read_graph
from triplebeam.testing.scripted import Scripted

NAME, DATE = Variable(1, "name"), Variable(2, "date")
CHAIN = [["Laughter in Hell", "director", "name: #1"], ["name: #1", "death date", "date: #2"]]


def reply(triplets: Any, target: Any = ()) -> str:
    return json.dumps({"triplets": triplets, "target": target})


class TestReading:
    def test_typed_variables(self) -> None:
        graph, remarks = read_graph(CHAIN, ["date: #2"])
        assert graph.triplets == (
            QuestionTriplet("Laughter in Hell", "director", NAME),
            QuestionTriplet(NAME, "death date", DATE),
        )
        assert (graph.variables, graph.targets, remarks) == ((NAME, DATE), (DATE,), [])

    def test_a_number_in_a_name_stays_where_a_variable_has_it_too(self) -> None:
        graph, remarks = read_graph([["Symphony #2", "composer", "name: #1"], ["name: #1", "death date", "date: #2"]])
        assert (fault_of(graph), remarks, graph.find_unreachable()) == ("", [], ())
        filled = graph.assign(NAME, "Mahler").assign(DATE, "1911")
        assert filled.filled[0] == QuestionTriplet("Symphony #2", "composer", "Mahler")

    def test_one_variable_has_one_type(self) -> None:
        graph, _ = read_graph(
            [["film", "director", "#1"], ["person: #1", "wife", "name: #2"], ["name: #1", "son", "#3"]]
        )
        assert [str(variable) for variable in graph.variables] == ["person: #1", "name: #2", "#3"]

    @pytest.mark.parametrize("text", ["name: #1", "name:#1", " name : # 1 ", "(name: #1)", "[name: #1]"])
    def test_ways_to_write_a_variable(self, text: str) -> None:
        graph, _ = read_graph([["film", "director", text]])
        assert graph.variables == (NAME,)

    @pytest.mark.parametrize(
        ("row", "fault"),
        [
            (["a", "b"], "is not three texts"),
            (["a", "b", "c", "d"], "is not three texts"),
            (["a", " ", "#1"], "is not three texts"),
            (["a", "b", "c"], "holds no variable"),
            (["#1", "like", "name: #1"], "leads from a thing to itself"),
        ],
    )
    def test_bad_triplets_are_dropped_one_by_one(self, row: list[str], fault: str) -> None:
        graph, [remark] = read_graph([*CHAIN, row])
        assert graph == read_graph(CHAIN)[0]
        assert f"since it {fault}: ({'; '.join(row)})" in remark


class TestFilling:
    def test_a_value_is_filled_in_everywhere(self) -> None:
        graph, _ = read_graph([*CHAIN, ["place: #3", "birthplace of", "name: #1"]])
        assert graph.candidates() == [graph.triplets[0]]
        filled = graph.assign(NAME, "Edward Cahn")
        assert [str(triplet) for triplet in filled.filled] == [
            "(Laughter in Hell; director; Edward Cahn)",
            "(Edward Cahn; death date; date: #2)",
            "(place: #3; birthplace of; Edward Cahn)",
        ]
        assert filled.candidates() == list(filled.filled[1:])
        assert graph.candidates() == [graph.triplets[0]], "the first graph is what it was"

    def test_a_typed_variable_in_a_name_or_a_relation_is_waited_for(self) -> None:
        rows = [["mayor of city: #3 in 1955", "party", "name: #1"], ["Ordet", "set in", "city: #3"]]
        rows += [["Mozart", "first visited city: #3 in", "year: #2"]]
        graph, remarks = read_graph(rows)
        assert (graph.candidates(), remarks) == ([graph.triplets[1]], [])
        filled = graph.assign(Variable(3, "city"), "Vedersø")
        assert [str(triplet) for triplet in filled.candidates()] == [
            "(mayor of Vedersø in 1955; party; name: #1)",
            "(Mozart; first visited Vedersø in; year: #2)",
        ]

    def test_printed_and_drawn(self) -> None:
        graph = read_graph([*CHAIN, ['"X" film', "date", "date: #2"]])[0].assign(NAME, "Edward Cahn")
        assert str(graph).splitlines() == [
            "(Laughter in Hell; director; name: #1 = Edward Cahn)",
            "(name: #1 = Edward Cahn; death date; date: #2)",
            '("X" film; date; date: #2)',
        ]
        assert graph.mermaid().splitlines() == [
            "flowchart LR",
            '    n0["Laughter in Hell"]',
            '    v1(["name: #1 = Edward Cahn"])',
            '    v2(["date: #2"])',
            '    n1["#quot;X#quot; film"]',
            '    n0 -- "director" --> v1',
            '    v1 -- "death date" --> v2',
            '    n1 -- "date" --> v2',
        ]

    @given(st.lists(st.tuples(st.integers(0, 5), st.integers(0, 5)), max_size=8))
    def test_what_can_be_reached_is_what_can_be_filled(self, ends: list[tuple[int, int]]) -> None:
        """From names (0) along triplets, in any order."""
        graph, _ = read_graph([[_end(head, "a"), "r", _end(tail, "b")] for head, tail in ends])
        reached = {0}
        for _ in ends:
            for head, tail in ends:
                if head != tail and ({head, tail} & reached):
                    reached |= {head, tail}
        assert {variable.number for variable in graph.find_unreachable()} == {
            v.number for v in graph.variables
        } - reached


def _end(number: int, name: str) -> str:
    return f"#{number}" if number else name


class TestFaults:
    CIRCLE = (["name: #1", "father", "name: #2"], ["name: #2", "son", "name: #1"])

    def test_a_wrong_graph_goes_back_once(self) -> None:
        with Scripted([reply(self.CIRCLE), reply(CHAIN, ["#2"])]) as model:
            graph = GraphConstruction(model=model).construct("When did the director of Laughter in Hell die?")
        assert graph == read_graph(CHAIN, ["#2"])[0]
        correction = model.prompts[1].correction
        assert correction is not None
        assert "hang on each other in a circle" in correction.request

    @pytest.mark.parametrize("wrong", [reply(CIRCLE), reply([["a", "b", "c"]]), reply([]), "The director died."])
    def test_a_graph_that_stays_wrong_is_none_and_reported(self, wrong: str) -> None:
        with account() as spent, Scripted([wrong, wrong]) as model:
            assert GraphConstruction(model=model).construct("q") is None
        assert len(spent.problems) == 1

    def test_what_nothing_leads_to_is_reported(self) -> None:
        with account() as spent, Scripted([reply([*CHAIN, ["name: #3", "wife", "name: #4"]], ["#2", "#9"])]) as model:
            graph = GraphConstruction(model=model).construct("q")
        assert graph is not None
        assert (graph.candidates(), graph.targets) == ([graph.triplets[0]], (DATE,))
        assert spent.problems == [
            "the question graph asks for '#9', which none of its triplets holds",
            "nothing leads to name: #3, name: #4 in the question graph",
        ]

    @pytest.mark.parametrize(
        "sloppy",
        [
            reply(["(Laughter in Hell; director; name: #1)", "(name: #1; death date; date: #2)"], "date: #2"),
            reply([dict(zip(("head", "relation", "tail"), row, strict=True)) for row in CHAIN], [2]),
            "Here it is:\n```json\n" + reply(CHAIN, "2") + "\n```",
        ],
    )
    def test_sloppy_forms_cost_no_correction(self, sloppy: str) -> None:
        with Scripted([sloppy]) as model:
            assert GraphConstruction(model=model).construct("q") == read_graph(CHAIN, ["date: #2"])[0]

    def test_types_are_a_switch(self) -> None:
        with Scripted([reply(CHAIN), reply(CHAIN)]) as model:
            typed = GraphConstruction(model=model).construct("q")
            plain = GraphConstruction(model=model, typed=False).construct("q")
        assert [str(graph).splitlines()[0] for graph in (typed, plain)] == [
            "(Laughter in Hell; director; name: #1)",
            "(Laughter in Hell; director; #1)",
        ]
        assert ["name: #1" in prompt.system for prompt in model.prompts] == [True, False]
