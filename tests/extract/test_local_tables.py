"""Rows of tables, as they stand in passages, and what they state."""

from pathlib import Path

import pytest

from triplebeam.extract.local.prepare.tables import MAX_FACTS, extract_tables
from triplebeam.ingest import read_sources
from triplebeam.ingest.split import split
from triplebeam.passage import Passage

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


def test_a_passage_that_begins_within_a_table_has_no_header() -> None:
    rows = "Harbour Dairy | Kestrel Pump | Turku\nElm Bakery | Heron Pump | Oulu"
    assert extract_tables(Passage("p", rows, position=1)) == []
    assert extract_tables(Passage("p", rows, position=0)), "at the beginning of the file the first row is the header"


def test_a_csv_passage_that_begins_within_a_row_states_nothing_of_that_row() -> None:
    text = "city: Turku\nphone: 555 12 34\n\ncustomer: Elm Bakery\nmachine: Heron 2"
    facts = extract_tables(Passage("p", text, position=3, metadata={"type": "csv"}))
    assert facts == [("Elm Bakery", "machine", "Heron 2")]
    alone = Passage("p", "city: Turku Harbour\nmaker: Brask Oy", position=3, metadata={"type": "csv"})
    assert extract_tables(alone) == []


def test_the_number_of_facts_is_bounded() -> None:
    rows = "\n".join(f"Pump {number} | Brask Oy | Turku" for number in range(500))
    assert len(extract_tables(Passage("p", f"Pump | Maker | City\n{rows}"))) == MAX_FACTS
