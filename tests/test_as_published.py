"""The papers' methods are those of their tables, and the experiment files run them."""

import json
import re
from collections.abc import Sequence
from dataclasses import replace
from pathlib import Path
from typing import Any, cast

import pytest

from triplebeam.answer import Agent
from triplebeam.assemble.context import Context
from triplebeam.assemble.method import Method
from triplebeam.embed.embedder import Embedder
from triplebeam.generate.language_model import Completion, Prompt, Usage
from triplebeam.index.folder.snapshot import Snapshot
from triplebeam.methods.gear import Exact, GeAR, SyncGE
from triplebeam.methods.read_once import ReadOnce
from triplebeam.retrieve.bases import Hybrid
from triplebeam.settings import Settings
from triplebeam.testing.scripted import Scripted
from triplebeam_research.experiments.experiment import read_experiment

EXPERIMENTS = Path(__file__).parents[1] / "research/experiments"


@pytest.fixture
def context(world: Snapshot, words: Embedder, tmp_path: Path) -> Context:
    return Context(world, Settings(home=tmp_path), words, Scripted([]))


def test_gear_scores_every_chain_and_does_not_stop_early(context: Context) -> None:
    for method in ("gear", "gear[max_steps=4]:hybrid"):
        gear = Method.parse(method).build(context)
        assert isinstance(gear, GeAR)
        assert isinstance(gear.retriever, SyncGE)
        assert isinstance(gear.retriever.scorer, Exact)
        assert isinstance(gear.retriever.base, Hybrid)
        assert (gear.retriever.base_k, gear.read) == (10, 10)


def test_a_single_step_searches_as_in_table_2(context: Context) -> None:
    table_3 = Method.parse("read:hybrid+sync_ge[scorer=exact]").build(context)
    assert isinstance(table_3, ReadOnce)
    assert repr(table_3.retriever) == repr(Method.parse("hybrid+sync_ge[scorer=exact]").build(context))


def methods_of(name: str) -> set[str]:
    return {method for corpus in read_experiment(EXPERIMENTS / name).corpora() for method in corpus.methods}


