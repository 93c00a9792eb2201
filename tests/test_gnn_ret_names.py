"""GNN-Ret by name: its parameters, its bases, weights from a file, and what a typo gets to hear."""

from pathlib import Path

import pytest

from tables import read_table
from triplebeam.assemble import Context, Index, IndexReader, Method
from triplebeam.embed.embedder import Embedder
from triplebeam.errors import BadInputError
from triplebeam.index.folder.snapshot import Snapshot
from triplebeam.methods.gnn_ret import GNNRet, Weights
from triplebeam.methods.gnn_ret.retrieve import RecurrentGNNRet
from triplebeam.retrieve.bases import BM25, Dense, ScaledHybrid
from triplebeam.settings import Settings
from triplebeam_research.training.weights import write_weights


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
    ranking = collection.search("Laughter in Hell drama film directed", method=f"{base}+gnn_ret[relevant=1]", k=6)
    assert "film" in ranking.ids
    assert any(hit.chains for hit in ranking), "what a message brought shows why"
    without = collection.search(
        "Laughter in Hell drama film directed", method=f"{base}+gnn_ret[relevant=1,chains=no]", k=6
    )
    assert without.ids == ranking.ids
    assert not any(hit.chains for hit in without)


def test_it_can_be_expanded_further(collection: Index) -> None:
    assert "film" in collection.search("Laughter in Hell", method="scaled_hybrid+gnn_ret+naive_ge", k=3).ids


def test_it_is_known_as_a_graph_without_a_model() -> None:
    for method in map(Method.parse, ("gnn_ret", "gnn_ret[layers=2]", "scaled_hybrid+gnn_ret")):
        assert method.uses_graph
        assert not method.uses_model
    assert not Method.parse("scaled_hybrid").uses_graph


@pytest.mark.parametrize(
    ("method", "words_of_the_message"), read_table(__file__, "test_what_is_impossible_is_reported_in_one_line")
)
def test_what_is_impossible_is_reported_in_one_line(
    collection: Index, method: str, words_of_the_message: list[str]
) -> None:
    with pytest.raises(BadInputError) as caught:
        collection.retriever(method)
    assert "\n" not in str(caught.value)
    for each in words_of_the_message:
        assert each in str(caught.value)


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
