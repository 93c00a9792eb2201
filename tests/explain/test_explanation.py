"""Which chains are shown: small graphs, one question each."""

from collections.abc import Callable
from pathlib import Path

import pytest

from small_world import TableExtractor, WordEmbedder
from triplebeam.assemble import Index, context_of, open_index
from triplebeam.explain.explanation import Explanation
from triplebeam.explain.passages import headings
from triplebeam.explain.search_results import SearchResults
from triplebeam.index.build.build import IndexBuilder
from triplebeam.passage import Document, Passage
from triplebeam.ranking import Hit, Hop
from triplebeam.triple import Chain, Triple

QUESTION = "Where was the author of Ledger born?"
WROTE = Triple("Ada Linde", "wrote", "Ledger")
BORN = Triple("Ada Linde", "was born in", "Turku")
LEADS = Triple("Ada Linde", "leads", "Ledger project")
MENTIONS = Triple("Ledger", "mentions", "Ada Linde")
IS = Triple("Ada Linde", "is", "author")
WAS = Triple("Ada Linde", "was", "Treasurer of Ledger")
THINGS = Triple("Ledger", "does", "other things")
MORE_THINGS = Triple("Maple", "runs", "other things")
SHARED = Triple("Handbook", "describes", "Ledger")
SHARED_TOO = Triple("Handbook", "was born from", "Maple")

FACTS = {
    "ledger": [WROTE, MENTIONS, THINGS, SHARED],
    "people": [BORN, LEADS, IS, WAS, MORE_THINGS, SHARED_TOO],
    "dpkg": [Triple("apt", "calls", "dpkg")],
}


@pytest.fixture(scope="module")
def index(tmp_path_factory: pytest.TempPathFactory) -> Index:
    folder = tmp_path_factory.mktemp("graph") / "small.index"
    titles = {"ledger": "Handbook", "people": "Handbook", "dpkg": "dpkg"}
    documents = [
        Document(id=id_, title=title, text=f"About {id_}.", metadata={"path": f"{id_}.md"}, is_passage=True)
        for id_, title in titles.items()
    ]
    IndexBuilder(folder=folder, embedder=WordEmbedder(), extractor=TableExtractor(FACTS)).build(documents)
    return open_index(folder, embedder=WordEmbedder())


@pytest.fixture
def shows(index: Index) -> Callable[..., bool]:
    def shown(*chain: Triple, hit: str = "people", question: str = QUESTION) -> bool:
        return Explanation(context_of(index).snapshot, question).chains(
            Hit(hit, 1.0, (chain,)), index.passages[hit]
        ) == (chain,)

    return shown


Shows = Callable[..., bool]


def test_a_chain_that_joins_two_documents_is_shown(shows: Shows) -> None:
    assert shows(WROTE, BORN)


def test_a_chain_inside_one_document_is_not(shows: Shows) -> None:
    assert not shows(LEADS, BORN)


def test_a_single_fact_is_shown_if_it_is_about_a_name_in_the_question(shows: Shows) -> None:
    assert shows(WROTE, hit="ledger")
    assert not shows(BORN)
    assert shows(BORN, question="What was Ada Linde's place of birth?")
    assert not shows(Triple("apt", "calls", "dpkg"), hit="dpkg", question="What calls the author?")


@pytest.mark.parametrize("empty", [(MENTIONS, BORN), (MENTIONS,), (WROTE, IS), (IS,)])
def test_facts_that_say_nothing_are_not_hops(shows: Shows, empty: Chain) -> None:
    assert not shows(*empty)
    assert not shows(*empty, hit="ledger")


def test_a_copula_between_two_names_says_something(shows: Shows) -> None:
    assert shows(WROTE, WAS)


def test_facts_that_only_a_common_noun_joins_are_no_chain(shows: Shows) -> None:
    assert not shows(THINGS, MORE_THINGS)


def test_a_title_that_several_files_share_joins_nothing(shows: Shows) -> None:
    assert not shows(SHARED, SHARED_TOO)
    assert not shows(SHARED)  # from elsewhere, and it names the title of this hit, too


def test_a_fact_from_elsewhere_that_names_the_title_is_shown(shows: Shows, index: Index) -> None:
    fact = Triple("Ledger", "is installed by", "dpkg")
    assert shows(fact, hit="dpkg")
    assert not shows(fact, hit="people")


def test_a_chain_that_has_nothing_of_the_question_is_not_shown(shows: Shows) -> None:
    assert not shows(WROTE, BORN, question="How tall is the mast?")


