"""An index on a real cluster of three nodes, beside the same index in a folder."""

import os
import signal
import threading
import time
from collections.abc import Callable, Iterable, Iterator
from dataclasses import replace
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from index.opensearch.conftest import world_builder
from patience import SECONDS
from planted_secrets import Curious
from small_world import world_documents
from triplebeam.assemble import Context, Index, IndexReader, context_of
from triplebeam.assemble.indexing import tune_share
from triplebeam.assemble.models import open_source, publisher_of
from triplebeam.embed.embedder import Embedder
from triplebeam.errors import BadInputError, IndexMissingError
from triplebeam.explain.graph import around_entity, find_entity, follow
from triplebeam.index.build.build import IndexBuilder
from triplebeam.index.folder.snapshot import Snapshot
from triplebeam.index.location import Cluster, Folder
from triplebeam.index.opensearch.client import Client, Write
from triplebeam.index.opensearch.documents import KINDS
from triplebeam.index.opensearch.publish import ClusterPublisher
from triplebeam.index.source import Query, Source, TripleStore
from triplebeam.passage import Document
from triplebeam.retrieve.retriever import Retriever
from triplebeam.serve.library import Library
from triplebeam.settings import Settings
from triplebeam.testing.contracts import RetrieverContract, SourceContract, TripleStoreContract

pytestmark = [pytest.mark.slow, pytest.mark.xdist_group("opensearch")]
Build = Callable[..., IndexBuilder]
QUESTION = "Where does the actor of Laughter in Hell live?"


@pytest.fixture
def local(world: Snapshot, words: Embedder) -> Index:
    return IndexReader(Context(world, Settings(), words))


@pytest.fixture
def embedder(words: Embedder) -> Embedder:
    return words


class TestTriplesOfACluster(TripleStoreContract):
    @pytest.fixture
    def store(self, remote: Index) -> TripleStore:
        return context_of(remote).triples

    @pytest.fixture
    def passage_ids(self, world: Snapshot) -> list[str]:
        return world.passages.ids(range(len(world.passages)))


class TestCluster(SourceContract):
    where = 'document in ("film", "actor", "city")'

    @pytest.fixture
    def source(self, remote: Index) -> Source:
        return context_of(remote).source


class TestNeighbourhood(TestCluster):
    where = ""

    @pytest.fixture
    def source(self, remote: Index, words: Embedder) -> Source:
        return context_of(remote).source.graph(Query(QUESTION, words.embed([QUESTION], kind="query")[0]))


class TestMethodsOnACluster(RetrieverContract):
    queries = ("directed", "lake", "Laughter in Hell")

    @pytest.fixture(params=["bm25", "dense@triples", "hybrid", "hybrid+naive_ge", "gnn_ret"])
    def retriever(self, request: pytest.FixtureRequest, remote: Index) -> Retriever:
        return remote.retriever(request.param)


@pytest.mark.parametrize(
    "method",
    [
        *("bm25", "bm25@triples", "dense", "scaled_hybrid", "scaled_hybrid[title_bonus=0.2]"),
        *("hybrid+naive_ge[scorer=exact]", "hipporag2", "scaled_hybrid+gnn_ret", "blend"),
    ],
)
def test_a_small_index_is_searched_as_in_a_folder(method: str, remote: Index, local: Index) -> None:
    """A world of six passages is its own neighbourhood; words count the same, and vectors are the same numbers."""
    for question in (QUESTION, "directed", "Milwaukee lake"):
        here, there = local.search(question, method=method, k=6), remote.search(question, method=method, k=6)
        assert there.ids == here.ids
        np.testing.assert_allclose([hit.score for hit in there], [hit.score for hit in here], rtol=1e-3, atol=1e-4)
        assert [hit.passage.text for hit in there] == [hit.passage.text for hit in here]


def compare_agents(question: str, remote: Index, world: Snapshot, words: Embedder) -> None:
    """Ask GeAR until its last step over a folder and a cluster: every search, every walk and every prompt."""
    models = Curious(), Curious()
    over = (
        IndexReader(Context(world, Settings(), words, models[0])),
        Index(remote.location, settings=remote.settings, embedder=words, model=models[1]),
    )
    here, there = (index.ask(question, method="agent") for index in over)
    assert len(here.steps) > 1
    assert models[1].prompts == models[0].prompts
    assert [hit.passage_id for hit in there.ranking] == [hit.passage_id for hit in here.ranking]


@pytest.mark.parametrize("question", [QUESTION, "On which lake does the city of the actor lie?"])
def test_an_agent_reads_as_over_a_folder(question: str, remote: Index, world: Snapshot, words: Embedder) -> None:
    compare_agents(question, remote, world, words)


