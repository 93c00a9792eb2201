"""Sections, links and metadata of documents, through the store and the published passages."""

from collections.abc import Iterator
from contextlib import closing
from pathlib import Path

import pytest

from triplebeam.extract.extractor import Extraction
from triplebeam.index.arrays.array_set import MemoryArrays
from triplebeam.index.folder.tables import PassageTable, write_passages
from triplebeam.index.store.store import Store
from triplebeam.ingest.split import split
from triplebeam.passage import Document, Heading, Link

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
def test_a_few_passages_of_code_make_no_language_of_a_collection(
    store: Store, english: int, counted: list[str]
) -> None:
    put(store, *(Document(id=code, text=text, is_passage=True) for code, text in UNREAD.items()))
    put(store, *(Document(id=f"en{n}", text="The car is in the garage.", is_passage=True) for n in range(english)))
    for number, passage in list(store.passages()):
        language = passage.id if passage.id in UNREAD else None
        store.extractions.put(number, Extraction(passage_id=passage.id, unread_language=language), "local:4")
    assert list(store.statistics.count_unread_languages()) == counted
