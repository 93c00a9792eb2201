"""Rare terms: the passages they lead to, against a count by hand."""

import math

import pytest

from triplebeam.embed.embedder import Embedder
from triplebeam.index.build.build import IndexBuilder
from triplebeam.index.folder.snapshot import Snapshot
from triplebeam.index.folder.terms import TermIndex
from triplebeam.passage import Document
from triplebeam.ranking import Hop
from triplebeam.retrieve.rare_terms import RareTerms
from triplebeam.text.terms import text_words
from triplebeam.where.parse import parse

TEXTS = {
    "guide": "Run vacuumdb each night. Written by Ottilie Brandt.",
    "people": "Ottilie Brandt keeps the build machines.",
    "vacuum": "vacuumdb removes dead rows and takes --jobs.",
    "common": "Run the build each night.",
    "other": "Run each night, keeps rows.",
}


@pytest.fixture(scope="module")
def index(tmp_path_factory: pytest.TempPathFactory, words: Embedder) -> Snapshot:
    folder = tmp_path_factory.mktemp("rare") / "index"
    rows = [Document(id=id_, text=text, is_passage=True) for id_, text in TEXTS.items()]
    chapter = "\n\n".join(f"Chapter {number} tells of zymurgy. " + "word " * 150 for number in range(5))
    IndexBuilder(folder=folder, embedder=words).build([*rows, Document(id="novel", text=chapter)])
    return Snapshot.open(folder)


def rare_terms(index: Snapshot, **parameters: int) -> RareTerms:
    assert isinstance(index.passage_terms, TermIndex)
    return RareTerms(terms=index.passage_terms, passages=index.passages, **parameters)


def test_a_term_of_few_passages_leads_to_the_others_that_have_it(index: Snapshot) -> None:
    follows = rare_terms(index, max_passages=2)
    found = {
        index.passages.ids([link.row])[0]: link
        for link in follows.follow("Who wrote it?", index.passages.rows(["guide"]))
    }
    assert set(found) == {"people", "vacuum"}
    assert follows.hop(found["vacuum"]) == Hop("guide", "vacuumdb")
    assert follows.hop(found["people"]).name in ("Ottilie", "Brandt")
    assert found["people"].rarity == pytest.approx(2 * found["vacuum"].rarity)
    assert isinstance(index.passage_terms, TermIndex)
    largest = math.log1p(len(index.passages))
    assert found["vacuum"].rarity == pytest.approx(index.passage_terms.rarity(2) / largest)
    assert found["vacuum"].heading_rarity == 0


def test_the_index_counts_the_terms_that_join_documents(index: Snapshot) -> None:
    having: dict[str, set[str]] = {}
    for passage in index.passages:
        for word in text_words(passage.term_text):
            having.setdefault(word, set()).add(passage.id)
    documents = {passage.id: passage.document_id for passage in index.passages}
    rare = [ids for ids in having.values() if len({documents[id_] for id_ in ids}) > 1 and len(ids) <= 10]
    counted = index.manifest.passage_graph
    assert (counted.rare_terms, counted.nodes_with_rare_terms) == (len(rare), len(set().union(*rare)))
    assert "zymurgi" in having, "a term of one document joins none"
    visible = index.filter(parse('document in ("guide", "people")')).manifest.passage_graph
    assert (visible.rare_terms, visible.nodes_with_rare_terms) == (2, 2), "ottilie, brandt"


def test_a_term_of_the_question_leads_nowhere(index: Snapshot) -> None:
    rows = index.passages.rows(["guide"])
    found = rare_terms(index, max_passages=2).follow("Who is Ottilie Brandt?", rows)
    assert index.passages.ids([link.row for link in found]) == ["vacuum"]


def test_only_the_first_hits_are_followed_and_each_passage_comes_once(index: Snapshot) -> None:
    rows = index.passages.rows(["common", "guide", "people"])
    assert rare_terms(index, max_passages=2, senders=1).follow("?", rows) == rare_terms(index, max_passages=2).follow(
        "?", rows[:1]
    )
    found = [link.row for link in rare_terms(index).follow("?", rows)]
    assert found == sorted(set(found))


def test_passages_beside_a_hit_in_its_document_do_not_count(index: Snapshot) -> None:
    chapters = [row for row, document in enumerate(index.passages.documents) if document == "novel"]
    assert len(chapters) >= 5
    found = rare_terms(index).follow("?", chapters[:1])
    assert {link.row for link in found} == {
        row for row in chapters[3:] if "zymurgi" in text_words(index.passages.read_row(row).text)
    }