def test_documents_facts_and_the_graph_around_an_entity_are_shown(remote: Index, local: Index) -> None:
    assert list(remote.passages.document_ids) == list(local.passages.document_ids)
    assert list(remote.passages.fields()) == list(local.passages.fields())
    hits = [index.search(QUESTION, method="hybrid+naive_ge", k=3) for index in (local, remote)]
    assert [each.chains for each in hits[0]] == [each.chains for each in hits[1]]
    words, name = context_of(local).embedder, "Milwaukee"
    there, here = (around_entity(context_of(index).source, words, name, 10) for index in (remote, local))
    assert there == here
    graphs = [context_of(index).source.graph(entities=[name]) for index in (remote, local)]
    followed = [follow(each, words, find_entity(each, words, name), "Which lake?", 2, 3) for each in graphs]
    assert [chain for chain, *_ in followed[0]] == [chain for chain, *_ in followed[1]]


def test_what_needs_a_whole_graph_says_so(remote: Index) -> None:
    with pytest.raises(BadInputError, match="on OpenSearch each step has its own"):
        remote.search(QUESTION, method="gnn_ret[beta=0.9]")
    with pytest.raises(BadInputError, match="needs the graph of the whole index"):
        _ = context_of(remote).snapshot.passage_graph
    with pytest.raises(BadInputError, match="in a folder only"):
        tune_share(remote.location, 0.5)


@pytest.fixture
def build(address: Callable[[str], str], tmp_path: Path) -> Build:
    return lambda prefix, state="state": world_builder(Cluster.parse(address(prefix), tmp_path / state))


def place_of(builder: IndexBuilder) -> Cluster:
    assert isinstance(builder.publisher, ClusterPublisher)
    return builder.publisher.cluster


def open_published(builder: IndexBuilder) -> Index:
    return Index(place_of(builder), settings=Settings(), embedder=builder.embedder)


def _ids(index: Index, question: str = "film", **options: Any) -> list[str]:
    return sorted(index.search(question, method="dense", k=20, **options).ids)


def test_a_filter_leaves_what_it_leaves_in_a_folder(build: Build, words: Embedder, tmp_path: Path) -> None:
    rows = [
        Document(id=f"d{year}{kind}", text=f"A film of {year}.", metadata={"year": str(year), "a.kind": kind})
        for year in range(1998, 2003)
        for kind in ("plain (1)", "rare")
    ]
    folder, builder = tmp_path / "local.index", build("filtered")
    for each in (IndexBuilder(folder=folder, embedder=words), builder):
        each.build(rows)
    here, there = Index(Folder(folder), settings=Settings(), embedder=words), open_published(builder)
    both = 'year < 2e3 and not a.kind = "rare"'
    for where in ("year >= 2000", both, 'a.kind contains "PLAIN"', "year in (1998, 2002)"):
        assert _ids(there, where=where) == _ids(here, where=where)
    view = there.filter("year >= 2000").filter('a.kind = "rare"')
    assert len(view) == 3
    expected = _ids(here, where='year >= 2000 and a.kind = "rare"')
    assert sorted(view.search("film", method="blend", k=20).ids) == expected
    for index in (here, there):
        with pytest.raises(BadInputError, match=r"no passage has the field 'colour'"):
            index.filter('colour = "red"')
        with pytest.raises(BadInputError, match=r"no passage matches the filter .* \(did you mean 'rare'\?\)"):
            index.filter('a.kind = "Rare"')


def test_readers_see_one_generation_whatever_is_published(build: Build) -> None:
    builder = build("changing")
    assert builder.build(world_documents()).published
    assert not builder.build(world_documents()).published
    before = open_published(builder)
    assert "director" in _ids(before)
    builder.remove(["director"])
    after = open_published(builder)
    assert _ids(after) == sorted({"film", "actor", "city", "lake", "other"})
    assert "director" in _ids(before), "the generation that is open is kept"
    triples = context_of(after).triples
    assert not [each for each in triples.triples_of(["film", "actor"]) if "died" in str(triples.triple(int(each)))]
    builder.build([Document(id="film", title="Laughter in Hell", text="Another text.", is_passage=True)])
    assert open_published(builder).passages["film"].text == "Another text."
    with pytest.raises(IndexMissingError, match="has changed since it was opened"):
        _ids(before, "another question")
    builder.remove(["film", "actor", "city", "lake", "other"])
    with pytest.raises(IndexMissingError, match="there is no index"):
        open_source(place_of(builder))


