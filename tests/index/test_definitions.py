"""Terms that documents define, and the references between documents that come of them. Sections, links and metadata of
documents, through the store and the published passages.
"""

from collections.abc import Iterator
from contextlib import closing
from pathlib import Path

import numpy as np
import pytest

from small_world import TRIPLES, TableExtractor, world_builder, world_documents
from tables import read_table
from triplebeam.extract.extractor import Extraction
from triplebeam.index.arrays.array_set import MemoryArrays
from triplebeam.index.content.entities import (
    LINK,
    MAX_PASSAGES,
    find_defined_terms,
    find_definitions,
    find_references,
    parse_heading_terms,
)
from triplebeam.index.folder.snapshot import Snapshot
from triplebeam.index.folder.tables import PassageTable, write_passages
from triplebeam.index.store.store import Store
from triplebeam.ingest.split import split
from triplebeam.passage import Document, Heading, Link, Passage
from triplebeam.triple import Triple


@pytest.mark.parametrize(("heading", "terms"), read_table(__file__, "test_a_heading_names_what_its_section_is_about"))
def test_a_heading_names_what_its_section_is_about(heading: str, terms: tuple[str, ...]) -> None:
    assert tuple(parse_heading_terms(heading)) == terms


@pytest.mark.parametrize(
    "heading",
    ["", "Introduction", "3. Options", "See also", "Further reading", "12", "Red", "Can I throttle it?", "-Z"],
)
def test_headings_that_say_what_kind_of_text_follows_name_nothing(heading: str) -> None:
    assert not parse_heading_terms(heading)


def passage(document: str, text: str, section: str = "", position: int = 0) -> Passage:
    return Passage(f"{document}#{position}", text, document, document, position, section=section)


def test_a_line_that_begins_with_a_term_defines_it() -> None:
    text = "batch_max | Default: 1\n\nMore.\n\nOption: Aptitude::Log\n\nDefault: none\n\n  indented_code\nset_it = 3"
    assert find_defined_terms(passage("a", text, "Options")) == ["batch_max", "Aptitude::Log"]
    save = passage("a", "pg_stat_statements.save\nWhether to keep it.", "pg_stat_statements.save (boolean)")
    assert find_defined_terms(save) == ["pg_stat_statements.save"], "the parts of a joined name are not defined"


def test_documents_without_sections_define_nothing() -> None:
    assert not find_definitions([(0, passage("a", "batch_max | how many")), (1, passage("b", "--force\nDo it."))])
    both = [(0, passage("a", "batch_max | how many")), (1, passage("a", "More.", "Callout caching", 1))]
    assert {key: each.rows for key, each in find_definitions(both).items()} == {
        "batch max": (0,),
        "callout caching": (1,),
    }


def test_a_term_that_many_passages_define_is_none() -> None:
    rows = [(row, passage(f"d{row}", "--help | show this", "Options")) for row in range(MAX_PASSAGES + 1)]
    assert find_definitions(rows[:MAX_PASSAGES])
    assert not find_definitions(rows)


def test_references_lead_to_other_documents() -> None:
    defined = find_definitions(
        [(0, passage("a", "x", "-acl number")), (1, passage("b", "batch_max | how many", "Options in b"))]
    )
    numbers = {key: number for number, key in enumerate(defined)}
    names = [(2, "ACL"), (2, "batch_max"), (1, "batch_max"), (3, "batch_max")]
    found = find_references(["a", "b", "c", "b"], names, defined, numbers, [(2, 1), (2, 0), (1, 3)])
    # "ACL" is not the option -acl; b knows its own batch_max; a link to where a term is defined says nothing more.
    assert found.tolist() == [[2, 0, LINK], [2, 1, numbers["batch max"]]]


class NamingExtractor(TableExtractor):
    """Finds names, and no facts."""

    name = "local:test"

    def extract(self, passages):  # type: ignore[no-untyped-def]
        for each in passages:
            yield Extraction(passage_id=each.id, entities=("batch_max",) if each.id == "lmtp#0" else ())


