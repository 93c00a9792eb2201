"""Readers of reStructuredText, AsciiDoc, tables, notebooks, source code, and of headings in plain text."""

import json
from pathlib import Path

import pytest

from triplebeam.errors import SourceError
from triplebeam.ingest.asciidoc import asciidoc_content, looks_like_asciidoc
from triplebeam.ingest.configuration import configuration_content
from triplebeam.ingest.formats import ending_of
from triplebeam.ingest.generated import NoDocumentError
from triplebeam.ingest.man_page import man_page_content
from triplebeam.ingest.notebook import notebook_content
from triplebeam.ingest.plain import plain_content
from triplebeam.ingest.restructured_text import restructured_text_content
from triplebeam.ingest.source_code import code_content, python_content
from triplebeam.ingest.tables import csv_content, json_content
from triplebeam.ingest.text import Content
from triplebeam.ingest.xml_text import xml_content


def headings(content: Content) -> list[tuple[int, str]]:
    assert all(content.text.startswith(heading.text, heading.start) for heading in content.headings)
    return [(heading.level, heading.text) for heading in content.headings]


def test_restructured_text_with_what_sphinx_adds() -> None:
    content = restructured_text_content(
        "Bridges\n=======\n\nSee :ref:`arches <arch>`, :func:`build` and :doc:`deck`.\n\n.. toctree::\n"
        "   :maxdepth: 2\n\n   a\n   b\n\nLoads\n-----\n\n.. note:: Mind the wind.\n\n.. versionadded:: 3.2\n"
        "   Snow.\n\n.. code-block:: c\n\n   if (x)\n      y();\n\narch\n   A curve.\n\n.. include:: /etc/hostname\n"
    )
    assert content.title == "Bridges"
    assert headings(content)[:2] == [(1, "Bridges"), (2, "Loads")]
    assert "See arches, `build` and deck." in content.text
    assert "if (x)\n   y();" in content.text
    assert "arch\nA curve." in content.text
    assert "Mind the wind." in content.text
    assert "Snow." in content.text
    assert "maxdepth" not in content.text
    assert [link.target for link in content.links] == ["deck.rst"]


def test_restructured_text_without_end_is_plain_text() -> None:
    content = restructured_text_content("*a " * 300_000)
    assert content.text.startswith("*a *a")
    assert content.warnings == (
        "it was read as plain text, since a line has 900,000 characters: break lines over 10,000",
    )


LONG_BLOCKS = {
    "items": "- Fixed :ref:`this`\n  and that.\n" * 500,
    "paragraph": "It runs *on* and on,\nand so does :ref:`this`.\n" * 400,
    "table": "+----+-----+\n" + "| ab | this|\n+----+-----+\n" * 600,
    "items of a paragraph": "Changes:\n" + "- Fixed :ref:`this` *a\n" * 700,
}


@pytest.mark.parametrize("block", LONG_BLOCKS.values(), ids=LONG_BLOCKS)
def test_a_long_block_leaves_the_rest_of_restructured_text_as_it_is(block: str) -> None:
    content = restructured_text_content(f"History\n=======\n\n{block}\nOlder\n-----\n\nSee :ref:`the end <e>`.\n")
    assert (content.title, content.warnings) == ("History", ())
    assert [heading.text for heading in content.headings] == ["History", "Older"]
    assert content.text.endswith("See the end.")
    assert ":ref:" not in content.text
    assert content.text.count("this") == block.count("this")


ASCIIDOC = """bridge(7)
=========
:author: Ann

NAME
----
bridge - carries a road

[verse]
'bridge' [--deck=<name>]

OPTIONS
-------
-d <name>::
--deck=<name>::
    Take *this* deck. See linkgit:road-deck[1] and <<loads,the loads>>.
+
It has to be there.

* one
* `two`

------------
$ bridge
  built
------------

// a remark
include::more.txt[]
"""


def test_asciidoc_is_read_by_its_ending_and_found_in_text_files() -> None:
    assert looks_like_asciidoc(ASCIIDOC)
    content = plain_content(ASCIIDOC)
    assert content == asciidoc_content(ASCIIDOC)
    assert content.text == (
        "bridge(7)\n\nNAME\n\nbridge - carries a road\n\nbridge [--deck=<name>]\n\nOPTIONS\n\n-d <name>\n"
        "--deck=<name>\nTake this deck. See road-deck(1) and the loads.\n\nIt has to be there.\n\n"
        "- one\n- two\n\n$ bridge\n  built"
    )
    assert headings(content)[:3] == [(1, "bridge(7)"), (2, "NAME"), (2, "OPTIONS")]
    assert [link.target for link in content.links] == ["road-deck.txt", "#loads"]


