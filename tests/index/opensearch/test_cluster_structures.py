"""What reads a cluster, over replies that are written here: without a cluster."""

import json
from collections.abc import Callable, Mapping, Sequence
from dataclasses import replace
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from typer.testing import CliRunner

from triplebeam.assemble import Context, IndexReader
from triplebeam.embed.embedder import Embedder
from triplebeam.errors import BadInputError, IndexChangedError, IndexDamagedError
from triplebeam.explain.explanation import find_stemmers
from triplebeam.index.arrays.rows import dequantize
from triplebeam.index.location import Cluster
from triplebeam.index.opensearch import hybrid
from triplebeam.index.opensearch.documents import TOO_LONG, encode, entity, field_term, number_of
from triplebeam.index.opensearch.fetched import ClusterPassages
from triplebeam.index.opensearch.generation import Published
from triplebeam.index.opensearch.search import ClusterTriples
from triplebeam.index.opensearch.source import ClusterSource, condition_of
from triplebeam.index.source import GraphStatistics, Manifest, Ownership, Query, VectorSpace
from triplebeam.passage import Passage
from triplebeam.retrieve.scores import min_max
from triplebeam.serve.cli.app import app
from triplebeam.settings import Settings
from triplebeam.where import parse

Json = dict[str, Any]
_CLUSTER = Cluster.parse("opensearch://one:9200/films", Path())


class Replying:
    """A client whose searches are answered here; it remembers them."""

    cluster = _CLUSTER

    def __init__(self, answer: Callable[[str, Json], Json]) -> None:
        self.answer, self.asked = answer, []  # type: ignore[var-annotated]

    def searches(self, lines: Sequence[Json]) -> list[Json]:
        pairs = list(zip(lines[::2], lines[1::2], strict=True))
        self.asked += [body for _, body in pairs]
        return [self.answer(header["index"].split("-")[1], body) for header, body in pairs]


def hits(*found: Mapping[str, Any], total: int = 0, **values: object) -> Json:
    return {"hits": {"hits": list(found), "total": {"value": total or len(found)}}, "aggregations": values}


def publish(answer: Callable[[str, Json], Json]) -> Published:
    manifest = Manifest(
        triplebeam="1",
        created="",
        generation="000001",
        revision=1,
        embedder=VectorSpace(name="words", fingerprint="words-1", dimension=32),
        counts={"documents": 700, "passages": 70_000, "triples": 90_000, "entities": 800, "passages_failed": 7},
        triples_by_extractor={"zqx": 90_000},
        unread_languages={"zq": 3},
        passage_graph=GraphStatistics(nodes=70_000, edges=0, edges_by_kind={}, nodes_without_edges=0),
        ownership=Ownership(exclusive=0.5),
        files={},
    )
    return Published(Replying(answer), 1, "owner", ["english"], manifest)  # type: ignore[arg-type]


def of_groups(kind: str, body: Json) -> Json:
    """Passages have the field group, which is open or closed. What a filter leaves are two of one document."""
    if "found" in body.get("aggs", {}):
        field = body["aggs"]["found"]["terms"]["field"]
        keys = ["group"] if field == "field_names" else [field_term("group", each) for each in ("open", "closed")]
        return hits(found={"sum_other_doc_count": 0, "buckets": [{"key": key} for key in keys]})
    if "aggs" in body:
        return hits(total=2 if kind == "passages" else 5, **{name: {"value": 1} for name in body["aggs"]})
    return hits({"_id": "one"})


def test_a_filtered_index_counts_what_may_be_seen() -> None:
    whole = ClusterSource(publish(of_groups))
    view = whole.filter(parse('group = "open"'))
    counts = view.manifest.counts
    assert (counts["passages"], counts["documents"], counts["triples"], counts["entities"]) == (2, 1, 5, 1)
    assert (counts["passages_without_triples"], counts["passages_failed"]) == (1, 0)
    assert (len(view.passages), len(view.triples), len(view.passage_terms), len(view.passage_vectors)) == (2, 5, 2, 2)
    hidden = ("70000", "90000", "700", "800", "zq")
    assert not [each for each in hidden if each in view.manifest.model_dump_json()]
    assert len(whole.passages) == 70_000


@pytest.mark.parametrize("long", ["hr " * 3000, "🗝" * 4100])
def test_a_value_that_is_too_long_to_be_compared_hides_its_passage(long: str) -> None:
    """It would not be indexed at all, so that `not acl contains "hr"` held for it."""
    assert field_term("acl", long) == f"acl{TOO_LONG}"
    assert field_term("acl", "hr") == "acl\x1fhr"
    query = condition_of(parse('not group contains "hr"'), publish(of_groups))
    assert query["bool"]["must_not"] == [{"terms": {"fields": [f"group{TOO_LONG}"]}}]
    assert json.dumps(query["bool"]["filter"]).count("must_not") == 1


