"""GE-Reasoning through loops that a scripted model drives."""

import hashlib
import json
import math
import re
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

import pytest

from small_world import WORLD
from triplebeam.answer import Answer, Step
from triplebeam.errors import BadInputError, EndpointError
from triplebeam.generate.accounting import Accounted
from triplebeam.generate.cached import Cached
from triplebeam.generate.completion_store import CompletionStore
from triplebeam.generate.language_model import Completion, LanguageModel, Prompt, TokenLogProbability, Usage
from triplebeam.generate.scripted import Scripted
from triplebeam.generate.tuned import Tuned
from triplebeam.index.opened import Index
from triplebeam.methods.ge_reasoning import GEReasoning
from triplebeam.passage import Passage
from triplebeam.ranking import Hit, Ranking
from triplebeam.triple import Triple

PASSAGES = {id_: Passage(id_, text, title) for id_, (title, text) in WORLD.items()}
QUESTION = "On which lake lies the city where an actor of Laughter in Hell lived?"
CHAIN = [
    ["Laughter in Hell", "actor", "name: #1"],
    ["name: #1", "lived in", "city: #2"],
    ["city: #2", "lies on", "lake: #3"],
]
WHO, WHERE, LAKE = "Who acted in Laughter in Hell?", "Where did Pat Brien live?", "On which lake lies Milwaukee?"


class Table:
    """A retriever that knows its queries; an unknown one is an error, not an empty list."""

    def __init__(self, table: Mapping[str, Sequence[str]]) -> None:
        self.table = table
        self.asked: list[str] = []

    def retrieve(self, query: str, k: int = 10) -> Ranking:
        self.asked.append(query)
        return Ranking(Hit(id_, -rank) for rank, id_ in enumerate(self.table[query])).top(k)


def completion(reply: Mapping[str, Any]) -> Completion:
    return Completion(text=json.dumps(reply), usage=Usage(calls=1, tokens_in=10, tokens_out=3))


def graph(triplets: Any, *target: str) -> Completion:
    return completion({"triplets": triplets, "target": list(target)})


def asks(question: str) -> Completion:
    return completion({"question": question})


def says(answer: str, sure: float = 0.9, used: Sequence[int] = ()) -> Completion:
    """A sub-answer whose words have the probability ``sure``."""
    text = json.dumps({"sentence": f"It is {answer}.", "answer": answer, "used": list(used)})
    pieces = re.findall(r"\w+|\W+", text)
    words = answer.split()
    scored = (TokenLogProbability(piece, math.log(sure) if piece in words else 0.0) for piece in pieces)
    return Completion(text=text, usage=Usage(calls=1), log_probabilities=tuple(scored))


def extracts(*triples: Triple | Sequence[str]) -> Completion:
    return completion({"triplets": [list(triple) for triple in triples]})


def helpful(*numbers: int) -> Completion:
    return completion({"helpful": numbers})


def final(text: str) -> Completion:
    return completion({"found": bool(text), "answer": text, "sentence": f"It is {text}."})


def agent(model: LanguageModel, table: Table | None = None, **parameters: Any) -> GEReasoning:
    return GEReasoning(model=Accounted(model), retriever=table, passages=PASSAGES, **parameters)


def drive(agent: GEReasoning, question: str = QUESTION) -> tuple[list[Step], Answer]:
    running, steps = agent.steps(question), []
    while True:
        try:
            steps.append(next(running))
        except StopIteration as done:
            return steps, done.value


def first_lines(steps: Sequence[Step]) -> list[str]:
    return [step.thought.splitlines()[0] for step in steps]


STARRED, LIVED = Triple("Pat Brien", "starred in", "Laughter in Hell"), Triple("Pat Brien", "lived in", "Milwaukee")
LIES = Triple("Milwaukee", "lies on", "Lake Michigan")