def test_asciidoc_sections_and_tables() -> None:
    content = asciidoc_content(
        "= Top\n\n== Inner\n\n.A caption\n|===\n|a |b\n|1 |2\n|===\n\nNOTE: See https://a.org[this]."
    )
    assert content.text == "Top\n\nInner\n\na | b\n1 | 2\n\nNOTE: See this."
    assert headings(content) == [(1, "Top"), (2, "Inner")]


@pytest.mark.parametrize("text", ["Just text.\n\nAnd more: of it.", "Title\n=====\n\nText.", "x = y\n-----\n"])
def test_plain_text_is_not_taken_for_asciidoc(text: str) -> None:
    assert not looks_like_asciidoc(text)
    assert plain_content(text).text == text


@pytest.mark.parametrize("unit", ["*a", "`", "::", "----\n", "====\na\n", "<<", "link:a[", "* x\n", "a::\n"])
def test_hostile_asciidoc_is_read(unit: str) -> None:
    asciidoc_content(unit * 5_000)
    plain_content(unit * 5_000)


def test_headings_and_headwords_of_plain_text_are_where_they_are() -> None:
    text = (
        "The title\n=========\n\nIntro here.\n\n1.2 Loads of wind\n\nText.\n\nSEE ALSO\n\nMore.\n\n"
        ":arch: n. A curve.\n\n--deck\n    Take this deck.\n\nA line of prose.\n"
    )
    content = plain_content(text)
    assert content.text == text
    assert [(heading.level, heading.text) for heading in content.headings] == [
        (1, "The title"),
        (2, "1.2 Loads of wind"),
        (1, "SEE ALSO"),
        (7, "arch"),
        (7, "--deck"),
    ]


def test_rows_say_what_their_values_are() -> None:
    elbe, ob = csv_content('name;km\nElbe;1094\n"Ob;\nIrtysh";\n').parts
    assert (elbe.text, elbe.title, elbe.metadata) == ("name: Elbe\nkm: 1094", "Elbe", {"name": "Elbe", "km": "1094"})
    assert (ob.text, ob.metadata) == ("name: Ob; Irtysh", {"name": "Ob; Irtysh"})
    assert csv_content("a text without rows").text == "a text without rows"
    with pytest.raises(SourceError, match="table cannot be read"):
        csv_content("a,b\n" + '"' + "x" * 200_000)


def test_json_has_a_line_for_each_value_and_metadata() -> None:
    source = {"title": "Rivers", "year": 2026, "rivers": [{"name": "Elbe", "in": {"sea": "North"}}, {"name": "Oder"}]}
    content = json_content(json.dumps(source))
    assert content.text == ("title: Rivers\nyear: 2026\nrivers.name: Elbe\nrivers.in.sea: North\n\nrivers.name: Oder")
    assert (content.title, content.metadata) == ("Rivers", {"year": "2026"})
    with pytest.raises(SourceError, match="not JSON"):
        json_content("[" * 100_000)


XML = """<?xml version="1.0" encoding="iso-8859-1"?>
<!DOCTYPE a [<!ENTITY b "boom"><!ENTITY x SYSTEM "file:///etc/passwd">]>
<book xmlns="urn:b"><title>On <em>bridges</em></title><!-- remark -->
<chapter><title>Loads</title><para>It is <b>wïnd</b> &x;and <!-- no -->snow.</para></chapter>
<user><id>3</id><mail>a@b.org</mail></user><user><id>4</id></user></book>"""


def test_xml_gives_its_text_and_reads_nothing_else() -> None:
    content = xml_content(XML)
    assert content.title == "On bridges"
    assert headings(content) == [(1, "On bridges"), (2, "Loads")]
    assert content.text == ("On bridges\n\nLoads\n\nIt is wïnd &x;and snow.\n\nid: 3\nmail: a@b.org\n\nid: 4")
    assert xml_content("<a><b>not closed</a>").text == "not closed"
    assert xml_content("<a>" * 20_000 + "deep").text


