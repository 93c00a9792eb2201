"""Title link: the page whose title a fact of other passages names."""

from triplebeam.embed.embedder import Embedder
from triplebeam.index.snapshot import Snapshot
from triplebeam.ranking import Hit, Ranking
from triplebeam.retrieve.fixed_ranking import FixedRanking
from triplebeam.title_link import TitleLink, TitleLinks
from triplebeam.triple import Triple

QUERY = "Who directed Laughter in Hell?"


def title_links(world: Snapshot, words: Embedder, **parameters: float) -> TitleLinks:
    return TitleLinks(
        triples=world.triples, graph=world.entities, passages=world.passages, embedder=words, **parameters
    )


def title_link(world: Snapshot, words: Embedder, *found: str, **parameters: float) -> TitleLink:
    return TitleLink(base=FixedRanking({QUERY: found}), links=title_links(world, words, **parameters))


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


def test_a_fact_counts_by_its_likeness_and_by_its_passage(world: Snapshot, words: Embedder) -> None:
    found = Ranking([Hit("film", 2.0), Hit("city", 1.0)])
    (weighted,) = title_links(world, words).follow([QUERY], [found])
    (bare,) = title_links(world, words, base_weight=0.0).follow([QUERY], [found])
    gained = {hit.passage_id: hit.score - before.score for hit in weighted for before in bare if hit[0] == before[0]}
    assert abs(gained["director"] - 0.3) < 1e-6
    assert abs(gained["lake"] - 0.15) < 1e-6


def test_passages_without_triples_name_nothing(world: Snapshot, words: Embedder) -> None:
    assert len(title_link(world, words, "other").retrieve(QUERY)) == 0


def test_nothing_found_names_nothing(world: Snapshot, words: Embedder) -> None:
    assert title_links(world, words).follow([QUERY], [Ranking()]) == [Ranking()]