class TestThreeRounds:
    """Only the third round finds the last passage."""

    @pytest.fixture
    def told(self) -> tuple[Scripted, Table, list[Step], Answer]:
        table = Table({WHO: ["actor", "film"], LAKE: ["city", "lake", "other"]})
        first = [
            graph(CHAIN, "lake: #3"),
            asks(WHO),
            says("John", 0.2),
            extracts(STARRED, LIVED),
            extracts(),
            helpful(1),
        ]
        first += [says("Pat Brien", used=[1]), asks(WHERE), says("Milwaukee", 0.6)]
        then = [asks(LAKE), says("Lake Erie", 0.3), extracts(LIES, ["Milwaukee", "", "x"]), extracts(), helpful(1)]
        with Scripted([*first, *then, says("Lake Michigan", 0.8, [1]), final("Lake Michigan")]) as model:
            return model, table, *drive(agent(model, table))

    def test_the_third_round_finds_the_last_passage(self, told: tuple[Scripted, Table, list[Step], Answer]) -> None:
        _, table, steps, answer = told
        assert [step.query for step in steps] == [QUESTION, WHO, WHERE, LAKE]
        assert table.asked == [WHO, LAKE], "the second sub-answer was sure enough without a search"
        assert ["city" in step.so_far.ids for step in steps] == [False, False, False, True]
        assert (answer.text, answer.loop_text) == ("Lake Michigan", "Lake Michigan")
        assert answer.ending == "every variable has a value"
        assert answer.steps == tuple(steps)
        assert answer.ranking == steps[-1].so_far

    def test_the_graph_fills_in(self, told: tuple[Scripted, Table, list[Step], Answer]) -> None:
        steps = told[2]
        assert steps[0].thought.endswith("(city: #2; lies on; lake: #3)")
        assert ['v1(["name: #1 = Pat Brien"])' in step.picture for step in steps] == [False, True, True, True]
        assert first_lines(steps[1:]) == [
            "name: #1 = Pat Brien (smallest token probability 0.90, after retrieval)",
            "city: #2 = Milwaukee (smallest token probability 0.60, without retrieval)",
            "lake: #3 = Lake Michigan (smallest token probability 0.80, after retrieval)",
        ]
        assert steps[2].thought.splitlines()[-2:] == [
            "(name: #1 = Pat Brien; lived in; city: #2 = Milwaukee)",
            "(city: #2 = Milwaukee; lies on; lake: #3)",
        ]

    def test_sub_questions_see_values(self, told: tuple[Scripted, Table, list[Step], Answer]) -> None:
        asked = [prompt.user for prompt in told[0].prompts if prompt.template == "ge_reasoning/sub_question"]
        assert asked == [
            "Triplet: (Laughter in Hell; actor; name: #1)",
            "Triplet: (Pat Brien; lived in; city: #2)",
            "Triplet: (Milwaukee; lies on; lake: #3)",
        ]

    def test_sub_answers_see_the_history_and_the_facts(self, told: tuple[Scripted, Table, list[Step], Answer]) -> None:
        shown = [prompt.user for prompt in told[0].prompts if prompt.template == "ge_reasoning/sub_answer"]
        history = f"(1) {WHO}\nIt is Pat Brien. Answer: Pat Brien\n(2) {WHERE}\nIt is Milwaukee. Answer: Milwaukee"
        assert all(f"Question: {QUESTION}" in user for user in shown)
        assert ["(no search was made)" in user for user in shown] == [True, False, True, True, False]
        assert history in shown[-1], "line 12 keeps the history"
        assert "The search found:\n1. Milwaukee lies on Lake Michigan\n" in shown[-1]

    def test_evidence(self, told: tuple[Scripted, Table, list[Step], Answer]) -> None:
        answer = told[3]
        assert [fact.triple for fact in answer.evidence] == [
            STARRED,
            Triple("Pat Brien", "lived in", "Milwaukee"),
            LIES,
        ]
        spans = [fact.span for fact in answer.evidence]
        assert [span.passage_id if span else None for span in spans] == ["actor", None, "city"]
        assert not answer.supported, "the second value was never looked for in a passage"
        assert [fact.note for fact in answer.evidence] == [
            f"#1 (name) = Pat Brien: {WHO}",
            f"#2 (city) = Milwaukee: {WHERE}",
            f"#3 (lake) = Lake Michigan: {LAKE}",
        ]

    def test_what_was_read_stands_first(self, told: tuple[Scripted, Table, list[Step], Answer]) -> None:
        assert told[3].ranking.ids == ["actor", "city", "film", "lake", "other"]

    def test_facts_problems_and_calls_by_step(self, told: tuple[Scripted, Table, list[Step], Answer]) -> None:
        *_, steps, answer = told
        assert [step.facts for step in steps] == [(), (STARRED,), (), (LIES,)]
        assert [len(step.problems) for step in steps] == [0, 0, 0, 1]
        assert [step.usage.calls for step in steps] == [1, 6, 2, 6]
        assert answer.usage.calls == 16


