"""Names to objects: every name, every parameter, and what a typo gets to hear.

A parameter that is accepted is used: set in brackets, it changes the object that runs.
"""

from collections.abc import Iterator, Mapping
from dataclasses import fields, is_dataclass
from pathlib import Path
from typing import Any, Literal, get_args, get_origin
from unittest.mock import Mock

import pytest

from tables import read_table
from triplebeam.answer import Agent
from triplebeam.assemble import (
    EXTRACTORS,
    Context,
    Index,
    IndexReader,
    Method,
    make_embedder,
    make_extractor,
    make_model,
    open_index,
)
from triplebeam.assemble.table import Parameter, Row, list_agents, list_retrievers
from triplebeam.embed.embedder import Embedder
from triplebeam.errors import BadInputError, EmbedderMismatchError, ModelMissingError
from triplebeam.extract.triples_file import TriplesFile
from triplebeam.index.folder.snapshot import Snapshot
from triplebeam.methods.agent import EvidenceAgent
from triplebeam.methods.gear import Cascade, NaiveGE, SyncGE
from triplebeam.methods.gnn_ret.retrieve import GNNRet, RecurrentGNNRet
from triplebeam.methods.gnn_ret.weights import Weights
from triplebeam.retrieve.bases import BM25, Dense, Hybrid, ScaledHybrid
from triplebeam.retrieve.retriever import Retriever, for_question
from triplebeam.settings import Settings
from triplebeam.testing.scripted import Scripted
from triplebeam_research.training.trainer import write_weights


@pytest.fixture(scope="module")
def collection(world: Snapshot, words: Embedder) -> Index:
    return IndexReader(Context(world, Settings(), words))


@pytest.fixture(scope="module")
def asking(world: Snapshot, words: Embedder) -> Index:
    return IndexReader(Context(world, Settings(), words, Scripted([])))


@pytest.mark.parametrize(
    "base", ["bm25", "dense@passages", "hybrid", "bm25@triples", "hybrid@triples", "scaled_hybrid+gnn_ret"]
)
@pytest.mark.parametrize("behind", ["", "+naive_ge", "+naive_ge[scorer=exact]", "+naive_ge+naive_ge[scorer=pooled]"])
def test_every_method_can_be_asked(collection: Index, base: str, behind: str) -> None:
    assert "film" in collection.search("Laughter in Hell", method=base + behind, k=5).ids


def test_parameters_arrive(collection: Index) -> None:
    walk = "base_k=7, width=3,length=4,neighbours=5,diversity=inf"
    method = f"hybrid[depth=20,constant=1.5]+naive_ge[{walk},scorer=cascade,shortlist=2]"
    graph = collection.retriever(method)
    assert collection.retriever(method) is graph, "it is made once"
    assert isinstance(graph, NaiveGE)
    assert isinstance(graph.base, Hybrid)
    assert (graph.base.depth, graph.base.constant) == (20, 1.5)
    assert (graph.base_k, graph.width, graph.length, graph.neighbours, graph.diversity) == (7, 3, 4, 5, float("inf"))
    assert isinstance(graph.scorer, Cascade)
    assert graph.scorer.shortlist == 2


@pytest.mark.parametrize(
    ("find", "method", "words_of_the_message"),
    [
        *(("retriever", *row) for row in read_table(__file__, "wrong retrievers")),
        *(("agent", *row) for row in read_table(__file__, "wrong agents")),
    ],
)
def test_a_wrong_name_is_one_line(asking: Index, find: str, method: str, words_of_the_message: list[str]) -> None:
    with pytest.raises(BadInputError) as caught:
        getattr(asking, find)(method)
    assert "\n" not in str(caught.value)
    for each in words_of_the_message:
        assert each in str(caught.value)


def test_what_needs_a_model_says_how_to_get_one(world: Snapshot, words: Embedder) -> None:
    collection = IndexReader(Context(world, Settings(model=None), words))
    for make in (lambda: collection.retriever("hybrid+sync_ge"), lambda: collection.agent("agent")):
        with pytest.raises(ModelMissingError, match="no language model is configured: set TRIPLEBEAM_MODEL"):
            make()