@pytest.fixture(autouse=True)
def _data(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("TRIPLEBEAM_DATA", "/data")
    monkeypatch.setenv("TRIPLES", "joint")


@pytest.mark.parametrize("path", sorted(EXPERIMENTS.glob("*.toml")), ids=lambda path: path.stem)
def test_the_tables_run_what_the_papers_ran(path: Path) -> None:
    """No row may abstain, if any answers. GeAR and HippoRAG encode triples by themselves; in GNN-Ret every shared
    keyword joins two passages.
    """
    methods, experiment = methods_of(path.name), read_experiment(path)
    assert experiment.always_answer == any(Method.parse(method).is_agent for method in methods)
    assert not path.stem.startswith("gear") or experiment.index_settings.triples_in_context is False
    assert not path.stem.startswith("gnn-ret") or experiment.index_settings.keyword_passages == 0
    for method in methods:
        if path.stem.startswith("gear-") and method.endswith(("+naive_ge", "+sync_ge")):
            assert f"{method}[scorer=exact]" in methods, "our faster scorer is a row beside the paper's"
        if method.startswith("agent"):
            assert any(each.startswith("gear") for each in methods), f"{method}: the paper's own comes with it"


def abstaining(answer: str = "") -> str:
    """Fits every prompt of a last reading."""
    return json.dumps({"found": False, "answer": answer, "sentence": ".", "reasoning": "."})


FACTS, VERDICT = '{"facts": []}', '{"answerable": true, "answer": "Paris", "why": ""}'
NO_FOLLOW_UP = '{"follow_up": "", "answer": ""}'


@pytest.mark.parametrize(
    ("method", "before"),
    [
        ("closed_book", []),
        ("read:bm25", []),
        ("read:bm25+sync_ge", [FACTS]),
        ("gear:bm25", [FACTS, FACTS, VERDICT]),
        ("ircot:bm25", ['{"sentence": "So the answer is: Paris"}']),
        ("kgp[max_steps=1]:dense", []),
        ("self_ask[retrieval=no]", [NO_FOLLOW_UP, abstaining(), NO_FOLLOW_UP]),
        ("ge_reasoning[retrieval=no]", ['{"triplets": [], "target": []}'] * 2),
    ],
)
def test_every_row_answers_with_the_same_prompt(context: Context, method: str, before: list[str]) -> None:
    for answer in ("London", ""):
        with Scripted([*before, abstaining(answer)]) as model:
            asked = replace(context, given_model=model, always_answer=True)
            agent = Method.parse(method).build_agent(asked)
            assert agent.answer("Laughter").text == answer, "also where the loop came to Paris"
        assert model.prompts[-1].template == "always_answer"


class Unknowing:
    """A model that knows nothing: it fills every form, says "unknown", and answers only where it has to."""

    name = "unknowing"

    def __init__(self, unknown: str) -> None:
        self.unknown = unknown
        self.prompts: list[Prompt] = []

    def complete(self, prompts: Sequence[Prompt]) -> list[Completion]:
        return [Completion(text=self._reply(prompt), usage=Usage(calls=1)) for prompt in prompts]

    def _reply(self, prompt: Prompt) -> str:
        self.prompts.append(prompt)
        if prompt.schema is None:
            return f"So the answer is: {self.unknown}."
        if prompt.template.startswith("ge_reasoning/question_graph"):
            return json.dumps({"triplets": [["A", "maker", "#1"]], "target": ["#1"]})
        if prompt.template == "always_answer":
            return json.dumps({"reasoning": "Only a guess.", "answer": "Paris"})
        properties: Any = prompt.schema["properties"]
        filled = {name: self._value(each.get("type")) for name, each in properties.items()}
        return json.dumps(filled | {"follow_up": "Who laughs?" if "(none)" in prompt.user else ""})

    def _value(self, kind: str) -> object:
        return {"array": [], "boolean": False, "string": self.unknown}[kind]


TABLES = sorted(EXPERIMENTS.glob("ge-reasoning-*.toml"))


@pytest.mark.parametrize("unknown", ["", "unknown", "Not known."])
@pytest.mark.parametrize("path", TABLES, ids=lambda path: path.stem)
def test_every_row_of_a_table_answers_where_the_model_does_not_know(context: Context, path: Path, unknown: str) -> None:
    """Decision 71: a row that may abstain is not compared with one that may not."""
    answers = {}
    for method in sorted(methods_of(path.name)):
        model = Unknowing(unknown)
        asked = replace(context, given_model=model, always_answer=read_experiment(path).always_answer)
        answers[method] = (Method.parse(method).build_agent(asked).answer("Laughter").text, model.prompts[-1].template)
    assert set(answers.values()) == {("Paris", "always_answer")}, answers


@pytest.mark.parametrize(
    "method", ["chain_of_thought:bm25", "self_consistency", "era_cot:bm25", "verify_and_edit:bm25"]
)
def test_outside_an_experiment_a_model_may_say_that_it_does_not_know(context: Context, method: str) -> None:
    model = Unknowing("")
    assert Method.parse(method).build_agent(replace(context, given_model=model)).answer("Laughter").text == ""
    assert "always_answer" not in [prompt.template for prompt in model.prompts]


def prompts_of(context: Context, method: str) -> list[Prompt]:
    """All prompts of a method, to a model that knows nothing."""
    model = Unknowing("unknown")
    agent = Method.parse(method).build(
        replace(context, given_model=model, always_answer=True, gold={"Laughter": ["film"]})
    )
    _ = agent.answer("Laughter") if isinstance(agent, Agent) else agent.retrieve("Laughter")
    return model.prompts


@pytest.mark.parametrize("path", sorted(EXPERIMENTS.glob("*.toml")), ids=lambda path: path.stem)
def test_rows_of_the_papers_quote_nothing(context: Context, path: Path) -> None:
    for method in methods_of(path.name):
        needs_no_file = "weights=" not in method and "late" not in method
        if not method.startswith("agent") and Method.parse(method).uses_model and needs_no_file:
            asked = [prompt for prompt in prompts_of(context, method) if prompt.template != "always_answer"]
            assert not [each.template for each in asked if re.search("quot|letter by letter", each.system)], method
            assert not [each.template for each in asked if "quotation" in json.dumps(each.schema)], method


def test_ours_quote(context: Context) -> None:
    fields = {"agent:bm25": '"fact"', "single_step:bm25": '"fact"', "grounded_reasoning:bm25": '"quotation"'}
    for method, field in fields.items():
        assert any(field in json.dumps(each.schema) for each in prompts_of(context, method)), method


def test_gear_reasons_as_published(context: Context) -> None:
    """Appendix J.2: answerability, and the answer or the reason; the next query is another prompt's."""
    asked = {each.template: each for each in prompts_of(context, "gear:bm25")}
    reason, rewrite = asked["published/reason"], asked["published/rewrite"]
    assert set(cast("Any", reason.schema)["properties"]) == {"answerable", "answer", "why"}
    assert "earch" not in reason.system + reason.user + rewrite.system + rewrite.user
    assert "Reason: unknown" in rewrite.user, "Eq. 7: the reason is part of it"
    assert not {"gear/reason", "gear/rewrite"} & set(asked)


QUESTION_FIRST = {
    "read": "always_answer",
    "ircot": "always_answer",
    "kgp": "always_answer",
    "iter_retgen[own_answer=yes]": "iter_retgen/generate",
    "self_ask": "published/sub_answer",
    "rgnn_ret": "published/sub_answer",
}


@pytest.mark.parametrize("method", QUESTION_FIRST)
def test_the_question_comes_before_the_passages(context: Context, method: str) -> None:
    """GNN-Ret, appendix I: in the last reading of one retrieval, IRCoT and KGP, in each step of the others."""
    name, _, parameters = method.rstrip("]").partition("[")
    for first in ("yes", "no"):
        asked = prompts_of(context, f"{name}[{','.join(filter(None, [parameters, f'question_first={first}']))}]:dense")
        (prompt, *_) = [each for each in asked if each.template == QUESTION_FIRST[method]]
        assert prompt.user.startswith("Question: ") == (first == "yes")
        assert prompt.version.endswith("+question_first") == (first == "yes")


def test_the_question_comes_first_on_two_datasets(monkeypatch: pytest.MonkeyPatch) -> None:
    for path in EXPERIMENTS.glob("gnn-ret-table-[128]*.toml"):
        for corpus in read_experiment(path).corpora():
            agents = [each for each in corpus.methods if Method.parse(each).is_agent and each != "closed_book"]
            first = corpus.name in ("2wikimultihopqa", "iirc")
            assert {"question_first=yes" in each for each in agents} == {first}, (path.name, corpus.name)