def test_a_filtered_variable_succeeds_at_the_second_attempt() -> None:
    table = Table({WHO: ["film"]})
    lines = [graph(CHAIN[:1], "#1"), asks(WHO), says("John", 0.1), extracts(STARRED), helpful(1), says("Jim", 0.49)]
    with Scripted([*lines, says("John", 0.2), says("Pat Brien", 0.5, [1]), final("Pat Brien")]) as model:
        steps, answer = drive(agent(model, table))
    assert first_lines(steps[1:]) == [
        "name: #1 stays open: 'Jim' (smallest token probability 0.49, after retrieval; 0.5 is needed)",
        "name: #1 = Pat Brien (smallest token probability 0.50, after retrieval)",
    ]
    assert (table.asked, answer.text) == ([WHO], "Pat Brien"), "the search is not repeated"
    samples = [prompt.sample for prompt in model.prompts if prompt.template == "ge_reasoning/sub_answer"]
    assert samples == [0, 0, 5, 5]
    assert "Jim" not in model.prompts[-1].user, "what was filtered is not in the history"


COMPARISON = [
    ["Laughter in Hell", "director", "name: #1"],
    ["name: #1", "year of death", "year: #2"],
    ["Ordet", "director", "name: #3"],
    ["name: #3", "year of death", "year: #4"],
]


def test_a_comparison_has_two_branches() -> None:
    answers = {"A?": "Cahn", "B?": "1963", "C?": "Dreyer", "D?": "1968"}
    lines = [line for question, answer in answers.items() for line in (asks(question), says(answer))]
    with Scripted([graph(COMPARISON, "#2", "#4"), *lines, final("Laughter in Hell")]) as model:
        steps, answer = drive(agent(model), "Whose director died first?")
    assert [step.query for step in steps[1:]] == list(answers)
    assert [user.removeprefix("Triplet: ") for prompt in model.prompts if "Triplet" in (user := prompt.user)] == [
        "(Laughter in Hell; director; name: #1)",
        "(Cahn; year of death; year: #2)",
        "(Ordet; director; name: #3)",
        "(Dreyer; year of death; year: #4)",
    ]
    assert (answer.text, answer.ending) == ("Laughter in Hell", "every variable has a value")


def test_a_branch_that_cannot_be_answered_does_not_starve_the_other() -> None:
    lines = [graph(COMPARISON, "#2", "#4"), asks("A?"), says("x", 0.1), asks("C?"), says("Dreyer"), asks("D?")]
    with Scripted([*lines, says("1968"), says("y", 0.1), says("Cahn"), asks("B?"), says("1963"), final("z")]) as model:
        steps, _ = drive(agent(model), "Whose director died first?")
    assert [step.query for step in steps[1:]] == ["A?", "C?", "D?", "A?", "A?", "B?"]


def test_an_answer_without_one_of_its_branches_is_not_supported() -> None:
    table = Table({WHO: ["actor"], "C?": ["film"]})
    rows = [CHAIN[0], ["Ordet", "actor", "name: #4"]]
    lines = [graph(rows, "#1", "#4"), asks(WHO), extracts(STARRED), helpful(1), says("Pat Brien", used=[1])]
    lines += [asks("C?"), extracts(), says("")]
    with Scripted([*lines, final("yes")]) as model:
        _, answer = drive(agent(model, table, always_retrieve=True, max_rounds=2))
    assert [(fact.triple, bool(fact.span)) for fact in answer.evidence] == [
        (STARRED, True),
        (Triple("Ordet", "actor", "name: #4"), False),
    ]
    assert answer.evidence[1].note == "#4 (name): not found"
    assert (answer.text, answer.agreed, answer.supported) == ("yes", True, False)


