"""Which chains are shown: small graphs, one question each."""

from pathlib import Path

import pytest

from small_world import TableExtractor, WordEmbedder
from triplebeam.assemble import Index, context_of, open_index
from triplebeam.explain.explanation import Explanation
from triplebeam.explain.passages import headings
from triplebeam.explain.search_results import SearchResults
from triplebeam.index.build.build import IndexBuilder
from triplebeam.passage import Document, Heading, Passage
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
CALLS = Triple("apt", "calls", "dpkg")
INSTALLED = Triple("Ledger", "is installed by", "dpkg")

FACTS = {
    "ledger": [WROTE, MENTIONS, THINGS, SHARED],
    "people": [BORN, LEADS, IS, WAS, MORE_THINGS, SHARED_TOO],
    "dpkg": [CALLS],
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


@pytest.mark.parametrize(
    ("chain", "hit", "question", "is_shown"),
    [
        pytest.param((WROTE, BORN), "people", QUESTION, True, id="joins two documents"),
        pytest.param((LEADS, BORN), "people", QUESTION, False, id="is inside one document"),
        pytest.param((WROTE,), "ledger", QUESTION, True, id="is about a name in the question"),
        pytest.param((BORN,), "people", QUESTION, False, id="is about none"),
        pytest.param((BORN,), "people", "What was Ada Linde's place of birth?", True, id="is about another name"),
        pytest.param((CALLS,), "dpkg", "What calls the author?", False, id="is about a common noun"),
        *(
            pytest.param(chain, hit, QUESTION, False, id=f"says nothing, {number} in {hit}")
            for number, chain in enumerate([(MENTIONS, BORN), (MENTIONS,), (WROTE, IS), (IS,)])
            for hit in ("people", "ledger")
        ),
        pytest.param((WROTE, WAS), "people", QUESTION, True, id="a copula between two names"),
        pytest.param((THINGS, MORE_THINGS), "people", QUESTION, False, id="only a common noun joins it"),
        pytest.param((SHARED, SHARED_TOO), "people", QUESTION, False, id="a title that several files share"),
        pytest.param((SHARED,), "people", QUESTION, False, id="from elsewhere, names the title of this hit, too"),
        pytest.param((INSTALLED,), "dpkg", QUESTION, True, id="from elsewhere, names the title"),
        pytest.param((INSTALLED,), "people", QUESTION, False, id="from elsewhere, names another title"),
        pytest.param((WROTE, BORN), "people", "How tall is the mast?", False, id="has nothing of the question"),
    ],
)
def test_which_chains_are_shown(index: Index, chain: Chain, hit: str, question: str, is_shown: bool) -> None:
    explanation = Explanation(context_of(index).snapshot, question)
    shown = explanation.chains(Hit(hit, 1.0, (chain,)), index.passages[hit])
    assert shown == ((chain,) if is_shown else ())


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


NAMES_DPKG, NAMES_DEBIAN = (Triple("Handbook", "mentions", name) for name in ("dpkg", "Debian"))
DESCRIBES_DEBIAN = Triple("Debian", "is described in", "dpkg")
FOLLOWED = Triple("Handbook", "is installed by", "dpkg")


@pytest.mark.parametrize(
    ("hit", "chains"),
    [
        (reached(Hop("ledger", "dpkg")), (NAMES_DPKG,)),
        (reached(Hop("ledger", "Debian"), found_by=(("owners", 3), ("plain", 9))), (NAMES_DEBIAN, DESCRIBES_DEBIAN)),
        (reached(Hop("ledger", "dpkg"), found_by=(("titles", 20), ("terms", 1), ("plain", 14))), (NAMES_DPKG,)),
        (reached(Hop("ledger", "dpkg"), found_by=(("titles", 2), ("plain", 1))), ()),  # plain search shows it anyway
        (reached(Hop("ledger", "dpkg"), found_by=()), (NAMES_DPKG,)),
        (reached(Hop("ledger", "dpkg"), chains=((LEADS,), (FOLLOWED,))), (FOLLOWED,)),  # a fact says more
        (reached(Hop("dpkg", "dpkg")), ()),  # "dpkg mentions dpkg"
        (reached(), ()),
    ],
)
def test_a_link_that_was_followed_explains_a_hit_without_a_chain(index: Index, hit: Hit, chains: Chain) -> None:
    (shown,) = SearchResults(context_of(index).source, "How tall is the mast?", "", [hit])
    assert shown.chains == ((chains,) if chains else ())


@pytest.mark.parametrize(
    ("text", "name", "second"),
    [
        ("Set `startsecs` first.", "startsecs", ("Manual", "mentions", "startsecs")),
        ("Set startsecs first.", "startsecs", None),
        ("Then use --force.", "force", ("Manual", "mentions", "force")),
        ("The default_proc is set.", "proc", None),
        ("See the notes of Brandt here.", "Brandt", ("Brandt", "is described in", "Manual › The Brandt file")),
        ("See the notes of Ottilie Brandt here.", "Brandt", None),  # another Brandt
        ("Recovery\n\nIt starts again.", "Recovery", None),
    ],
)
def test_a_rare_term_is_shown_where_it_is_written_as_a_name(
    tmp_path: Path, text: str, name: str, second: tuple[str, str, str] | None
) -> None:
    heading = (Heading(0, 1, "The Brandt file"),) if name == "Brandt" else ()
    manual = Document(id="b", title="Manual", text="x", headings=heading)
    IndexBuilder(folder=tmp_path, embedder=WordEmbedder()).build([Document(id="a", title="Guide", text=text), manual])
    source = context_of(open_index(tmp_path, embedder=WordEmbedder())).source
    (shown,) = SearchResults(source, "How?", "", [Hit("b#0", 1.0, (), (("terms", 1),), (Hop("a#0", name),))])
    assert shown.chains == ((((Triple("Guide", "mentions", name), Triple(*second))),) if second else ())


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