def test_configuration_is_text_with_its_tables_and_keys_as_sections() -> None:
    toml = 'name = "a"\n\n[tool.ruff] # lint\nline = 120\n\n[[product]]\nx = [\n  1,\n]\n'
    yaml = "version: 3\nservices: # all\n  web:\n    image: nginx\nlist:\n- a\nempty:\n"
    assert headings(configuration_content(toml)) == [(1, "tool.ruff"), (1, "product")]
    assert headings(configuration_content(yaml)) == [(1, "services"), (1, "list")]
    assert configuration_content(yaml).text == yaml


MAN = r"""'\" t
.\" A remark
.de XX
nothing
..
.if n \{\
.ds C
.\}
.TH SPAN 1 "2026-01-01" "bridges 2.0"
.SH NAME
span \- carries a \fIroad\fR
.SH
OPTIONS
.TP
.BR \-d ", " \-\-deck =\fINAME\fR
Take \(lqthis\(rq deck\&.
.IP \(bu 2
one
.SS "See also"
.BR ls (1)
.nf
  a\eb
.fi
"""
MDOC = """.Dd March 2, 2026
.Dt SPAN 8
.Sh NAME
.Nm span
.Nd carries a road
.Sh OPTIONS
.Bl -tag
.It Fl d Ar name
Take it with
.Xr ls 1 .
.Nm
ends.
.El
"""


def test_manual_pages_lose_their_macros() -> None:
    content = man_page_content(MAN)
    assert content.title == "span(1)"
    assert content.text == (
        "NAME\n\nspan - carries a road\n\nOPTIONS\n\n-d, --deck=NAME\nTake “this” deck.\n\n- one\n\nSee also\n\n"
        "ls(1)\n\n  a\\b"
    )
    assert headings(content) == [(1, "NAME"), (1, "OPTIONS"), (7, "-d, --deck=NAME"), (2, "See also")]
    page = man_page_content(MDOC)
    assert page.title == "span(8)"
    assert page.text == "NAME\n\nspan – carries a road\n\nOPTIONS\n\n-d name\nTake it with ls(1). span ends."
    assert man_page_content("No roff.\n").text == "No roff.\n"
    with pytest.raises(NoDocumentError, match=r"another page, man1/ls\.1"):
        man_page_content(".so man1/ls.1\n")


@pytest.mark.parametrize(
    "unit", ['.B "a" ', "\\f[", "\\h'", "\\", '"', ".de x\n", ".if \\{\n", ".TP\n", "\\*[", ".nf\n"]
)
def test_hostile_manual_pages_are_read(unit: str) -> None:
    man_page_content(".TH a 1\n" + unit * 20_000)


@pytest.mark.parametrize(
    ("name", "ending"),
    [
        *(("git-log.1", ".1"), ("bzip2.1", ".1"), ("systemd.unit.5", ".5"), ("ls.1.gz", ".1.gz"), ("a.TSX", ".tsx")),
        *(("libc.so.6", None), ("libz.so.1.3", None), ("mail.log.1", None), ("notes-2.1", None), ("v1.2", None)),
    ],
)
def test_manual_pages_are_told_from_libraries_logs_and_versions(name: str, ending: str | None) -> None:
    assert ending_of(Path(name)) == ending


def test_notebooks_give_text_and_code() -> None:
    cells = [
        {"cell_type": "markdown", "source": ["# Rivers\n", "\n", "They *flow*."]},
        {"cell_type": "code", "source": "if x < 1:\n    y()", "outputs": [{"text": "noise"}]},
    ]
    content = notebook_content(json.dumps({"cells": cells}))
    assert content.text == "Rivers\n\nThey flow.\n\nif x < 1:\n    y()"
    assert content.title == "Rivers"


def test_python_has_its_classes_and_functions_as_sections() -> None:
    source = '"""Rivers."""\n\n@final\nclass River:\n\tdef flow(self):\n\t\t"""On and on."""\n\ndef end(): ...\n'
    content = python_content(source)
    assert content.text == source.expandtabs()
    assert [(heading.level, heading.text) for heading in content.headings] == [(1, "River"), (2, "flow"), (1, "end")]
    assert content.text[content.headings[0].start :].startswith("@final")
    assert python_content("def broken(:\n\tx").headings == ()
    assert python_content("(" * 10_000).headings == ()
    assert code_content("a\tb").text == "a       b"
