"""Fact links: the page whose title a fact of other passages names, or whose topic it is."""

from dataclasses import replace
from functools import partial
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from small_world import world_builder, world_documents
from triplebeam.embed.embedder import Embedder
from triplebeam.index.folder.snapshot import Snapshot
from triplebeam.passage import Document
from triplebeam.retrieve.blend.links import FactLinks, OwnerLinks, TitleLinks
from triplebeam.triple import Triple
from triplebeam_research.baselines.simple import FixedRanking, TitleLink

QUERY = "Who directed Laughter in Hell?"


def title_links(world: Snapshot, **parameters: Any) -> TitleLinks:
    return TitleLinks(triples=world.triples, graph=world.entities, passages=world.passages, **parameters)


def title_link(world: Snapshot, words: Embedder, *found: str, **parameters: Any) -> TitleLink:
    return TitleLink(base=FixedRanking({QUERY: found}), links=title_links(world, **parameters), embedder=words)


def test_the_page_a_fact_names_comes_with_the_fact(world: Snapshot, words: Embedder) -> None:
    (hit,) = title_link(world, words, "film").retrieve(QUERY)
    assert hit.passage_id == "director"
    assert hit.chains == ((Triple("Laughter in Hell", "directed by", "Edward Cahn"),),)


def test_a_passage_that_names_itself_brings_nothing(world: Snapshot, words: Embedder) -> None:
    """The film's own facts name the film; the actor's do, too, and that counts."""
    assert "film" not in title_link(world, words, "film").retrieve(QUERY).ids
    assert "film" in title_link(world, words, "actor").retrieve(QUERY).ids


def test_only_the_best_passages_are_followed(world: Snapshot, words: Embedder) -> None:
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
    likeness = {
        end: float(max(0, words.embed([fact])[0] @ vector))
        for end, fact in (
            ("director", "Laughter in Hell directed by Edward Cahn"),
            ("lake", "Milwaukee lies on Lake Michigan"),
        )
    }
    close = partial(pytest.approx, abs=0.003)  # stored vectors are rounded
    assert found == {"director": close(likeness["director"]), "lake": close(likeness["lake"] / 2)}


def test_passages_without_triples_and_no_passages_name_nothing(world: Snapshot, words: Embedder) -> None:
    assert len(title_link(world, words, "other").retrieve(QUERY)) == 0
    assert follow_links(title_links(world), words) == {}
