"""Blend: the formula against its transcription, the share, parts that can be left out, indexes that have little. Fact
links: the page whose title a fact of other passages names, or whose topic it is. Tuning: a share that is surely better
is kept, one that may be chance is not. Ownership: topics by hand, the gate, and where they are shown and kept.
"""

import json
from collections import defaultdict
from collections.abc import Mapping, Sequence
from dataclasses import replace
from pathlib import Path
from typing import Any
from unittest.mock import Mock

import numpy as np
import pytest
from typer.testing import CliRunner

from small_world import TRIPLES, TableExtractor, WordEmbedder, world_builder, world_documents
from triplebeam.assemble import Context, IndexReader, evaluation, open_index
from triplebeam.assemble.evaluation import SHARES, measure_shares
from triplebeam.embed.embedder import Embedder
from triplebeam.errors import BadInputError
from triplebeam.evaluate.questions import Question
from triplebeam.index.build.build import IndexBuilder
from triplebeam.index.build.writing import set_share
from triplebeam.index.content.entities import Topics
from triplebeam.index.folder.snapshot import Snapshot
from triplebeam.index.source import Ownership
from triplebeam.passage import Document
from triplebeam.retrieve.blend.blend import Blend
from triplebeam.retrieve.blend.links import FactLinks, OwnerLinks, TitleLinks
from triplebeam.retrieve.retriever import Retriever
from triplebeam.serve.cli.app import app
from triplebeam.settings import Settings
from triplebeam.testing.contracts import RetrieverContract
from triplebeam.triple import Triple
from triplebeam_research.baselines.simple import FixedRanking, TitleLink

QUESTION = "When did the director of Laughter in Hell die?"
PARTS = ["messages", "triples", "names", "titles", "owners", "tail"]


def blend_of(world: Snapshot, words: Embedder, **parameters: Any) -> Blend:
    brackets = ",".join(f"{name}={value}" for name, value in parameters.items())
    blend = IndexReader(Context(world, Settings(), words)).retriever(f"blend[{brackets}]")
    assert isinstance(blend, Blend)
    return blend


def transcribe(blend: Blend, query: str) -> dict[str, float]:
    """The formula of docs/methods/blend.md, passage by passage, from the parts' own scores."""
    ids = [passage.id for passage in blend.passages]
    number = range(len(ids))
    g, c = blend.share, blend.constant

    def scaled(scores: Sequence[float]) -> list[float]:
        low, high = min(scores), max(scores)
        return [(score - low) / (high - low) if high > low else 0.0 for score in scores]

    def listed(scores: Sequence[float], depth: int = blend.depth) -> list[int]:
        return [row for row in sorted(number, key=lambda row: -scores[row]) if scores[row] > 0][:depth]

    def r(rows: Sequence[int], row: int, constant: float = c) -> float:
        return 1 / (constant + rows.index(row) + 1) if row in rows else 0.0

    def named(links: FactLinks | None, leading: Sequence[float]) -> list[int]:
        best = listed(leading, 10)
        (vector,) = blend.embedder.embed([query], kind="query")
        if links is None or not best:
            return []
        found = links.follow(vector, np.array(best, np.int64), np.array([leading[row] for row in best]))
        return [each.row for each in found if each.worth > 0][: blend.depth]

    plain = scaled(blend.plain.scores(query).tolist())
    near = scaled(blend.dense.scores(query).tolist())
    lists: dict[str, list[int]] = {name: [] for name in ("messages", "triples", "names")}
    if g > 0:
        for name, walk in blend.walks.items():
            (found,) = walk.find_many([query])
            lists[name] = listed(found.scores.tolist()) if found else []
    m, t, n = lists.values()
    walked = bool(m or t or n)
    leading = [1.5 * r(m, row, 5) + r(t, row, 5) + r(n, row, 5) for row in number] if walked else plain
    titles = named(blend.titles, leading)
    owners = named(blend.owners, [leading[row] + r(titles, row, 5) for row in number]) if walked else []
    best = sorted(number, key=lambda row: -plain[row])[: blend.depth]
    scores = [
        g * (r(m, row) + r(t, row) + r(n, row) + 0.5 * r(owners, row) + 0.3 * near[row])
        + (1 - g) * (r(best, row) + 0.3 * plain[row])
        + r(titles, row)
        for row in number
    ]
    third = sorted(scores, reverse=True)[2]
    return {ids[row]: max(scores[row], third) if row in best[:2] else scores[row] for row in number}


