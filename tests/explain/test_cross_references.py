"""What explains a hit of a manual: a term of the question, or a reference between it and the first hit."""

from collections.abc import Iterable, Iterator
from pathlib import Path

import pytest

from small_world import WordEmbedder
from triplebeam.assemble import Index, context_of, open_index
from triplebeam.explain.cross_references import describe_hop, is_made_by, name_passage, telling_facts
from triplebeam.explain.graph import around_entity
from triplebeam.explain.search_results import SearchResults
from triplebeam.extract.extractor import Extraction
from triplebeam.index.build.build import IndexBuilder
from triplebeam.passage import Document, Heading, Link, Passage
from triplebeam.ranking import Hit
from triplebeam.triple import Chain, Triple

MENTIONS = Triple("The transport", "mentions", "batch_max")
DESCRIBED = Triple("batch_max", "is described in", "Batches › Batching")
LINKS = Triple("The transport", "links to", "Other")
BATCHING = "Batching\n\nbatch_max | How many at once."


class NamingExtractor:
    name = "local:test"

    def extract(self, passages: Iterable[Passage]) -> Iterator[Extraction]:
        for passage in passages:
            yield Extraction(passage_id=passage.id, entities=("batch_max",) if "batch_max" in passage.text else ())


@pytest.fixture(scope="module")
def index(tmp_path_factory: pytest.TempPathFactory) -> Index:
    folder: Path = tmp_path_factory.mktemp("manual") / "manual.index"
    documents = [
        Document(id="lmtp", title="The transport — for LMTP", text="Raise batch_max here.", links=(Link(3, "other"),)),
        Document(id="batching", title="Batches", text=BATCHING, headings=(Heading(0, 2, "Batching"),)),
        Document(id="other", title="Other", text="Something else."),
    ]
    IndexBuilder(folder=folder, embedder=WordEmbedder(), extractor=NamingExtractor()).build(documents)
    return open_index(folder, embedder=WordEmbedder())


NAMES = ((MENTIONS, DESCRIBED),)


@pytest.mark.parametrize(
    ("question", "ids", "chains"),
    [
        pytest.param("How many?", ["lmtp", "batching", "other"], [(), NAMES, ((LINKS,),)], id="the first hit leads on"),
        pytest.param("How many?", ["batching", "lmtp"], [(), NAMES], id="a hit refers to the first"),
        pytest.param("How many?", ["other", "batching"], [(), ()], id="no reference"),
        pytest.param("How many?", ["other", "other", "batching", "lmtp"], [(), (), (), ((LINKS,),)], id="of others"),
        pytest.param("How many?", ["batching", "other", "lmtp"], [(), (), NAMES], id="the first before the second"),
        pytest.param("What does batch_min do?", ["batching", "other", "lmtp"], [(), (), ((LINKS,),)], id="links"),
        pytest.param("How many?", ["other", "batching", "lmtp"], [(), (), ((LINKS,),)], id="a link to the first"),
        pytest.param(
            "Is batch_min it?", ["batching", "batching", "other", "lmtp"], [(), (), (), ()], id="of the third"
        ),
        pytest.param("What does batch_min do?", ["lmtp", "batching"], [(), ()], id="another term is asked for"),
        pytest.param("What does batch_max do?", ["other", "batching"], [(), ((DESCRIBED,),)], id="a term"),
        pytest.param("Is `batch_max`, by default, 1?", ["other", "batching"], [(), ((DESCRIBED,),)], id="in ticks"),
        pytest.param("How many (batch_max)?", ["other", "batching"], [(), ((DESCRIBED,),)], id="in brackets"),
        pytest.param("How many?", ["lmtp"], [()], id="one hit alone"),
    ],
)
def test_references_to_and_from_the_first_hits_are_shown(
    index: Index, question: str, ids: list[str], chains: list[tuple[Chain, ...]]
) -> None:
    hits = [Hit(f"{id_}#0", 1.0 / n) for n, id_ in enumerate(ids, 1)]
    assert [each.chains for each in SearchResults(context_of(index).source, question, "", hits)] == chains


def test_which_facts_are_the_passages_own(index: Index) -> None:
    lmtp, batching = (index.passages[id_] for id_ in ("lmtp#0", "batching#0"))
    assert [is_made_by(lmtp, fact) for fact in (MENTIONS, DESCRIBED, LINKS)] == [True, False, True]
    assert is_made_by(batching, DESCRIBED)
    assert name_passage(lmtp) == "The transport"


def test_headings_are_not_looked_for_in_the_passage() -> None:
    wrote = Triple("Ada Linde", "wrote", "Ledger")
    assert [*telling_facts([(MENTIONS, DESCRIBED), (LINKS,), (wrote,)])] == [DESCRIBED._replace(object=""), wrote]


def test_a_term_without_facts_is_drawn_with_its_passages(index: Index) -> None:
    drawn = around_entity(context_of(index).source, context_of(index).embedder, "batch_max", limit=10)
    assert [node.id for node in drawn.nodes] == ["e:batch max", "p:batching#0", "p:lmtp#0"]
    assert [(edge.source, edge.predicate) for edge in drawn.edges] == [("p:batching#0", None), ("p:lmtp#0", None)]
    assert around_entity(context_of(index).source, context_of(index).embedder, "batch_max", limit=1).truncated


DISCOVERED, BORN = Triple("Herschel", "discovered", "Uranus"), Triple("Herschel", "was born in", "Hanover")


@pytest.mark.parametrize(
    ("chains", "own", "said"),
    [
        ([(DISCOVERED, BORN)], [BORN], "second hop: through Herschel from Uranus"),
        ([(Triple("Sun", "attracts", "Uranus"), DISCOVERED, BORN)], [BORN], "third hop: through Herschel from Uranus"),
        ([(Triple("Bath", "mentions", "Herschel"),)], [], "second hop: through Herschel from Bath"),
        ([(BORN,)], [BORN], ""),
        ([(BORN, DISCOVERED)], [BORN], ""),  # it leads away from the passage
        ([(Triple("Sun", "is", "hot"), BORN)], [BORN], ""),
        ([], [], ""),
    ],
)
def test_a_hop_is_named_by_what_it_leads_through(chains: list[Chain], own: list[Triple], said: str) -> None:
    assert describe_hop(Passage("herschel", "", "Herschel"), chains, own) == said