@pytest.mark.parametrize(
    "method",
    [
        *list_agents(),
        *("agent:bm25", "agent[max_steps=2]:hybrid", "agent:hybrid+naive_ge", "agent:hipporag2", "ircot:bm25"),
        *("ircot:hipporag", "ircot:gnn_ret[beta=0.8]", "read:hipporag2", "rgnn_ret:dense", "chain_of_thought:bm25"),
        *("rgnn_ret[question_first=yes,tokens=1000]", "read[tokens=3500,question_first=yes]:dense"),
    ],
)
def test_every_agent_has_its_name(asking: Index, method: str) -> None:
    assert isinstance(asking.agent(method), Agent)


def test_an_agents_parameters_and_base_arrive(asking: Index) -> None:
    agent = asking.agent("agent[max_steps=2]:bm25")
    assert isinstance(agent, EvidenceAgent)
    assert isinstance(agent.retriever, SyncGE)
    assert (agent.max_steps, agent.retriever.base_k) == (2, 10)
    for base in (agent.retriever.base, agent.passage_link.passages, agent.passage_link.triples):
        assert isinstance(base, BM25)


def test_a_question_of_broken_bytes_is_refused(collection: Index) -> None:
    typed = b"lak\xc3e".decode("utf-8", "surrogateescape")
    for refused in (collection.search, collection.ask):
        with pytest.raises(
            BadInputError, match=r"the question has '\\udcc3', which is not a valid .* in 'lak\\udcc3e'"
        ):
            refused(typed)
    with pytest.raises(BadInputError, match=r"in 'l+\\ud800") as raised:
        collection.search("l" * 100 + "\ud800" * 3_000)
    assert len(str(raised.value)) < 500, "only what is near it is quoted"


def test_no_model_is_loaded_for_terms_alone(world: Snapshot, tmp_path: Path) -> None:
    nothing_installed = IndexReader(Context(world, Settings(home=tmp_path, offline=True, embedder="minilm")))
    assert nothing_installed.search("lake", method="bm25").ids[0] == "lake"
    with pytest.raises(ModelMissingError):
        nothing_installed.search("lake", method="dense")


def test_another_embedder_than_the_indexs_is_refused(world: Snapshot, words: Embedder) -> None:
    class Others(type(words)):  # type: ignore[misc]
        fingerprint = "words-2"

    with pytest.raises(EmbedderMismatchError, match="words-2"):
        open_index(world.folder, embedder=Others()).search("lake")


def test_extractors_by_name(tmp_path: Path) -> None:
    offline = Settings(home=tmp_path, offline=True)
    assert make_extractor("none", None, offline) is None
    assert isinstance(make_extractor("local", tmp_path / "triples.jsonl", offline), TriplesFile)
    with pytest.raises(ModelMissingError, match="downloads are turned off"):
        make_extractor("local", None, offline)
    with pytest.raises(ModelMissingError, match="TRIPLEBEAM_MODEL"):
        make_extractor("llm", None, offline)
    with pytest.raises(BadInputError, match="did you mean 'local'"):
        make_extractor("locl", None, offline)
    assert EXTRACTORS == ("local", "llm", "llm-two-step", "none")


def test_an_extractor_a_model_and_an_embedder_have_their_settings_and_show_no_key(tmp_path: Path) -> None:
    endpoint = {"model": "m", "base_url": "http://127.0.0.1:9/v1", "api_key": "secret"}
    settings = Settings(home=tmp_path, **endpoint, max_tokens=9000, parameters={"reasoning_effort": "low"})
    extractor, embedder = make_extractor("llm", None, settings), make_embedder("openai:small", settings)
    assert extractor is not None
    assert (extractor.name[:6], embedder.name) == ("llm:m:", "openai:small")
    assert "max_tokens=9000, parameters={'reasoning_effort': 'low'}" in repr(make_model(settings))
    assert "secret" not in f"{extractor!r} {embedder!r} {make_model(settings)!r}"


def test_the_calls_of_a_users_own_model_are_counted(world: Snapshot, words: Embedder) -> None:
    replies = ['{"facts": []}', '{"found": true, "answer": "1963", "sentence": "In 1963."}']
    with Scripted(replies) as model:
        answer = IndexReader(Context(world, Settings(), words, model)).agent("single_step").answer("When did he die?")
    assert answer.usage.calls == 2


