"""The fifth and the tenth place: who gets them, who keeps them; and the rare terms that lead to passages."""

import math
from collections.abc import Sequence
from pathlib import Path

import numpy as np
import pytest

from triplebeam.embed.embedder import Embedder
from triplebeam.index.build.build import IndexBuilder
from triplebeam.index.folder.snapshot import Snapshot
from triplebeam.passage import Document, Link
from triplebeam.ranking import Hop
from triplebeam.retrieve.blend.tail import Filled, Scores, Tail
from triplebeam.retrieve.rare_terms import RareTerms
from triplebeam.text.terms import text_words
from triplebeam.where.parse import parse

#: The first hit names vacuumdb, which is the title of one passage and is mentioned in another.
ROWS = [
    ("first", "Maintenance", "Run vacuumdb each night."),
    *((f"long-{number}", "Handbook", f"Chapter {number} of many.") for number in range(12)),
    ("mention", "Mail", "He asked about vacuumdb."),
    ("titled", "vacuumdb", "Removes dead rows."),
    *((f"other-{number}", f"Page {number}", "Something else.") for number in range(6)),
]
#: Two pages of the handbook link to each other, and a page to one of them.
LINKS = {"other-5": (Link(0, "long-8"),), "long-8": (Link(0, "long-9"),)}
IDS = [id_ for id_, _, _ in ROWS]
#: The ranking before: the first hit, the handbook, then the others.
BEFORE = ["first", *(f"long-{number}" for number in range(12)), "other-0", "other-1", "mention", "titled", *IDS[-4:]]


@pytest.fixture(scope="module")
def index(tmp_path_factory: pytest.TempPathFactory, words: Embedder) -> Snapshot:
    folder = tmp_path_factory.mktemp("tail") / "index"
    IndexBuilder(folder=folder, embedder=words).build(
        Document(id=id_, title=title, text=text, is_passage=True, links=LINKS.get(id_, ())) for id_, title, text in ROWS
    )
    return Snapshot.open(folder)


def fill(
    index: Snapshot,
    order: Sequence[str] = BEFORE,
    *,
    terms: bool = True,
    kept: Sequence[str] = (),
    plain: float = 0.0,
    near: Sequence[str] = (),
) -> tuple[list[str], Filled, Tail]:
    """Rank after the places are filled; ``plain`` is the first ten's plain score, ``near`` the question is near to."""
    statistics, rows = index.passage_terms, index.passages.rows(order)
    links = index.passage_graph.edges["links"]
    rare = RareTerms(terms=statistics, passages=index.passages) if terms else None
    tail = Tail(terms=rare, links=links, passages=index.passages)
    ranking, close, searched = np.zeros((3, len(index.passages)), np.float32)
    ranking[rows] = 1 / np.arange(1, len(rows) + 1)
    close[index.passages.rows(near)] = 1.0
    searched[rows[:10]] = plain
    scores = Scores(ranking, close, searched)
    filled = tail.fill("How is it kept small?", scores, index.passages.rows(kept))
    return index.passages.ids(np.argsort(-ranking, kind="stable")), filled, tail


def test_a_rare_term_in_a_title_gets_the_fifth_place_and_another_document_the_tenth(index: Snapshot) -> None:
    after, filled, tail = fill(index)
    assert after[4] == "titled"
    assert after[9] == "other-0"
    assert [id_ for id_ in after if id_ not in ("titled", "other-0")] == [
        id_ for id_ in BEFORE if id_ not in ("titled", "other-0")
    ]
    assert [tail.terms.hop(link) for link in filled.terms] == [Hop("first", "vacuumdb")]
    assert index.passages.ids(filled.documents) == ["other-0"]


def test_a_link_of_the_first_two_hits_gets_the_fifth_place_if_it_leads_to_another_document(index: Snapshot) -> None:
    order = ["first", "long-8", *BEFORE[1:9], *BEFORE[10:]]
    after, filled, _ = fill(index, order, terms=False, near=["other-5", "long-9"])
    assert after[4] == "other-5"
    assert index.passages.ids(filled.links) == ["other-5"]
    assert fill(index, order, terms=False, near=["long-9", order[4]])[0][4] == order[4]
    later = ["first", *BEFORE[1:3], "long-8", *BEFORE[3:9], *BEFORE[10:]]
    assert fill(index, later, terms=False, near=["other-5"])[0][4] == later[4]


def test_a_book_keeps_the_tenth_place(tmp_path: Path, words: Embedder) -> None:
    pages = [Document(id=f"page-{n}", title="Novel", text=f"Page {n}.", is_passage=True) for n in range(120)]
    other = Document(id="other", title="Essay", text="Else.", is_passage=True)
    IndexBuilder(folder=tmp_path, embedder=words).build([*pages, other])
    order = [*(page.id for page in pages[:12]), "other"]
    _, filled, _ = fill(Snapshot.open(tmp_path), order, terms=False)
    assert not filled.documents