@pytest.fixture(scope="module")
def drawn_index(tmp_path_factory: pytest.TempPathFactory, words: Embedder) -> Snapshot:
    """Forty passages of random words, with random triples between twenty-five names, some of which are titles."""
    random = np.random.default_rng(15)
    names = [f"Name{number} Of{number % 7}" for number in range(25)]
    some = [f"word{number}" for number in range(60)]
    rows, table = [], {}
    for number in range(40):
        text = " ".join(random.choice([*some, *names], 20))
        title = names[number] if number < 15 else "Volume" if number < 25 else ""
        rows.append(Document(id=f"p{number:02}", title=title, text=text, is_passage=True))
        facts = random.choice(names, (random.integers(0, 5), 2)).tolist()
        table[f"p{number:02}"] = [Triple(one, "meets", two) for one, two in facts]
    folder = tmp_path_factory.mktemp("drawn") / "index"
    IndexBuilder(folder=folder, embedder=words, extractor=TableExtractor(table)).build(rows)
    return Snapshot.open(folder)


@pytest.mark.parametrize("share", [0, 0.3, 1])
@pytest.mark.parametrize("without", [None, *PARTS])
def test_agrees_with_the_transcription(
    drawn_index: Snapshot, words: Embedder, share: float, without: str | None
) -> None:
    parameters = {"share": share, "depth": 7} | ({"without": without} if without else {})
    blend = blend_of(drawn_index, words, **parameters)
    assert (blend.tail is None) == (without == "tail")
    blend = replace(blend, tail=None)
    for number in range(10):
        names = f"Name{number} Of{number % 7}", f"Name{20 - number}"
        query = f"Who of {names[0]} meets word{number}, or which word{2 * number} meets {names[1]}?"
        expected = transcribe(blend, query)
        ranking = blend.retrieve(query, 7)
        assert not any(without in dict(hit.found_by) for hit in ranking)
        found = {hit.passage_id: hit.score for hit in ranking}
        assert found == {id_: pytest.approx(expected[id_], rel=1e-5) for id_ in found}
        assert min(found.values()) == pytest.approx(sorted(expected.values())[-7], rel=1e-5)


def test_without_a_share_it_is_plain_search_and_titles_and_no_walk_is_made(world: Snapshot, words: Embedder) -> None:
    walk = Mock()
    blend = replace(blend_of(world, words, share=0), walks={"messages": walk})
    ranking = blend.retrieve(QUESTION)
    assert not walk.mock_calls
    assert {part for hit in ranking for part, _ in hit.found_by} - {"terms", "documents"} == {"plain", "titles"}
    bare = replace(blend, titles=None, tail=None).retrieve(QUESTION)
    assert bare.ids == blend.plain.retrieve(QUESTION, 10).ids


@pytest.mark.parametrize("share", [0, 0.3, 1])
def test_the_first_two_of_plain_search_stay_in_front(drawn_index: Snapshot, words: Embedder, share: float) -> None:
    blend = blend_of(drawn_index, words, share=share)
    for number in range(25):
        query = f"Which word{number} meets Name{number % 25} Of{number % 7}?"
        assert set(blend.plain.retrieve(query, 2).ids) <= set(blend.retrieve(query, 5).ids)


def test_the_share_is_that_of_the_index(world: Snapshot, words: Embedder) -> None:
    share = pytest.approx((5 / 6 - 0.5) / 0.4)
    assert blend_of(world, words, depth=30).share == world.manifest.share == world.manifest.ownership.share == share


def test_a_hit_says_which_parts_list_it_and_where(world: Snapshot, words: Embedder) -> None:
    blend = blend_of(world, words, share=0.5)
    (found,) = blend.walks["triples"].find_many([QUESTION])
    assert found is not None
    best = world.passages.ids([int(found.scores.argmax())])[0]
    assert ("triples", 1) in {hit.passage_id: hit.found_by for hit in blend.retrieve(QUESTION)}[best]


class TestBlendContract(RetrieverContract):
    queries = (QUESTION, "Lake Michigan", "laughter")

    @pytest.fixture
    def retriever(self, world: Snapshot, words: Embedder) -> Retriever:
        return IndexReader(Context(world, Settings(), words)).retriever("blend")