class TestWrongGraphs:
    CIRCLE = (["#1", "father", "#2"], ["#2", "son", "#1"])

    @pytest.mark.parametrize("wrong", [graph(CIRCLE), graph([["a", "b", "c"]]), graph([]), completion({"x": 1})])
    def test_one_retrieval_instead(self, wrong: Completion) -> None:
        table = Table({"q": ["film", "director"]})
        with Scripted([wrong, wrong, final("Cahn")]) as model:
            [step], answer = drive(agent(model, table), "q")
        assert step.thought.startswith("no question graph could be used: the question itself is searched for")
        assert (len(step.problems), step.ranking.ids, step.usage.calls) == (1, ["film", "director"], 2)
        assert "directed by Edward Cahn" in model.prompts[-1].user
        assert (answer.text, answer.ending) == ("Cahn", "no question graph could be used")
        assert answer.ranking.ids == ["film", "director"]

    def test_a_direct_answer_without_a_retriever(self) -> None:
        with Scripted([graph([]), graph([]), final("Cahn")]) as model:
            [step], answer = drive(agent(model), "q")
        assert step.thought == "no question graph could be used: the question is answered directly."
        assert model.prompts[-1].template == "closed_book"
        assert (answer.text, len(answer.ranking)) == ("Cahn", 0)

    def test_an_unknown_variable_and_bad_triplets_are_told(self) -> None:
        rows = [CHAIN[0], ["too", "short"], ["name: #8", "wife", "name: #9"]]
        with Scripted([graph(rows, "#7"), asks(WHO), says("Pat Brien"), final("")]) as model:
            steps, answer = drive(agent(model))
        assert len(steps[0].problems) == 3
        assert (answer.ending, answer.text) == ("no triplet with one open variable is left", "")


class TestClosedBook:
    def test_nothing_is_retrieved(self) -> None:
        lines = [graph(CHAIN[:2], "#2"), asks(WHO), says("Jim", 0.4), says("Pat Brien", 0.6), asks(WHERE)]
        with Scripted([*lines, says("Milwaukee"), final("")]) as model:
            steps, answer = drive(agent(model))
        assert first_lines(steps[1:])[0].startswith(
            "name: #1 stays open: 'Jim' (smallest token probability 0.40, without"
        )
        assert all(not step.ranking and not step.so_far for step in steps)
        assert (answer.text, answer.sentence) == ("Milwaukee", ""), "what is asked for has a value"
        assert [fact.span for fact in answer.evidence] == [None, None]

    def test_at_most_ten_rounds(self) -> None:
        unsure = [says("x", 0.1)] * 10
        with Scripted([graph(CHAIN[:1]), asks(WHO), *unsure, final("guess")]) as model:
            steps, answer = drive(agent(model))
        assert (len(steps), answer.ending, answer.text) == (11, "the last round was reached", "guess")
        assert model.prompts[-1].template == "closed_book", "no pair was kept"

    def test_attempts_can_be_bounded(self) -> None:
        with Scripted([graph(CHAIN[:1]), asks(WHO), says("x", 0.1), says("x", 0.1), final("")]) as model:
            _, answer = drive(agent(model, max_attempts=2))
        assert answer.ending == "every open triplet was tried as often as it may be"


class TestAgreement:
    def test_samples_where_there_are_no_log_probabilities(self) -> None:
        def plain(*answers: str) -> list[Completion]:
            return [completion({"sentence": "", "answer": answer, "used": [1]}) for answer in answers]

        table = Table({WHO: ["actor"]})
        lines = [graph(CHAIN[:1], "#1"), asks(WHO), *plain("Jim", "Pat Brien", "Pat Brien", "Pat Brien", "")]
        lines += [extracts(STARRED), helpful(1), *plain("Pat Brien", "Pat", "pat brien", "Pat Brien", "Jim")]
        with Scripted([*lines, final("Pat Brien")]) as model:
            steps, answer = drive(agent(model, table))
        assert table.asked == [WHO], "three of five is below the first threshold of agreement"
        assert first_lines(steps[1:]) == ["name: #1 = Pat Brien (agreement of 5 samples 0.60, after retrieval)"]
        assert answer.supported

    def test_parameters_that_cannot_be(self) -> None:
        with pytest.raises(BadInputError, match="retrieve_by is 'gist': it is sub_question or question"):
            agent(Scripted([]), retrieve_by="gist")
        with pytest.raises(BadInputError, match=r"agreement_k2 is 1\.5: a threshold of confidence"):
            agent(Scripted([]), agreement_k2=1.5)

    def test_one_sample_cannot_agree(self) -> None:
        with pytest.raises(BadInputError, match="samples is 1: at least 2"):
            agent(Scripted([]), samples=1)