def manual() -> list[Document]:
    batching, headings = "Batching\n\nbatch_max\nHow many.", (Heading(0, 2, "Batching"), Heading(10, 7, "batch_max"))
    return [
        Document(id="lmtp", title="The transport", text="Raise batch_max here.", links=(Link(3, "other"),)),
        Document(id="batching", title="Batches", text=batching, headings=headings),
        Document(id="other", title="Other", text="Something else."),
    ]


def test_a_defined_term_is_an_entity_and_leads_to_its_definition(tmp_path: Path) -> None:
    world_builder(tmp_path, extractor=NamingExtractor({})).build(manual())
    index = Snapshot.open(tmp_path)
    number = index.entities.numbers["batch max"]
    rows = {each: index.passages.row(each) for each in ("lmtp#0", "batching#0", "other#0")}
    mentions = index.entities.mentions[index.entities.mentions[:, 1] == number, 0]
    assert mentions.tolist() == sorted([rows["lmtp#0"], rows["batching#0"]])
    here, there, other = rows.values()
    assert index.references.tolist() == [[here, there, number], [here, other, LINK]]
    assert len(index.entities.vectors.rows) == len(index.entities.names)
    assert not len(index.triples.of_entity(number))


def test_a_models_graph_is_made_of_its_triples_alone(tmp_path: Path) -> None:
    world_builder(tmp_path, extractor=TableExtractor({"lmtp#0": [Triple("Ada", "wrote", "it")]})).build(manual())
    index = Snapshot.open(tmp_path)
    assert list(index.entities.names) == ["Ada", "it"]
    assert index.references[:, 2].tolist() == [LINK]


def test_without_sections_and_links_nothing_is_added(tmp_path: Path) -> None:
    """Rows, such as those of an encyclopaedia's paragraphs: entities are those of triples, and nothing refers."""

    class Local(TableExtractor):
        name = "local:test"

    world_builder(tmp_path, extractor=Local(TRIPLES)).build(world_documents())
    index = Snapshot.open(tmp_path)
    ends = {end for triples in TRIPLES.values() for triple in triples for end in (triple.subject, triple.object)}
    assert set(index.entities.names) <= ends
    assert index.references.shape == (0, 3)
    assert np.array_equal(np.unique(index.triples.triple_entities), np.arange(len(index.entities)))


TEXT = "One\n\nFirst part.\n\nTwo\n\nSecond part."
HEADINGS = (Heading(0, 1, "One", "one"), Heading(18, 1, "Two", "two"))


@pytest.fixture
def store(tmp_path: Path) -> Iterator[Store]:
    with closing(Store(tmp_path / "store.sqlite")) as store:
        yield store


def document(id_: str, *targets: str, **fields: str) -> Document:
    links = tuple(Link(23, target) for target in targets)
    return Document(id=id_, text=TEXT, headings=HEADINGS, links=links, metadata=fields)


def put(store: Store, *documents: Document) -> list[bool]:
    return [store.put_document(each, split(each, limit=4)) for each in documents]


def test_a_passage_has_its_section_in_the_store_and_when_published(store: Store) -> None:
    put(store, document("a"))
    passages = [passage for _, passage in store.passages()]
    assert [passage.section for passage in passages] == ["One", "Two"]
    write_passages(arrays := MemoryArrays(), passages)
    table = PassageTable(arrays)
    assert [table.read_row(row) for row in range(2)] == passages


def test_links_join_passages(store: Store) -> None:
    put(store, document("a", "b#two", "b", "missing", "#here"), document("b", "a#one", "b#one", "b#two", "a#one"))
    ids = {number: passage.id for number, passage in store.passages()}
    assert [(ids[here], ids[there]) for here, there in store.links()] == [
        ("a#1", "b#1"),
        ("a#1", "b#0"),
        ("b#1", "a#0"),
        ("b#1", "b#0"),
    ]


