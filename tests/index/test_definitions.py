"""Terms that documents define, and the references between documents that come of them."""

from pathlib import Path

import numpy as np
import pytest

from small_world import TRIPLES, TableExtractor, world_builder, world_documents
from tables import read_table
from triplebeam.extract.extractor import Extraction
from triplebeam.index.content.entities import (
    LINK,
    MAX_PASSAGES,
    find_defined_terms,
    find_definitions,
    find_references,
    parse_heading_terms,
)
from triplebeam.index.folder.snapshot import Snapshot
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


def test_the_parts_of_a_joined_name_are_not_defined() -> None:
    save = passage("a", "pg_stat_statements.save\nWhether to keep it.", "pg_stat_statements.save (boolean)")
    assert find_defined_terms(save) == ["pg_stat_statements.save"]


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