def test_reading_shares_the_client_unless_it_has_its_own(world: Snapshot, words: Embedder, tmp_path: Path) -> None:
    shared = Context(world, Settings(model="big", completions=tmp_path / "c"), words)
    assert shared.reading_model is shared.model
    apart = Context(world, Settings(model="big", reading_model="quick", completions=tmp_path / "c"), words)
    assert (apart.model.name, apart.reading_model.name) == ("big", "quick")


ROWS = [*list_retrievers().values(), *list_agents().values()]
#: Defaults that a class or a function leaves open, and another settles.
SETTLED = {("gnn_ret", "message"): "min", ("gnn_ret", "edges"): "both", ("zero_plus_few_shot", "step_by_step"): True}


@pytest.fixture
def with_all(world: Snapshot, words: Embedder, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Context:
    """Return a context with all that a method may need, but for the weights of a reader, which take seconds to load."""
    for load in ("ensure", "open_reader"):
        monkeypatch.setattr(f"triplebeam.assemble.expansions.{load}", Mock(return_value=None))
    entities = tmp_path / "entities.jsonl"
    entities.write_text('{"question": "Who?", "entities": ["Edward Cahn"]}\n')
    return Context(
        world, Settings(home=tmp_path), words, Scripted([]), query_entities=entities, gold={"Who?": ("film",)}
    )


@pytest.fixture
def weights_file(weights: Weights, tmp_path: Path) -> Path:
    write_weights(tmp_path / "w.json", weights)
    return tmp_path / "w.json"


def other_values(parameter: Parameter, default: object, weights: Path) -> Iterator[str]:
    """Values that are not the default, as they are written in brackets."""
    if get_origin(parameter.type) is Literal:
        yield from (word for word in get_args(parameter.type) if word != default)
    elif parameter.type is bool:
        yield "no" if default else "yes"
    elif parameter.type is int:
        yield str((default if isinstance(default, int) else 0) + 3)
    elif parameter.type is float:
        yield "0.375"
    else:
        yield {Path: str(weights), Retriever: "bm25"}[parameter.type]


def shape(made: Any, depth: int = 0) -> object:
    """All that an object is made of, as far as its dataclasses go; fields that its repr leaves out count, too."""
    if depth > 8 or made is None or isinstance(made, int | float | str):
        return made
    if isinstance(made, Mapping):
        return {key: shape(value, depth + 1) for key, value in made.items()}
    if isinstance(made, tuple):
        return [shape(value, depth + 1) for value in made]
    if is_dataclass(made):
        return type(made).__name__, {f.name: shape(getattr(made, f.name), depth + 1) for f in fields(made)}
    return type(made).__name__


CASES = [
    pytest.param(row, parameter, id=f"{row.name}-{parameter.name}")
    for row in ROWS
    if row.name != "late_interaction"
    for parameter in row.parameters.values()
]


@pytest.mark.parametrize(("row", "parameter"), CASES)
def test_parameters_change_what_runs(row: Row, parameter: Parameter, with_all: Context, weights_file: Path) -> None:
    plain = shape(Method.parse(row.name).build(with_all))
    default = SETTLED.get((row.name, parameter.name), parameter.default)
    values = list(other_values(parameter, default, weights_file))
    assert values
    for value in values:
        changed = Method.parse(f"{row.name}[{parameter.name}={value}]").build(with_all)
        assert shape(changed) != plain, f"{parameter.name}={value}"


@pytest.mark.parametrize("method", ["gnn_ret[alpha=0]", "scaled_hybrid[title_bonus=0]", "ge_reasoning[k1=0]"])
def test_zero_is_accepted_where_the_class_takes_it(method: str, with_all: Context) -> None:
    Method.parse(method).build(with_all)


@pytest.mark.parametrize("retriever", ["gnn_ret[beta=0.9]", "gnn_ret[beta=0.9]+naive_ge", "gnn_ret[beta=0.9]+sync_ge"])
def test_recurrence_reaches_through_what_expands_it(retriever: str, with_all: Context) -> None:
    made = Method.parse(retriever).retriever(with_all)
    alone = made if isinstance(made, RecurrentGNNRet) else made.base  # type: ignore[attr-defined]
    assert isinstance(alone, RecurrentGNNRet)
    begun = for_question(made)
    assert type(begun if made is alone else begun.base).__name__ == "_Recurrence"  # type: ignore[attr-defined]


@pytest.mark.parametrize("method", list(list_agents()))
def test_an_agent_is_refused_a_count_below_one(method: str, with_all: Context) -> None:
    for name, parameter in list_agents()[method].parameters.items():
        if parameter.type is int and name != "seed":
            with pytest.raises(BadInputError, match=f"{name} is 0"):
                Method.parse(f"{method}[{name}=0]").build(with_all)


def gnn_ret(collection: Index, method: str) -> GNNRet:
    retriever = collection.retriever(method)
    assert isinstance(retriever, GNNRet)
    return retriever


def test_gnn_ret_has_the_papers_parameters_those_in_brackets_or_those_it_was_trained_with(
    collection: Index, weights_file: Path
) -> None:
    both, trained = ("structural", "keyword"), f"weights={weights_file}"
    brackets = "relevant=3,layers=2,alpha=0.25,message=mean,edges=keyword"
    for method, expected in {
        "gnn_ret": ((0.5,), 5, "min", both),
        f"gnn_ret[{brackets}]": ((0.25, 0.25), 3, "mean", ("keyword",)),
        f"gnn_ret[{trained}]": ((0.25, 0.75), 3, "mean", ("keyword",)),
        f"gnn_ret[{trained},relevant=2,message=min,edges=both]": ((0.25, 0.75), 2, "min", both),
    }.items():
        found = gnn_ret(collection, method)
        assert (found.alpha, found.relevant, found.message, found.edges) == expected
    assert repr(gnn_ret(collection, "gnn_ret")) == repr(gnn_ret(collection, "dense+gnn_ret"))


@pytest.mark.parametrize(
    ("base", "kind", "distance"),
    [("dense", Dense, "cosine"), ("scaled_hybrid", ScaledHybrid, "cosine"), ("bm25", BM25, "scaled")],
)
def test_every_base_with_scores(collection: Index, base: str, kind: type, distance: str) -> None:
    found = gnn_ret(collection, f"{base}+gnn_ret[relevant=1]")
    assert isinstance(found.base, kind)
    assert found.distance == distance
    query = "Laughter in Hell drama film directed"
    ranking = collection.search(query, method=f"{base}+gnn_ret[relevant=1]", k=6)
    assert "film" in ranking.ids
    assert any(hit.chains for hit in ranking), "what a message brought shows why"
    without = collection.search(query, method=f"{base}+gnn_ret[relevant=1,chains=no]", k=6)
    assert without.ids == ranking.ids
    assert not any(hit.chains for hit in without)


def test_it_is_known_as_a_graph_without_a_model() -> None:
    for method in map(Method.parse, ("gnn_ret", "gnn_ret[layers=2]", "scaled_hybrid+gnn_ret")):
        assert method.uses_graph
        assert not method.uses_model
    assert not Method.parse("scaled_hybrid").uses_graph


@pytest.mark.parametrize(
    ("change", "message"),
    [
        ({"base": "bm25"}, "for the base 'bm25', not for 'dense'"),
        ({"embedder": "minilm"}, "for the embedder 'minilm', not for 'words'"),
    ],
)
def test_weights_for_something_else_are_refused(
    collection: Index, weights: Weights, tmp_path: Path, change: dict[str, str], message: str
) -> None:
    other = weights.model_copy(update={"trained_on": weights.trained_on.model_copy(update=change)})
    write_weights(tmp_path / "w.json", other)
    with pytest.raises(BadInputError, match=message):
        collection.retriever(f"gnn_ret[weights={tmp_path / 'w.json'}]")


def test_weights_with_a_beta_make_it_recurrent(collection: Index, weights: Weights, tmp_path: Path) -> None:
    write_weights(tmp_path / "w.json", weights.model_copy(update={"method": "rgnn_ret", "beta": 0.7}))
    trained = collection.retriever(f"gnn_ret[weights={tmp_path / 'w.json'}]")
    assert isinstance(trained, RecurrentGNNRet)
    assert (trained.beta, trained.gnn_ret.alpha) == (0.7, (0.25, 0.75))