@pytest.mark.parametrize(("k", "size"), [(3, 13), (81_000, 100_000), (200_000, 100_000)])
def test_no_more_triples_are_asked_for_than_a_search_returns(k: int, size: int) -> None:
    whole = ClusterSource(publish(lambda kind, body: hits()))
    whole.triples.search(np.array([1, 0], np.float32), k)
    [body] = whole.published.client.asked  # type: ignore[attr-defined]
    assert body["size"] == size


def test_the_stemmers_of_passages_cost_one_request_however_many_they_are() -> None:
    stemmers = {each: "english" if each == "4" else "german" for each in "01234"}
    sources = (passage(id_, number_of(id_), stemmer) for id_, stemmer in stemmers.items())
    found = hits(*({"_source": each} for each in sources))
    snapshot = ClusterSource(publish(lambda kind, body: found))
    assert find_stemmers(snapshot, list("01234")) == stemmers
    assert len(snapshot.published.client.asked) == 1  # type: ignore[attr-defined]
    assert snapshot.passage_terms.stemmers_of([number_of("4"), number_of("1")]) == ["english", "german"]
    with pytest.raises(IndexChangedError):
        snapshot.passage_terms.stemmers_of([number_of("1"), number_of("9")])


def test_neighbours_are_ranked_by_exact_cosines() -> None:
    """The cluster compares with a rounded query, so that the best may be a little behind."""
    codes = {0: [1, 0], 1: [100, 99], 2: [99, 100]}

    def answer(kind: str, body: Json) -> Json:
        sources = [
            {**triple(each), "ends": ["a", "a"], "code": encode(np.array(row, np.int8))} for each, row in codes.items()
        ]
        return hits(*[{"_id": str(source["number"]), "_source": source} for source in sources][: body["size"]])

    triples = ClusterSource(publish(answer)).triples
    [found] = triples.neighbours([0], np.array([0.6, 0.8], np.float32), 1)
    assert found.tolist() == [2]


def test_a_vector_of_zeros_is_compared_with_nothing() -> None:
    """A cluster refuses to compare its angle."""

    def answer(kind: str, body: Json) -> Json:
        assert body["query"] == {"constant_score": {"filter": {"match_all": {}}}}
        return hits(*({"_source": triple(number)} for number in (2, 0, 1)))

    whole = ClusterSource(publish(answer))
    numbers, cosines = whole.triples.search(np.zeros(2, np.float32), 2)
    assert (numbers.tolist(), cosines.tolist()) == ([0, 1], [0, 0])


def passage(id_: str, number: int, stemmer: str = "english", code: str = "") -> Json:
    content = {"text": "text", "title": "", "start": 0, "end": 4, "metadata": {}, "section": ""}
    known = {"document": "d", "position": number, "content": content, "stemmer": stemmer, "code": code}
    return {"id": id_, "number": number, **known}


def triple(number: int) -> Json:
    parts = ["x" if number % 2 else "a", "b", f"c{number}"]
    known = {"ends": [entity(parts[0]), entity(parts[2])], "stemmer": "english", "code": "AQE="}
    return {"number": number, "passage": f"p{number // 2}", "triple": parts, **known}