class TestSwitches:
    """The ablations of Tables 2, 3 and 5."""

    START = (graph(CHAIN[:1], "#1"), asks(WHO))

    def run(
        self, replies: Sequence[Completion], table: Table, **parameters: Any
    ) -> tuple[Scripted, list[Step], Answer]:
        with Scripted([*replies, final("Pat Brien")]) as model:
            return model, *drive(agent(model, table, **parameters))

    def test_retrieval_by_the_question(self) -> None:
        table = Table({QUESTION: ["actor"]})
        replies = [*self.START, says("x", 0.1), extracts(STARRED), helpful(1), says("Pat Brien")]
        model, *_ = self.run(replies, table, retrieve_by="question")
        assert table.asked == [QUESTION]
        assert model.prompts[4].user.endswith(f"Question: {WHO}"), "it is refined for the sub-question"

    def test_without_refinement_passages_are_shown(self) -> None:
        table = Table({WHO: ["actor", "film", "other"]})
        model, _, answer = self.run([*self.START, says("x", 0.1), says("Pat Brien")], table, refining=False)
        shown = model.prompts[3].user
        assert "[1] Pat Brien\nPat Brien starred in" in shown
        assert "[2] Laughter in Hell" in shown
        assert "[3]" not in shown, "two passages are read"
        assert answer.ranking.ids == ["actor", "film", "other"]

    def test_without_the_filter_of_triplets(self) -> None:
        replies = [*self.START, says("x", 0.1), extracts(STARRED, LIVED), says("Pat Brien")]
        _, steps, answer = self.run(replies, Table({WHO: ["actor"]}), triplet_filtering=False)
        assert steps[1].facts == (STARRED, LIVED)
        assert [fact.triple for fact in answer.evidence] == [STARRED, LIVED], "those that name the answer"

    def test_without_the_filter_of_answers(self) -> None:
        _, steps, _ = self.run(
            [*self.START, says("Pat Brien", 0.1), extracts(), says("Jim", 0.2)], Table({WHO: ["film"]}), filtering=False
        )
        assert first_lines(steps[1:]) == ["name: #1 = Jim (smallest token probability 0.20, after retrieval)"]

    def test_without_types(self) -> None:
        _, steps, answer = self.run([*self.START, says("Pat Brien")], Table({}), typed=False)
        assert first_lines(steps[1:])[0].startswith("#1 = Pat Brien")
        assert [fact.note for fact in answer.evidence] == [f"#1 = Pat Brien: {WHO}"]

    def test_without_graph_guidance(self) -> None:
        table = Table({WHO: ["actor"], WHERE: ["actor"], LAKE: ["city"]})
        replies: list[Completion] = []
        for question, fact, value in (
            (WHO, STARRED, "Pat Brien"),
            (WHERE, LIVED, "Milwaukee"),
            (LAKE, LIES, "Michigan"),
        ):
            replies += [asks(question), says("x", 0.1), extracts(fact), helpful(1), says(value, used=[1])]
        model, steps, answer = self.run([*replies, asks("")], table, graph_guidance=False)
        assert [step.query for step in steps] == [WHO, WHERE, LAKE, QUESTION]
        assert ["city" in step.so_far.ids for step in steps] == [False, False, True, True]
        assert answer.ending == "the model asks for nothing further"
        assert [fact.triple for fact in answer.evidence] == [STARRED, LIVED, LIES]
        assert answer.evidence[0].note == f"Pat Brien: {WHO}", "there is no variable"
        assert f"(2) {WHERE}" in model.prompts[-2].user

    def test_without_a_graph_what_the_model_knew_is_evidence_without_words(self) -> None:
        replies = [asks(WHO), says("Pat Brien"), asks(WHERE), says("x", 0.1), extracts(LIVED), helpful(1)]
        replies += [says("Milwaukee", used=[1]), asks(""), final("Milwaukee")]
        with Scripted(replies) as model:
            answer = agent(model, Table({WHERE: ["actor"]}), graph_guidance=False).answer(QUESTION)
        assert [(fact.triple, bool(fact.span)) for fact in answer.evidence] == [
            (Triple(WHO, "has the answer", "Pat Brien"), False),
            (LIVED, True),
        ]
        assert not answer.supported

    @pytest.mark.parametrize("nothing", [[asks("")], [completion({"x": 1})] * 2])
    def test_without_a_graph_and_a_first_sub_question_the_question_is_searched_for(
        self, nothing: list[Completion]
    ) -> None:
        model, [step], answer = self.run(nothing, Table({QUESTION: ["actor"]}), graph_guidance=False)
        assert step.thought.startswith("the model asks for nothing further: the question itself is searched for")
        assert "lived in Milwaukee" in model.prompts[-1].user
        assert (answer.text, answer.ranking.ids) == ("Pat Brien", ["actor"])

    def test_what_was_answered_is_not_asked_again(self) -> None:
        replies = [asks(WHO), says("Pat Brien"), asks(WHO)]
        _, _, answer = self.run(replies, Table({}), graph_guidance=False)
        assert answer.ending == "the model asks for nothing further"

    def test_triples_of_the_index_instead_of_extraction(self, world: Index) -> None:
        replies = [*self.START, says("x", 0.1), helpful(3), says("Pat Brien", used=[1])]
        model, steps, answer = self.run(replies, Table({WHO: ["film", "actor"]}), triples=world.triples)
        assert model.prompts[3].user.startswith("Facts:\n1. Laughter in Hell directed by Edward Cahn\n")
        assert steps[1].facts == (STARRED,)
        assert answer.supported

    def test_always_retrieving(self) -> None:
        replies = [*self.START, extracts(STARRED), helpful(1), says("Pat Brien", used=[1])]
        _, _, answer = self.run(replies, Table({WHO: ["actor"]}), always_retrieve=True)
        assert answer.supported


