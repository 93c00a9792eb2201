"""A parameter that is accepted is used: set in brackets, it changes the object that runs.

GNN-Ret by name: its parameters, its bases, weights from a file, and what a typo gets to hear.
"""

from collections.abc import Iterator, Mapping
from dataclasses import fields, is_dataclass
from pathlib import Path
from typing import Any, Literal, get_args, get_origin

import pytest

from triplebeam.assemble import Context, Index, IndexReader, Method
from triplebeam.assemble.table import Parameter, Row, list_agents, list_retrievers
from triplebeam.embed.embedder import Embedder
from triplebeam.errors import BadInputError
from triplebeam.index.folder.snapshot import Snapshot
from triplebeam.methods.gnn_ret.retrieve import GNNRet, RecurrentGNNRet
from triplebeam.methods.gnn_ret.weights import Weights
from triplebeam.retrieve.bases import BM25, Dense, ScaledHybrid
from triplebeam.retrieve.retriever import Retriever, for_question
from triplebeam.settings import Settings
from triplebeam.testing.scripted import Scripted
from triplebeam_research.training.trainer import write_weights

ROWS = [*list_retrievers().values(), *list_agents().values()]
#: Defaults that a class or a function leaves open, and another settles.
SETTLED = {
    ("gnn_ret", "message"): "min",
    ("gnn_ret", "edges"): "both",
    ("zero_plus_few_shot", "step_by_step"): True,
}


@pytest.fixture
def context(world: Snapshot, words: Embedder, tmp_path: Path) -> Context:
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
def test_every_parameter_changes_what_runs(
    row: Row, parameter: Parameter, context: Context, weights_file: Path
) -> None:
    plain = shape(Method.parse(row.name).build(context))
    default = SETTLED.get((row.name, parameter.name), parameter.default)
    values = list(other_values(parameter, default, weights_file))
    assert values
    for value in values:
        changed = Method.parse(f"{row.name}[{parameter.name}={value}]").build(context)
        assert shape(changed) != plain, f"{parameter.name}={value}"


@pytest.mark.parametrize("method", ["gnn_ret[alpha=0]", "scaled_hybrid[title_bonus=0]", "ge_reasoning[k1=0]"])
def test_zero_is_accepted_where_the_class_takes_it(method: str, context: Context) -> None:
    Method.parse(method).build(context)


@pytest.mark.parametrize("retriever", ["gnn_ret[beta=0.9]", "gnn_ret[beta=0.9]+naive_ge", "gnn_ret[beta=0.9]+sync_ge"])
def test_recurrence_reaches_through_what_expands_it(retriever: str, context: Context) -> None:
    made = Method.parse(retriever).retriever(context)
    alone = made if isinstance(made, RecurrentGNNRet) else made.base  # type: ignore[attr-defined]
    assert isinstance(alone, RecurrentGNNRet)
    begun = for_question(made)
    assert type(begun if made is alone else begun.base).__name__ == "_Recurrence"  # type: ignore[attr-defined]


@pytest.mark.parametrize("method", list(list_agents()))
def test_an_agent_is_refused_a_count_below_one(method: str, context: Context) -> None:
    for name, parameter in list_agents()[method].parameters.items():
        if parameter.type is int and name != "seed":
            with pytest.raises(BadInputError, match=f"{name} is 0"):
                Method.parse(f"{method}[{name}=0]").build(context)


@pytest.fixture(scope="module")
def collection(world: Snapshot, words: Embedder) -> Index:
    return IndexReader(Context(world, Settings(), words))


def gnn_ret(collection: Index, method: str) -> GNNRet:
    retriever = collection.retriever(method)
    assert isinstance(retriever, GNNRet)
    return retriever


def test_alone_it_is_the_papers(collection: Index) -> None:
    assert repr(gnn_ret(collection, "gnn_ret")) == repr(gnn_ret(collection, "dense+gnn_ret"))
    paper = gnn_ret(collection, "gnn_ret")
    assert isinstance(paper.base, Dense)
    assert (paper.alpha, paper.relevant, paper.message, paper.edges) == ((0.5,), 5, "min", ("structural", "keyword"))


def test_parameters_arrive(collection: Index) -> None:
    found = gnn_ret(collection, "gnn_ret[relevant=3,layers=2,alpha=0.25,message=mean,edges=keyword]")
    assert (found.alpha, found.relevant, found.message, found.edges) == ((0.25, 0.25), 3, "mean", ("keyword",))


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


def test_weights_bring_what_they_were_trained_with(collection: Index, weights: Weights, tmp_path: Path) -> None:
    write_weights(tmp_path / "w.json", weights)
    found = gnn_ret(collection, f"gnn_ret[weights={tmp_path / 'w.json'}]")
    assert (found.alpha, found.relevant, found.message, found.edges) == ((0.25, 0.75), 3, "mean", ("keyword",))
    named = gnn_ret(collection, f"gnn_ret[weights={tmp_path / 'w.json'},relevant=2,message=min,edges=both]")
    assert (named.relevant, named.message, named.edges) == (2, "min", ("structural", "keyword"))


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