@pytest.mark.parametrize("listed", [1, 8])
@pytest.mark.parametrize("matching", [0, 3, 40, 120])
def test_the_best_by_words_and_meaning_are_those_of_all_passages(
    listed: int, matching: int, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Lists of the cluster bound the scores; the one passage without a vector is near to nothing."""
    random, count = np.random.default_rng(7), 120
    stored = np.round(random.normal(size=(count, 32)) * 6000).astype(np.int16)
    stored[-1] = 0
    vector = random.normal(size=32).astype(np.float32) / np.float32(6)
    cosines = dequantize(stored) @ vector
    bm25 = np.where(np.arange(count) < matching, random.uniform(1, 20, count), 0).astype(np.float32)[::-1]

    def answer(kind: str, body: Json) -> Json:
        query = body["query"]
        if "terms" in query:
            rows = query["terms"]["number"]
            return hits(*({"_source": passage(str(row), row, code=encode(stored[row]))} for row in rows))
        if "bool" in query:
            scores, rows = bm25, np.flatnonzero(bm25)
        else:
            scores, rows = np.where(cosines < 0, 1 / (1 - cosines), cosines + 1), np.arange(count - 1)
        best = sorted(rows.tolist(), key=lambda row: -scores[row])
        ends = hits(*({"_source": {"code": encode(stored[row])}} for row in best[-1:]))
        found = ({"sort": [float(scores[row]), row]} for row in best[: body["size"]])
        return hits(*found, farthest=ends)

    monkeypatch.setattr(hybrid, "_LISTED_PER_RESULT", listed)
    published = publish(answer)
    counts = {**published.manifest.counts, "passages": count}
    published = replace(published, manifest=published.manifest.model_copy(update={"counts": counts}))
    scores, source = (min_max(bm25) + min_max(cosines)) / np.float32(2), ClusterSource(published)
    for k in (1, 10, 50):
        numbers, found = source.search_hybrid(Query("Which lake?", vector), k, 1000)
        assert numbers.tolist() == np.argsort(-scores, kind="stable")[:k].tolist()
        np.testing.assert_allclose(found, scores[numbers], rtol=1e-5)
    assert source.search_hybrid(Query("Which lake?", vector), 0, 1000)[0].tolist() == []
    asked = [body["query"].get("terms", {}) for body in published.client.asked]  # type: ignore[attr-defined]
    fetched = [number for terms in asked for number in terms.get("number", ())]
    assert len(fetched) == len(set(fetched)), "what is in memory is not fetched again"


def test_a_view_is_kept_with_its_neighbourhoods(words: Embedder) -> None:
    context = Context(ClusterSource(publish(of_groups)), Settings(), words)
    view = context.view(parse('group = "open"'))
    assert context.view(parse('group = "open"')) is view
    assert view.view(parse('group = "open"')) is view.view(parse('group = "open"'))
    with pytest.raises(BadInputError, match="no passage has the field 'colour'"):
        context.view(parse('colour = "red"'))


def test_a_neighbourhood_is_returned_though_others_evict_it(words: Embedder, monkeypatch: pytest.MonkeyPatch) -> None:
    context = Context(ClusterSource(publish(of_groups)), Settings(), words)

    class Forgetful(dict[str, Context]):
        def __setitem__(self, query: str, found: Context) -> None:
            """As if another thread had evicted it at once."""

    object.__setattr__(context, "_nearby", Forgetful())
    monkeypatch.setattr(ClusterSource, "graph", lambda source, query: query.text)
    assert str(context.around("Which lake?").source) == "Which lake?"


def test_a_triple_is_returned_though_others_evict_it(monkeypatch: pytest.MonkeyPatch) -> None:
    sources = hits(*({"_id": str(number), "_source": triple(number)} for number in range(3)))
    triples = ClusterSource(publish(lambda kind, body: sources)).triples
    monkeypatch.setattr(ClusterTriples, "_known", property(lambda self: {}, lambda self, kept: None), raising=False)
    assert [each["passage"] for each in triples.fetch_triples([2, 0])] == ["p1", "p0"]


def of_two_passages(kind: str, body: Json) -> Json:
    """Each passage has two triples; the entity "a" is in the first of each."""
    query, found = body["query"], [triple(number) for number in range(4)]
    if "term" in query:
        found = [each for each in found if query["term"]["ends"] in each["ends"]]
    if "terms" in query:
        found = [each for each in found if each["passage"] in query["terms"]["passage"]]
    return hits(*({"_source": each} for each in found))


@pytest.mark.parametrize(
    ("options", "printed"),
    [
        ([], ["p0", "a | b | c0", "x | b | c1", "p1", "a | b | c2", "x | b | c3"]),
        (["d1"], ["p1", "a | b | c2", "x | b | c3"]),
        (["--about", "A"], ["p0", "a | b | c0", "p1", "a | b | c2"]),
        (["--about", "A", "d1"], ["p1", "a | b | c2"]),
    ],
)
def test_triples_of_a_cluster_are_printed(
    options: list[str], printed: list[str], words: Embedder, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    snapshot = ClusterSource(publish(of_two_passages))
    rows = [Passage(f"p{number}", "text", "", f"d{number}") for number in range(2)]
    monkeypatch.setattr(ClusterPassages, "__iter__", lambda self: iter(rows))
    monkeypatch.setattr(ClusterPassages, "__contains__", lambda self, id_: id_ in [row.id for row in rows])
    monkeypatch.setattr(ClusterPassages, "documents", [row.document_id for row in rows])
    monkeypatch.setattr(
        "triplebeam.assemble.open_index", lambda place: IndexReader(Context(snapshot, Settings(), words))
    )
    result = CliRunner().invoke(app, ["show", "films", *options, "--triples"])
    assert [line.strip() for line in result.output.splitlines()] == printed


@pytest.mark.parametrize(
    "hit",
    [
        None,
        {},
        {"_source": None},
        {"_source": {"number": 1}},
        {"_source": {**triple(1), "ends": None}},
        {"_source": {**triple(1), "number": "one"}},
    ],
)
def test_documents_that_were_changed_behind_its_back_are_one_sentence(hit: object) -> None:
    source = ClusterSource(publish(lambda kind, body: {"hits": {"hits": [hit]}}))
    for search in (
        lambda: source.triples.search(np.array([1, 0], np.float32), 3),
        lambda: source.triples.triples_of(["p0"]),
        lambda: source.graph(Query("Which lake?", np.array([1, 0], np.float32))),
        lambda: source.search_hybrid(Query("Which lake?", np.array([1, 0], np.float32)), 3, 1000),
        lambda: source.graph(passages=["p0"]),
    ):
        with pytest.raises(IndexDamagedError, match="films are not as Triplebeam wrote them"):
            search()