def test_the_shipped_blend_finds_both_hops_and_says_why(world: Snapshot, words: Embedder) -> None:
    ranking = IndexReader(Context(world, Settings(), words)).search(QUESTION, k=4)
    by_id = {hit.passage.id: hit for hit in ranking}
    assert {"film", "director"} <= set(by_id)
    assert "titles" in by_id["director"].ranks
    assert (Triple("Laughter in Hell", "directed by", "Edward Cahn"),) in by_id["director"].chains


@pytest.mark.parametrize(
    ("question", "titled", "triples", "found", "absent"),
    [
        pytest.param(QUESTION, True, None, {"film"}, {"titles", "names", "messages"}, id="no extractor"),
        pytest.param(QUESTION, True, {}, {"film"}, {"titles", "names", "messages"}, id="no triple"),
        pytest.param(QUESTION, False, TRIPLES, {"film", "director"}, {"titles"}, id="no title"),
        pytest.param("who writes books?", True, TRIPLES, {"other"}, {"names"}, id="a question that names nothing"),
    ],
)
def test_an_index_or_a_question_that_has_little(
    tmp_path: Path, question: str, titled: bool, triples: Any, found: set[str], absent: set[str]
) -> None:
    rows = [each if titled else replace(each, title="") for each in world_documents()]
    extractor = None if triples is None else TableExtractor(triples)
    IndexBuilder(folder=tmp_path, embedder=WordEmbedder(), extractor=extractor).build(rows)
    ranking = open_index(tmp_path, embedder=WordEmbedder()).retriever().retrieve(question)
    assert found <= set(ranking.ids[:4])
    assert not absent & {part for hit in ranking for part, _ in hit.found_by}


def test_one_passage_is_a_corpus(tmp_path: Path) -> None:
    world_builder(tmp_path).build(world_documents()[:1])
    assert open_index(tmp_path, embedder=WordEmbedder()).search(QUESTION).ids == ["film"]


QUERY = "Who directed Laughter in Hell?"


def title_links(world: Snapshot, **parameters: Any) -> TitleLinks:
    return TitleLinks(triples=world.triples, graph=world.entities, passages=world.passages, **parameters)


def title_link(world: Snapshot, words: Embedder, *found: str, **parameters: Any) -> TitleLink:
    return TitleLink(base=FixedRanking({QUERY: found}), links=title_links(world, **parameters), embedder=words)


def test_the_page_a_fact_names_comes_with_the_fact(world: Snapshot, words: Embedder) -> None:
    (hit,) = title_link(world, words, "film").retrieve(QUERY)
    assert hit.passage_id == "director"
    assert hit.chains == ((Triple("Laughter in Hell", "directed by", "Edward Cahn"),),)
    assert "film" in title_link(world, words, "actor").retrieve(QUERY).ids, "a passage that names itself brings nothing"
    assert title_link(world, words, "film", "city", followed=1).retrieve(QUERY).ids == ["director"]
    assert "lake" in title_link(world, words, "film", "city").retrieve(QUERY).ids
    assert len(title_link(world, words, "film", "city").retrieve(QUERY, k=1)) == 1


def follow_links(links: FactLinks, words: Embedder, **found: float) -> dict[str, float]:
    rows = np.array([links.passages.row(id_) for id_ in found], np.int64)
    (vector,) = words.embed([QUERY], kind="query")
    linked = links.follow(vector, rows, np.array(list(found.values())))
    return {links.passages.ids([each.row])[0]: each.worth for each in linked}


def test_a_fact_counts_by_its_likeness_and_by_its_passage(world: Snapshot, words: Embedder) -> None:
    weighted = follow_links(title_links(world), words, film=2.0, city=1.0)
    bare = follow_links(title_links(world, base_weight=0.0), words, film=2.0, city=1.0)
    assert weighted["director"] - bare["director"] == pytest.approx(0.3)
    assert weighted["lake"] - bare["lake"] == pytest.approx(0.15)