def test_hits_show_only_such_chains(index: Index) -> None:
    hits = [Hit("people", 1.0, ((LEADS, BORN), (WROTE, BORN))), Hit("ledger", 0.5)]
    first, second = SearchResults(context_of(index).source, QUESTION, "", hits)
    assert first.chains == ((WROTE, BORN),)
    assert second.chains == ()
    assert headings([first.passage, second.passage]) == ["Handbook (people.md)", "Handbook (ledger.md)"]


def reached(
    *hops: Hop, found_by: tuple[tuple[str, int], ...] = (("titles", 2),), chains: tuple[Chain, ...] = ()
) -> Hit:
    return Hit("dpkg", 1.0, chains, found_by, hops)


@pytest.mark.parametrize(
    ("hit", "chains"),
    [
        (reached(Hop("ledger", "dpkg")), (("Handbook", "mentions", "dpkg"),)),
        (
            reached(Hop("ledger", "Debian"), found_by=(("owners", 3), ("plain", 9))),
            (("Handbook", "mentions", "Debian"), ("Debian", "is described in", "dpkg")),
        ),
        (
            reached(Hop("ledger", "dpkg"), found_by=(("titles", 20), ("terms", 1), ("plain", 14))),
            (("Handbook", "mentions", "dpkg"),),
        ),
        (reached(Hop("ledger", "dpkg"), found_by=(("titles", 2), ("plain", 1))), ()),  # plain search shows it anyway
        (reached(Hop("ledger", "dpkg"), found_by=()), (("Handbook", "mentions", "dpkg"),)),
        (reached(), ()),
    ],
)
def test_a_link_that_was_followed_explains_a_hit_without_a_chain(index: Index, hit: Hit, chains: Chain) -> None:
    (shown,) = SearchResults(context_of(index).source, "How tall is the mast?", "", [hit])
    assert shown.chains == ((tuple(Triple(*fact) for fact in chains),) if chains else ())


def test_the_fact_that_was_followed_explains_more_than_that_it_is_mentioned(index: Index) -> None:
    fact = Triple("Handbook", "is installed by", "dpkg")
    hit = reached(Hop("ledger", "dpkg"), chains=((LEADS,), (fact,)))
    (shown,) = SearchResults(context_of(index).source, "How tall is the mast?", "", [hit])
    assert shown.chains == ((fact,),)


def test_the_third_hop_is_explained(tmp_path: Path) -> None:
    """Its page is called like the end of a fact that shares no word with the question."""
    pages = {
        "Harbour Dairy": "Harbour Dairy runs a Kestrel.",
        "Kestrel": "The Kestrel is made by Vento.",
        "Vento": "Lotta answers there at noon.",
        **{f"Other {number}": "A machine that runs." for number in range(40)},
    }
    table = {
        "Harbour Dairy": [Triple("Harbour Dairy", "runs", "Kestrel")],
        "Kestrel": [Triple("Kestrel", "is made by", "Vento")],
    }
    documents = [Document(id=title, title=title, text=text, is_passage=True) for title, text in pages.items()]
    IndexBuilder(folder=tmp_path, embedder=WordEmbedder(), extractor=TableExtractor(table)).build(documents)
    index, question = open_index(tmp_path, embedder=WordEmbedder()), "Whom do we call about what Harbour Dairy uses?"
    shown = {each.passage.id: each.chains for each in index.search(question, method="blend[share=1]", k=43)}
    assert shown["Vento"] == ((Triple("Kestrel", "is made by", "Vento"),),)


def test_equal_titles_are_told_apart() -> None:
    def passage(document: str, position: int, section: str = "") -> Passage:
        return Passage(f"{document}#{position}", "", "Guide", document, position, section=section)

    assert headings([passage("a.md", 0), passage("b.md", 0), passage("b.md", 3), passage("b.md", 4, "Options")]) == [
        "Guide (a.md)",
        "Guide (b.md, passage 1)",
        "Guide (b.md, passage 4)",
        "Guide › Options",
    ]
    assert headings([passage("b.md", 0), passage("b.md", 3)]) == ["Guide (passage 1)", "Guide (passage 4)"]


def test_the_demo_keeps_its_chain(tmp_path: Path) -> None:
    table = {
        "uranus": [Triple("William Herschel", "discovered", "Uranus")],
        "herschel": [Triple("William Herschel", "was born in", "Hanover")],
    }
    documents = [Document(id=id_, text=id_, title=id_, is_passage=True) for id_ in table]
    IndexBuilder(folder=tmp_path, embedder=WordEmbedder(), extractor=TableExtractor(table)).build(documents)
    chain = (table["uranus"][0], table["herschel"][0])
    index = open_index(tmp_path, embedder=WordEmbedder())
    hits = [Hit("herschel", 1.0, (chain,))]
    (shown,) = SearchResults(context_of(index).source, "Where was the discoverer of Uranus born?", "", hits)
    assert shown.chains == (chain,)
