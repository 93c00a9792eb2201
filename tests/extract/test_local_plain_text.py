"""What the local extractor makes of a text before it parses it, and what rows of tables state."""

from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from growth import FACTOR, SMALL, grows_with_its_input
from tables import read_table
from triplebeam.extract.local.prepare.names import (
    is_called,
    looks_like_title,
    reads_like_phrase,
    same_name,
    shorten_title,
)
from triplebeam.extract.local.prepare.tables import MAX_FACTS, extract_tables
from triplebeam.extract.local.prepare.terms import Terms
from triplebeam.extract.local.prepare.tidy import make_plain, read_bracket, tidy
from triplebeam.ingest import read_sources
from triplebeam.ingest.split import split
from triplebeam.passage import Passage
from triplebeam.text.names import split_name


@pytest.mark.parametrize(("loose", "print_like"), read_table(__file__, "test_spacing_is_put_right"))
def test_spacing_is_put_right(loose: str, print_like: str) -> None:
    assert tidy(loose) == print_like


def test_a_quoted_title_loses_its_marks_and_is_remembered() -> None:
    text = make_plain('She wrote" Emma", and "Persuasion," too.')
    assert text.text == "She wrote Emma, and Persuasion, too."
    assert [text.text[start:end] for start, end in text.titles] == ["Emma", "Persuasion"]
    assert make_plain('He said "it is over".').titles == (), "what someone said keeps its marks"


def test_an_understood_bracket_is_taken_out_where_it_stood() -> None:
    text = make_plain(
        "Ada Lovelace (10 December 1815 – 27 November 1852) was a mathematician (her Notes on the Engine are famous)."
    )
    assert text.text.startswith("Ada Lovelace was a mathematician (her Notes")
    (life,) = text.asides
    assert text.text[: life.position] == "Ada Lovelace"
    assert life.facts == (("born on", "10 December 1815"), ("died on", "27 November 1852"))


@given(st.text(alphabet='ab AB()"19–,.', max_size=60))
def test_stretches_that_are_remembered_lie_inside_the_text(text: str) -> None:
    plain_text = make_plain(text)
    for start, end in plain_text.titles:
        assert 0 <= start < end <= len(plain_text.text)
        assert '"' not in plain_text.text[start:end]
    assert all(0 <= aside.position <= len(plain_text.text) for aside in plain_text.asides)


@pytest.mark.parametrize(("content", "facts"), read_table(__file__, "test_brackets_are_understood"))
def test_brackets_are_understood(content: str, facts: tuple[tuple[str, str], ...] | None) -> None:
    found = read_bracket(content)
    assert (None if found is None else tuple(found)) == facts
    assert read_bracket("born 1809 " * 100) is None, "a long one is left alone"


@pytest.mark.parametrize(
    ("title", "text", "name"),
    [
        ("Metropolis (1927 film)", "Metropolis is a film.", "Metropolis"),
        ("Ghent, Belgium", "Ghent is a city.", "Ghent"),
        ("Ghent, Belgium", "She moved to Ghent, Belgium.", "Ghent, Belgium"),
        ("", "Anything.", ""),
    ],
)
def test_the_title_is_named_as_the_text_names_it(title: str, text: str, name: str) -> None:
    assert shorten_title(title, text) == name


def test_two_forms_of_one_name() -> None:
    assert same_name(split_name("Ada Lovelace"), split_name("Augusta Ada King, Countess of Lovelace"), person=True)
    assert same_name(split_name("José Saramago"), split_name("Jose de Sousa Saramago"), person=False)
    assert not same_name(split_name("History of Ghent"), split_name("Ghent"), person=False)
    assert is_called("Mark Twain", "Samuel Clemens, known by his pen name Mark Twain, was a writer.")


def test_titles_are_told_from_phrases() -> None:
    titles = [looks_like_title(name) for name in ("The Merchant of Venice", "a merchant of Venice", "")]
    assert titles == [True, False, False]
    assert (reads_like_phrase("Gone with the Wind"), reads_like_phrase("Ada Lovelace")) == (True, False)