def test_what_is_worth_more_keeps_its_place(index: Snapshot) -> None:
    after, filled, _ = fill(index, plain=1.0)
    assert after[:9] == BEFORE[:9]
    assert not filled.terms
    after, *_ = fill(index, kept=[BEFORE[4]])
    assert after[4] == BEFORE[4], "the first of plain search keep theirs"
    assert fill(index, ["first", "mention"])[0][:2] == ["first", "mention"], "a short ranking is left alone"


def test_without_statistics_of_terms_another_document_gets_the_tenth_place(index: Snapshot) -> None:
    after, filled, _ = fill(index, terms=False)
    assert after[:9] == BEFORE[:9]
    assert after[9] == "other-0"
    assert not filled.terms


def test_where_no_document_has_two_the_tenth_place_is_for_any_rare_term(index: Snapshot) -> None:
    pages = ["first", "long-0", *(f"other-{number}" for number in range(6))]
    order = [*pages[:4], "titled", *pages[4:], "long-1", "mention"]
    assert fill(index, order)[0][9] == "long-1"  # neither the handbook nor the mention has enough for a change
    after, filled, _ = fill(index, order, near=["mention"])
    assert after[9] == "mention"
    assert index.passages.ids([link.row for link in filled.terms]) == ["mention"]


TEXTS = {
    "guide": "Run vacuumdb each night. Written by Ottilie Brandt.",
    "people": "Ottilie Brandt keeps the build machines.",
    "vacuum": "vacuumdb removes dead rows and takes --jobs.",
    "common": "Run the build each night.",
    "other": "Run each night, keeps rows.",
}


@pytest.fixture(scope="module")
def texts(tmp_path_factory: pytest.TempPathFactory, words: Embedder) -> Snapshot:
    folder = tmp_path_factory.mktemp("rare") / "index"
    rows = [Document(id=id_, text=text, is_passage=True) for id_, text in TEXTS.items()]
    chapter = "\n\n".join(f"Chapter {number} tells of zymurgy. " + "word " * 150 for number in range(5))
    IndexBuilder(folder=folder, embedder=words).build([*rows, Document(id="novel", text=chapter)])
    return Snapshot.open(folder)


def rare_terms(texts: Snapshot, **parameters: int) -> RareTerms:
    return RareTerms(terms=texts.passage_terms, passages=texts.passages, **parameters)


def test_a_term_of_few_passages_leads_to_the_others_that_have_it(texts: Snapshot) -> None:
    follows = rare_terms(texts, max_passages=2)
    links = follows.follow("Who wrote it?", texts.passages.rows(["guide"]))
    found = dict(zip(texts.passages.ids([link.row for link in links]), links, strict=True))
    assert set(found) == {"people", "vacuum"}
    assert follows.hop(found["vacuum"]) == Hop("guide", "vacuumdb")
    assert follows.hop(found["people"]).name in ("Ottilie", "Brandt")
    assert found["people"].rarity == pytest.approx(2 * found["vacuum"].rarity)
    largest = math.log1p(len(texts.passages))
    assert found["vacuum"].rarity == pytest.approx(texts.passage_terms.rarity(2) / largest)
    assert found["vacuum"].heading_rarity == 0
    links = follows.follow("Who is Ottilie Brandt?", texts.passages.rows(["guide"]))
    assert texts.passages.ids([link.row for link in links]) == ["vacuum"], "a term of the question leads nowhere"


def test_the_index_counts_the_terms_that_join_documents(texts: Snapshot) -> None:
    having: dict[str, set[str]] = {}
    for passage in texts.passages:
        for word in text_words(passage.term_text):
            having.setdefault(word, set()).add(passage.id)
    documents = {passage.id: passage.document_id for passage in texts.passages}
    rare = [ids for ids in having.values() if len({documents[id_] for id_ in ids}) > 1 and len(ids) <= 10]
    counted = texts.manifest.passage_graph
    assert (counted.rare_terms, counted.nodes_with_rare_terms) == (len(rare), len(set().union(*rare)))
    assert "zymurgi" in having, "a term of one document joins none"
    visible = texts.filter(parse('document in ("guide", "people")')).manifest.passage_graph
    assert (visible.rare_terms, visible.nodes_with_rare_terms) == (2, 2), "ottilie, brandt"


def test_only_the_first_hits_are_followed_and_each_passage_comes_once(texts: Snapshot) -> None:
    rows = texts.passages.rows(["common", "guide", "people"])
    one, all_ = rare_terms(texts, max_passages=2, senders=1), rare_terms(texts, max_passages=2)
    assert one.follow("?", rows) == all_.follow("?", rows[:1])
    found = [link.row for link in rare_terms(texts).follow("?", rows)]
    assert found == sorted(set(found))


def test_passages_beside_a_hit_in_its_document_do_not_count(texts: Snapshot) -> None:
    chapters = [row for row, document in enumerate(texts.passages.documents) if document == "novel"]
    assert len(chapters) >= 5
    found = rare_terms(texts).follow("?", chapters[:1])
    assert {link.row for link in found} == {
        row for row in chapters[3:] if "zymurgi" in text_words(texts.passages.read_row(row).text)
    }
