"""Names to objects: every name, every parameter, and what a typo gets to hear."""

from pathlib import Path

import pytest

from tables import read_table
from triplebeam.answer import Agent
from triplebeam.assemble import (
    EXTRACTORS,
    Context,
    Index,
    IndexReader,
    context_of,
    make_embedder,
    make_extractor,
    make_model,
    open_index,
)
from triplebeam.assemble.table import list_agents
from triplebeam.embed.embedder import Embedder
from triplebeam.errors import BadInputError, EmbedderMismatchError, ModelMissingError
from triplebeam.extract.triples_file import TriplesFile
from triplebeam.index.folder.snapshot import Snapshot
from triplebeam.methods.agent import EvidenceAgent
from triplebeam.methods.gear import Cascade, NaiveGE, SyncGE
from triplebeam.retrieve.bases import BM25, Hybrid
from triplebeam.settings import Settings
from triplebeam.testing.scripted import Scripted


@pytest.fixture(scope="module")
def collection(world: Snapshot, words: Embedder) -> Index:
    return IndexReader(Context(world, Settings(), words))


@pytest.mark.parametrize(
    "base", ["bm25", "dense@passages", "hybrid", "bm25@triples", "hybrid@triples", "scaled_hybrid+gnn_ret"]
)
@pytest.mark.parametrize("behind", ["", "+naive_ge", "+naive_ge[scorer=exact]", "+naive_ge+naive_ge[scorer=pooled]"])
def test_every_method_can_be_asked(collection: Index, base: str, behind: str) -> None:
    assert "film" in collection.search("Laughter in Hell", method=base + behind, k=5).ids


def test_parameters_arrive(collection: Index) -> None:
    walk = "base_k=7, width=3,length=4,neighbours=5,diversity=inf"
    graph = collection.retriever(f"hybrid[depth=20,constant=1.5]+naive_ge[{walk},scorer=cascade,shortlist=2]")
    assert isinstance(graph, NaiveGE)
    assert isinstance(graph.base, Hybrid)
    assert (graph.base.depth, graph.base.constant) == (20, 1.5)
    assert (graph.base_k, graph.width, graph.length, graph.neighbours, graph.diversity) == (7, 3, 4, 5, float("inf"))
    assert isinstance(graph.scorer, Cascade)
    assert graph.scorer.shortlist == 2


def test_a_retriever_is_made_once(collection: Index) -> None:
    assert collection.retriever("hipporag2") is collection.retriever("hipporag2")


@pytest.mark.parametrize(
    ("method", "words_of_the_message"), read_table(__file__, "test_a_wrong_name_is_reported_in_one_line")
)
def test_a_wrong_name_is_reported_in_one_line(collection: Index, method: str, words_of_the_message: list[str]) -> None:
    with pytest.raises(BadInputError) as caught:
        collection.retriever(method)
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
def test_every_agent_has_its_name(world: Snapshot, words: Embedder, method: str) -> None:
    collection = IndexReader(Context(world, Settings(), words, Scripted([])))
    assert isinstance(collection.agent(method), Agent)


def test_an_agents_parameters_and_base_arrive(world: Snapshot, words: Embedder) -> None:
    agent = IndexReader(Context(world, Settings(), words, Scripted([]))).agent("agent[max_steps=2]:bm25")
    assert isinstance(agent, EvidenceAgent)
    assert agent.max_steps == 2
    assert isinstance(agent.retriever, SyncGE)
    assert isinstance(agent.retriever.base, BM25)
    assert agent.retriever.base_k == 10
    assert isinstance(agent.passage_link.passages, BM25)
    assert isinstance(agent.passage_link.triples, BM25)


@pytest.mark.parametrize(("method", "words_of_the_message"), read_table(__file__, "test_a_wrong_agent_is_reported"))
def test_a_wrong_agent_is_reported(
    world: Snapshot, words: Embedder, method: str, words_of_the_message: list[str]
) -> None:
    with pytest.raises(BadInputError) as error:
        IndexReader(Context(world, Settings(), words, Scripted([]))).agent(method)
    assert all(part in str(error.value) for part in words_of_the_message)


def test_a_question_of_broken_bytes_is_refused(collection: Index) -> None:
    typed = b"lak\xc3e".decode("utf-8", "surrogateescape")
    for refused in (collection.search, collection.ask):
        with pytest.raises(
            BadInputError, match=r"the question has '\\udcc3', which is not a valid .* in 'lak\\udcc3e'"
        ):
            refused(typed)


def test_of_a_long_text_only_what_is_near_a_broken_byte_is_quoted(collection: Index) -> None:
    with pytest.raises(BadInputError, match=r"in 'l+\\ud800") as raised:
        collection.search("l" * 100 + "\ud800" * 3_000)
    assert len(str(raised.value)) < 500


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


def test_the_llm_extractor_gets_its_model(tmp_path: Path) -> None:
    settings = Settings(home=tmp_path, model="m", base_url="http://127.0.0.1:9/v1", api_key="secret")
    extractor = make_extractor("llm", None, settings)
    assert extractor is not None
    assert extractor.name.startswith("llm:m:")
    assert "secret" not in repr(extractor)


def test_room_for_thoughts_and_parameters_arrive(tmp_path: Path) -> None:
    settings = Settings(home=tmp_path, model="m", max_tokens=9000, parameters={"reasoning_effort": "low"})
    assert "max_tokens=9000, parameters={'reasoning_effort': 'low'}" in repr(make_model(settings))


def test_an_embedder_behind_an_endpoint(tmp_path: Path) -> None:
    settings = Settings(home=tmp_path, base_url="http://127.0.0.1:9/v1", api_key="secret")
    embedder = make_embedder("openai:small", settings)
    assert embedder.name == "openai:small"
    assert "secret" not in repr(embedder)


def test_the_calls_of_a_users_own_model_are_counted(world: Snapshot, words: Embedder) -> None:
    replies = ['{"facts": []}', '{"found": true, "answer": "1963", "sentence": "In 1963."}']
    with Scripted(replies) as model:
        answer = IndexReader(Context(world, Settings(), words, model)).agent("single_step").answer("When did he die?")
    assert answer.usage.calls == 2


def test_reading_shares_the_client_unless_it_has_its_own(world: Snapshot, words: Embedder, tmp_path: Path) -> None:
    main = Settings(model="big", completions=tmp_path / "c.sqlite")
    shared = IndexReader(Context(world, main, words))
    assert context_of(shared).reading_model is context_of(shared).model
    apart = IndexReader(
        Context(world, Settings(model="big", reading_model="quick", completions=tmp_path / "c.sqlite"), words)
    )
    assert (context_of(apart).model.name, context_of(apart).reading_model.name) == ("big", "quick")