def test_a_title_of_many_passages_leads_nowhere(tmp_path: Path, words: Embedder) -> None:
    rows = [Document(id=f"p{n}", title="Edward Cahn", text=f"Part {n}.", is_passage=True) for n in range(3)]
    world_builder(tmp_path).build([*world_documents(), *rows])
    snapshot = Snapshot.open(tmp_path)
    assert set(follow_links(title_links(snapshot, most=4), words, film=1.0)) == {"director", "p0", "p1", "p2"}
    assert follow_links(title_links(snapshot, most=3), words, film=1.0) == {}


def test_a_title_that_is_only_named_comes_after_the_facts_and_without_a_chain(world: Snapshot, words: Embedder) -> None:
    numbers, rows = world.entities.numbers, world.passages.row
    named = np.array([[rows("film"), numbers["lake michigan"]], [rows("film"), numbers["edward cahn"]]])
    links = title_links(replace(world, entities=replace(world.entities, mentions=named)))
    director, lake = links.follow(words.embed([QUERY], kind="query")[0], np.array([rows("film")]), np.array([1.0]))
    assert (director.row, lake.row) == (rows("director"), rows("lake"))
    assert lake.worth == pytest.approx(0.3)
    assert lake.worth < director.worth
    assert (links.chains(lake), len(links.chains(director))) == ((), 1)


def test_owners_are_those_whose_topic_a_fact_names(world: Snapshot, words: Embedder) -> None:
    """By hand: the film's facts name Edward Cahn, the city's Lake Michigan; a share of a half halves the worth."""
    owners = OwnerLinks(triples=world.triples, graph=world.entities, passages=world.passages)
    found = follow_links(owners, words, film=2.0, city=1.0)
    (vector,) = words.embed([QUERY], kind="query")
    facts = words.embed(["Laughter in Hell directed by Edward Cahn", "Milwaukee lies on Lake Michigan"])
    director, lake = np.maximum(0, facts @ vector).tolist()
    assert found == pytest.approx({"director": director, "lake": lake / 2}, abs=0.003)  # stored vectors are rounded


def test_passages_without_triples_and_no_passages_name_nothing(world: Snapshot, words: Embedder) -> None:
    assert len(title_link(world, words, "other").retrieve(QUERY)) == 0
    assert follow_links(title_links(world), words) == {}


OWN = (5 / 6 - 0.5) / 0.4
QUESTIONS = [Question(id=f"q{number}", question="Who directed it?", gold=("film",)) for number in range(40)]


@pytest.fixture
def recall(monkeypatch: pytest.MonkeyPatch) -> dict[float, float]:
    """Made-up recall of every question, by share."""
    made_up: dict[float, float] = defaultdict(lambda: 0.5)
    monkeypatch.setattr(evaluation, "_recall", lambda index, share, asked: _noisy(made_up[share], len(asked)))
    return made_up


def _noisy(mean: float, count: int) -> np.ndarray:
    return mean + 0.1 * np.resize([1, -1, -1, 1], count)


def test_a_share_that_is_better_on_both_halves_is_chosen(world: Snapshot, recall: dict[float, float]) -> None:
    index = IndexReader(Context(world, Settings()))
    assert measure_shares(index, QUESTIONS).chosen is None, "chance changes nothing"
    recall[0.25] = 0.8
    assert measure_shares(index, QUESTIONS[:3]).chosen is None, "three questions are too few"
    found = measure_shares(index, QUESTIONS)
    assert (found.own, found.chosen, found.difference.mean) == pytest.approx((OWN, 0.25, 0.3))
    with pytest.raises(BadInputError, match="0 questions have gold passages: tuning needs two or more"):
        measure_shares(index, [Question(id="q", question="Who?")])


def test_every_share_is_measured(world: Snapshot, words: Embedder) -> None:
    asked = [
        Question(id="one", question="Who directed Laughter in Hell?", gold=("film", "director")),
        Question(id="two", question="On which lake is Milwaukee?", gold=("city",)),
    ]
    found = measure_shares(IndexReader(Context(world, Settings(), words)), asked)
    assert list(found.recall) == pytest.approx(sorted([*SHARES, OWN]))
    assert all(0 < recall <= 1 for recall in found.recall.values())