@pytest.mark.parametrize(
    "unit", [".", "A", "a.b.", "A.B.", "Ab-", "a1", "**", "a+", ".a", "www.-", "-a", " ", "\n", "/+", "A ("]
)
def test_no_text_takes_the_square_of_its_length(unit: str) -> None:
    text = unit * (4 * FACTOR * SMALL // len(unit))
    assert grows_with_its_input(lambda size: Terms().hide(text[: 4 * size]))
    assert grows_with_its_input(lambda size: make_plain(text[: 4 * size]))


PUMPS = """# Pumps

| Pump | Pressure | Maker | Spare part |
| --- | --- | --- | --- |
| Kestrel 3 | 10 bar | Vento Castings | 88-1041 |
| Kestrel 4 | | Vento Castings | 88-1042 |
| Heron 2 | 7 bar | Brask Oy | none |
"""


def facts_of(tmp_path: Path, name: str, source: str) -> list[tuple[str, str, str]]:
    """Of a file that is indexed, all its passages together."""
    (tmp_path / name).write_text(source, encoding="utf-8")
    documents = read_sources([tmp_path / name])
    return [fact for document in documents for passage in split(document) for fact in extract_tables(passage)]


def test_a_row_states_what_its_header_says_of_its_first_cell(tmp_path: Path) -> None:
    # Behind an empty cell it is not known which column a cell is of; "none" is no name.
    assert facts_of(tmp_path, "pumps.md", PUMPS) == [
        ("Kestrel 3", "Pressure", "10 bar"),
        ("Kestrel 3", "Maker", "Vento Castings"),
        ("Kestrel 3", "Spare part", "88-1041"),
        ("Heron 2", "Pressure", "7 bar"),
        ("Heron 2", "Maker", "Brask Oy"),
    ]


def test_tables_of_web_pages_are_the_same(tmp_path: Path) -> None:
    rows = "<tr><th>Error<th>Meaning</tr><tr><td>E17<td>inlet blocked</tr><tr><td>E18<td>no power</tr>"
    page = f"<html><body><h1>Errors</h1><p>What the display says.</p><table>{rows}</table></body></html>"
    facts = [("E17", "Meaning", "inlet blocked"), ("E18", "Meaning", "no power")]
    assert facts_of(tmp_path, "errors.html", page) == facts


def test_rows_of_csv_files_are_facts_and_numbers_of_rows_are_none(tmp_path: Path) -> None:
    source = "id,customer,machine,since,notes\n1,Harbour Dairy,Kestrel 4,2019,\n2,Elm Bakery,Heron 2,2020,yes\n"
    assert facts_of(tmp_path, "machines.csv", source) == [
        ("Harbour Dairy", "machine", "Kestrel 4"),
        ("Harbour Dairy", "since", "2019"),
        ("Elm Bakery", "machine", "Heron 2"),
        ("Elm Bakery", "since", "2020"),
    ]


@pytest.mark.parametrize(
    ("reason", "text"),
    [
        ("an infobox has no header", "Vento Castings\n\nMaker | Brask Oy\nCity | Turku\nCountry | Finland"),
        ("cells are no names", "Options\n\nOption | Type | Given\n--force | boolean | yes\n--quiet | boolean | no"),
        ("one line is no table", "Home | Contact | Imprint"),
        ("rows are numbered only", "Results\n\nNo. | Points | Year\n1 | 12 | 13\n2 | 8 | 9"),
        ("the first row is data", "Scores\n\nHeron 2 | 12 | 13\nKestrel 4 | 8 | 9"),
        ("a cell is long", f"Pumps\n\nPump | Maker | Remark\nHeron 2 | yes | {'It is a good pump. ' * 5}"),
        ("code is between fences", "Do this:\n\n```\nls Disk | sort | Head\nls Tape | sort | Tail\n```"),
        ("a command has pipes", "Do this:\n\ncat my.log | sort | head -n 3\ncat Your.log | sort | Tail 4"),
        ("lines with colons are rows in csv files only", "Alice: I am at Elm Bakery.\nBob: See you at Elm Bakery."),
        ("two columns have one name", "Pumps\n\nPump | Maker | Maker\nHeron 2 | Brask Oy | Turku Oy"),
    ],
)
def test_what_is_no_table_of_facts_states_nothing(reason: str, text: str) -> None:
    assert extract_tables(Passage("p", text)) == [], reason


def test_a_passage_that_begins_within_a_table_has_no_header_and_the_number_of_facts_is_bounded() -> None:
    rows = "Harbour Dairy | Kestrel Pump | Turku\nElm Bakery | Heron Pump | Oulu"
    assert extract_tables(Passage("p", rows, position=1)) == []
    assert extract_tables(Passage("p", rows, position=0)), "at the beginning of the file the first row is the header"
    many = "\n".join(f"Pump {number} | Brask Oy | Turku" for number in range(500))
    assert len(extract_tables(Passage("p", f"Pump | Maker | City\n{many}"))) == MAX_FACTS


def test_a_csv_passage_that_begins_within_a_row_states_nothing_of_that_row() -> None:
    text = "city: Turku\nphone: 555 12 34\n\ncustomer: Elm Bakery\nmachine: Heron 2"
    facts = extract_tables(Passage("p", text, position=3, metadata={"type": "csv"}))
    assert facts == [("Elm Bakery", "machine", "Heron 2")]
    alone = Passage("p", "city: Turku Harbour\nmaker: Brask Oy", position=3, metadata={"type": "csv"})
    assert extract_tables(alone) == []