class TestLosses:
    """What cannot be used is told, and the loop goes on."""

    BAD = Completion(text="no idea", usage=Usage(calls=1))

    def test_a_sub_question_falls_back_on_the_triplets_words(self) -> None:
        table = Table({"Laughter in Hell actor name": ["actor"]})
        lines = [
            graph(CHAIN[:1]),
            self.BAD,
            self.BAD,
            says("x", 0.1),
            self.BAD,
            self.BAD,
            says("Pat Brien"),
            final("p"),
        ]
        with Scripted(lines) as model:
            steps, _ = drive(agent(model, table))
        assert (steps[1].query, len(steps[1].problems)) == ("Laughter in Hell actor name", 2)

    def test_pairs_that_do_not_answer_send_to_the_passages(self) -> None:
        lines = [graph(CHAIN[:1]), asks(WHO), says("x", 0.1), extracts(STARRED), helpful(1), says("Pat Brien")]
        with Scripted([*lines, final(""), final("Milwaukee")]) as model:
            _, answer = drive(agent(model, Table({WHO: ["actor"]})))
        assert "lived in Milwaukee" in model.prompts[-1].user
        assert (answer.text, answer.loop_text) == ("Milwaukee", "")

    def test_an_endpoint_that_is_gone_is_an_error(self) -> None:
        class Gone(Scripted):
            def complete(self, prompts: Sequence[Prompt]) -> list[Completion]:
                if any("Next simpler question" in prompt.user for prompt in prompts):
                    raise EndpointError("the endpoint does not answer")
                return super().complete(prompts)

        with pytest.raises(EndpointError, match="does not answer"):
            drive(agent(Gone([graph(CHAIN), asks(WHO)])))


class Fickle:
    """A model that answers by chance: the same to the same prompt, seed and sample, as a seeded endpoint does."""

    name = "fickle"

    def __init__(self) -> None:
        self.calls = 0

    def complete(self, prompts: Sequence[Prompt]) -> list[Completion]:
        self.calls += len(prompts)
        return [self._reply(prompt) for prompt in prompts]

    def _reply(self, prompt: Prompt) -> Completion:
        chance = hashlib.blake2b(f"{prompt.user}{prompt.seed}{prompt.sample}".encode(), digest_size=1).digest()[0]
        match prompt.template.removeprefix("ge_reasoning/"):
            case "question_graph":
                return graph(CHAIN, "#3")
            case "sub_question":
                return asks(prompt.user)
            case "sub_answer":
                return completion({"sentence": "", "answer": "abc"[chance % 3], "used": []})
            case _:
                return final("abc"[chance % 3])


def test_a_seed_and_a_cache_make_it_deterministic(tmp_path: Path) -> None:
    def answers(seed: int, model: LanguageModel) -> tuple[str, list[str]]:
        answer = agent(Tuned(model=model, seed=seed)).answer(QUESTION)
        return answer.text, [step.thought for step in answer.steps]

    with CompletionStore(tmp_path / "completions") as store:
        fickle = Fickle()
        kept = Cached(model=fickle, store=store)
        first = answers(1, kept)
        paid = fickle.calls
        assert first == answers(1, kept) == answers(1, Fickle())
        assert fickle.calls == paid, "a rerun is replayed"
    assert any(answers(seed, Fickle()) != first for seed in range(2, 6)), "chance it was"