def test_the_command(tmp_path: Path, recall: dict[float, float]) -> None:
    folder, questions = tmp_path / "my.index", tmp_path / "q.jsonl"
    world_builder(folder).build(world_documents())
    rows: list[Mapping[str, object]] = [{"id": str(n), "question": f"Who {n}?", "gold": ["film"]} for n in range(40)]
    questions.write_text("\n".join(map(json.dumps, rows)))
    recall[0.0] = 0.9

    def run(*arguments: str) -> str:
        return CliRunner().invoke(app, ["tune", str(folder), *arguments], catch_exceptions=False).stdout

    assert "graph walks have weight 0.00 from now on (+40.0 points" in run(str(questions))
    assert Snapshot.open(folder).manifest.share == 0
    assert "graph walks have weight 0.83, as the index measures it" in run("--reset")
    assert Snapshot.open(folder).manifest.share == pytest.approx(OWN)
    with pytest.raises(BadInputError, match="give a file of questions, or --reset"):
        run()


def show_status(folder: Path, *options: str) -> str:
    shown = CliRunner().invoke(app, ["status", str(folder), *options], catch_exceptions=False).stdout
    return " ".join(shown.split())


def topics(*triples: tuple[int, int, int], passages: int, entities: int) -> Topics:
    """Triples as passage, subject, object."""
    rows = np.array(triples, np.int64).reshape(-1, 3)
    return Topics(rows[:, 1:], rows[:, 0], passages, entities)


def test_the_topic_is_the_most_frequent_subject_and_the_first_between_equals() -> None:
    found = topics((0, 4, 1), (0, 4, 2), (0, 1, 2), (1, 3, 0), (1, 2, 0), passages=3, entities=5)
    assert found.of_passages.tolist() == [4, 2, -1]
    assert found.passage_counts.tolist() == [0, 0, 1, 0, 1]
    assert found.list_owned(1).tolist() == [[4, 0], [2, 1]]


def test_the_share_of_passages_by_hand() -> None:
    """Four passages are about 0, one about 1, one about 2; the last has no triples. So 2 of 7 have their own topics."""
    found = topics(
        (0, 0, 1), (1, 0, 0), (2, 0, 3), (3, 0, 3), (4, 1, 0), (4, 1, 2), (5, 2, 1), (5, 2, 3), passages=7, entities=4
    ).measure_ownership()  # fmt: skip
    assert found.exclusive == pytest.approx(2 / 7)
    nothing = topics(passages=3, entities=0)
    assert (nothing.measure_ownership(), nothing.list_owned(3).tolist()) == (Ownership(exclusive=0), [])


@pytest.mark.parametrize(("exclusive", "share"), [(0.3, 0), (0.5, 0), (0.7, 0.5), (0.9, 1), (1, 1)])
def test_the_gate(exclusive: float, share: float) -> None:
    assert Ownership(exclusive=exclusive).share == pytest.approx(share)


def test_it_is_stored_and_shown(world: Snapshot) -> None:
    """Five of six passages have facts, each about a topic of its own."""
    assert world.manifest.ownership == Ownership(exclusive=5 / 6) == world.entities.topics.measure_ownership()
    topics = "83% of passages have a topic of their own; they start at 50%, full weight is from 90%"
    assert f"graph walks on with weight 0.83 of 1 ({topics}); hops over titles on" in show_status(world.folder)


def test_status_says_what_is_on_where_no_walk_is_made(tmp_path: Path) -> None:
    def status(table: dict[str, list[Triple]]) -> str:
        folder = tmp_path / f"{len(table)}.index"
        world_builder(folder, extractor=TableExtractor(table)).build(world_documents())
        return show_status(folder)

    one = status({"film": TRIPLES["film"]})
    topics = "17% of passages have a topic of their own; they start at 50%, full weight is from 90%"
    assert f"graph walks off ({topics}); hops over titles on" in one
    assert "graph walks off, and so are hops over titles: there are no triples" in status({})


def test_a_tuned_share_outlives_indexing_until_it_is_reset(tmp_path: Path) -> None:
    folder = tmp_path / "index"
    builder = world_builder(folder)
    builder.build(world_documents())
    set_share(folder, 0.25)
    builder.build([*world_documents(), Document(id="new", text="A new passage.", is_passage=True)])
    assert Snapshot.open(folder).manifest.share == 0.25
    assert "set by tune" in show_status(folder)
    assert json.loads(show_status(folder, "--json"))["tuned_share"] == 0.25
    set_share(folder, None)
    assert Snapshot.open(folder).manifest.share == pytest.approx((5 / 7 - 0.5) / 0.4)