def test_an_index_that_is_written_anew_is_divided_as_before(build: Build, address: Callable[[str], str]) -> None:
    """Shards and copies in an address are for a new index; so are those that it does not name."""
    builder = build("divided")
    builder.build(world_documents())
    plain = Cluster.parse(address("divided").partition("?")[0], place_of(builder).root)
    assert (plain.shards, plain.replicas) == (1, None)
    client = Client(plain)
    for kind in KINDS[1:]:
        client.request("DELETE", f"/{plain.prefix}-{kind}-000001")
    replace(builder, publisher=publisher_of(plain)).remove(["other"])
    for kind in KINDS:
        path = f"/{client.cluster.prefix}-{kind}-000002/_settings"
        [found] = client.request("GET", path, flat_settings="true").values()
        known = found["settings"]
        assert (known["index.number_of_shards"], known["index.number_of_replicas"]) == ("2", "1")
        assert "index.auto_expand_replicas" not in known


def test_what_was_lost_on_the_cluster_is_published_again(build: Build) -> None:
    builder = build("lossy")
    builder.build(world_documents())
    client = Client(place_of(builder))
    client.request("DELETE", f"/{client.cluster.prefix}-triples-000001")
    assert builder.repair().published
    assert len(context_of(open_published(builder)).triples.triples_of(["film"])) == 2


def test_only_the_folder_that_has_the_documents_may_write(build: Build) -> None:
    build("owned").build(world_documents())
    with pytest.raises(BadInputError, match="published from another machine or folder"):
        build("owned", "elsewhere").build(world_documents()[:1])


def test_a_server_finds_the_index_by_its_prefix(build: Build, words: Embedder, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("triplebeam.index.opensearch.source._SECONDS_BETWEEN_LOOKS", 0.0)
    builder = build("served")
    builder.build(world_documents())
    library = Library([place_of(builder)], Settings(), embedder=words)
    library.open_all()
    [name] = library.names()
    assert name.endswith("-served")
    assert len(library.documents(name)) == 6
    builder.remove(["film"])
    assert "film" not in library.documents(name), "a new generation is opened"


def test_a_node_dies_while_documents_are_indexed_and_searched(
    nodes: dict[str, Any],
    remote: Index,
    world: Snapshot,
    build: Build,
    words: Embedder,
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    """The last test here: two nodes are left. Nothing that was acknowledged is lost, every search has a reply, and an
    agent asks as over a folder.
    """
    builder, killed, replies = build("dying"), threading.Event(), []
    rows = [Document(id=f"row {number}", text=f"Row {number} of many.") for number in range(3000)]

    def searching() -> None:
        while not killed.is_set() or len(replies) < 20 or time.monotonic() < until[0]:
            replies.append(len(remote.search("Which lake?", method="hybrid", k=3)))

    def unfinished(writes: Iterable[Write]) -> Iterator[Write]:
        for number, each in enumerate(writes):
            assert number < len(rows) - 100 or killed.wait(5 * SECONDS)
            yield each

    until, write = [0.0], Client.write
    monkeypatch.setattr(Client, "write", lambda client, writes: write(client, unfinished(writes)))
    searcher = threading.Thread(target=searching, daemon=True)
    searcher.start()
    killer = threading.Thread(target=_kill_when_written, args=(builder, nodes, killed, until), daemon=True)
    killer.start()
    try:
        report = builder.build(rows)
        killer.join(5 * SECONDS)
    finally:
        killed.set()
    searcher.join(SECONDS)
    assert not searcher.is_alive()
    assert until[0], "the node was not killed"
    assert report.published
    assert set(replies) == {3}
    assert {passage.id for passage in open_published(builder)} == {f"{row.id}#0" for row in rows}
    assert len(list(remote.passages)) == 6
    compare_agents(QUESTION, remote, world, words)


def _kill_when_written(
    builder: IndexBuilder, nodes: dict[str, Any], killed: threading.Event, until: list[float]
) -> None:
    """Kill the node of the first host, which is the one that is asked, once some documents have arrived."""
    client = Client(place_of(builder))
    index = f"{client.cluster.prefix}-passages-000001"

    def written() -> int:
        stats = client.find(f"/{index}/_stats/indexing")
        primaries = stats["_all"]["primaries"] if stats else {}  # without any until the first shard has started
        return int(primaries["indexing"]["index_total"]) if primaries else 0

    try:
        deadline = time.monotonic() + 4 * SECONDS
        while written() < 500:
            assert time.monotonic() < deadline, "documents do not arrive"
            time.sleep(0.02)
        os.kill(nodes["pids"][0], signal.SIGKILL)
        until[0] = time.monotonic() + 3
    finally:
        killed.set()