def test_a_label_of_another_document_is_linked_if_one_document_has_it(store: Store) -> None:
    labelled = Document(id="c", text=TEXT, headings=(HEADINGS[0], Heading(18, 1, "Two", "two capture-mode")))
    put(store, document("a", "a#capture-mode", "a#one", "a#nowhere"), document("b", "b#three"), labelled)
    ids = {number: passage.id for number, passage in store.passages()}
    assert [(ids[here], ids[there]) for here, there in store.links()] == [("a#1", "c#1"), ("a#1", "a#0")]


PAGES = ("docs/guide/setup.md", "docs/guide/index.md", "docs/en/faq.html", "docs/faq.md", "docs/faq.txt", "docs/x.py")


@pytest.mark.parametrize(
    ("target", "found"),
    [
        ("/guide/setup.md", "docs/guide/setup.md"),
        ("/guide/setup", "docs/guide/setup.md"),
        ("/guide/setup.html#two", "docs/guide/setup.md"),
        ("/docs/guide/setup/", "docs/guide/setup.md"),
        ("/latest/guide/setup", "docs/guide/setup.md"),
        ("/guide/", "docs/guide/index.md"),
        ("docs/guide/setup", "docs/guide/setup.md"),
        ("/x.py", "docs/x.py"),
        ("/x", None),
        ("/latest/setup", None),  # one part alone may be anything
        ("/faq", None),  # docs/faq.md or docs/faq.txt: which, is not known
        ("/setup", None),
        ("guide/setup.md", None),
        ("/", None),
        ("/" + "a/" * 240, None),
    ],
)
def test_links_lead_to_pages_by_the_addresses_of_a_site(store: Store, target: str, found: str | None) -> None:
    put(store, document("docs/en/a.md", target), *map(document, PAGES))
    documents = {number: passage.document_id for number, passage in store.passages()}
    assert [documents[there] for _, there in store.links()] == ([found] if found else [])


def test_new_metadata_and_links_change_no_passage(store: Store) -> None:
    put(store, document("a", path="a", modified="2026-01-01"))
    revision, numbers = store.meta.revision, [number for number, _ in store.passages()]
    assert put(store, document("a", path="a", modified="2026-01-01")) == [False]
    assert store.meta.revision == revision
    assert put(store, document("a", path="a", modified="2026-02-02")) == [False]
    assert store.meta.revision != revision, "what is published shows the metadata"
    assert [(number, passage.metadata["modified"]) for number, passage in store.passages()] == [
        (number, "2026-02-02") for number in numbers
    ]
    assert put(store, document("a", author="Ann")) == [True], "other fields are a part of the document"


UNREAD = {
    "de": "Der Wagen steht noch immer in der Werkstatt am Hafen, und niemand weiß, wann er fertig ist.",
    "fr": "def test_decode(): client.get(default_encoding) == text; Non-seulement le texte est long, en français.",
    "cy": "tx rx vdd vss gnd clk mosi miso cs sda scl adc dac pwm lx ly lz kx ky kz",
    "zxx": "KEY MIIC TBXBgkqhkiG w BBQ wSjApBgkqhkiG w BBQwwHAQIfSuXbPVZsP CAggA MAwGCCqGSI",
}


@pytest.mark.parametrize(("english", "counted"), [(0, ["cy", "de", "fr", "zxx"]), (100, ["de"])])
def test_a_few_passages_of_code_make_no_language(store: Store, english: int, counted: list[str]) -> None:
    put(store, *(Document(id=code, text=text, is_passage=True) for code, text in UNREAD.items()))
    put(store, *(Document(id=f"en{n}", text="The car is in the garage.", is_passage=True) for n in range(english)))
    for number, passage in list(store.passages()):
        language = passage.id if passage.id in UNREAD else None
        store.extractions.put(number, Extraction(passage_id=passage.id, unread_language=language), "local:4")
    assert list(store.statistics.count_unread_languages()) == counted
