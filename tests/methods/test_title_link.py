"""Title link: the page whose title a fact of the base's passages names."""

from triplebeam.embed.embedder import Embedder
from triplebeam.index.opened import Index
from triplebeam.methods.title_link import TitleLink
from triplebeam.retrieve.given import GivenRanking
from triplebeam.triple import Triple

QUERY = "Who directed Laughter in Hell?"


def title_link(world: Index, words: Embedder, *found: str, **parameters: int) -> TitleLink:
    base = GivenRanking({QUERY: found})
    return TitleLink(base=base, triples=world.triples, passages=world.passages, embedder=words, **parameters)


def test_the_page_of_a_name_in_the_nearest_facts_comes_with_its_fact(world: Index, words: Embedder) -> None:
    ranking = title_link(world, words, "film").retrieve(QUERY)
    assert set(ranking.ids) == {"film", "director"}  # the film's own page is named by its facts, too
    (hit,) = [hit for hit in ranking if hit.passage_id == "director"]
    assert hit.chains == ((Triple("Laughter in Hell", "directed by", "Edward Cahn"),),)


def test_only_the_nearest_facts_are_followed(world: Index, words: Embedder) -> None:
    ranking = title_link(world, words, "film", "city", followed=1).retrieve(QUERY)
    assert set(ranking.ids) == {"film", "director"}
    assert len(title_link(world, words, "film", "city").retrieve(QUERY, k=1)) == 1


def test_passages_without_triples_name_nothing(world: Index, words: Embedder) -> None:
    assert len(title_link(world, words, "other").retrieve(QUERY)) == 0
