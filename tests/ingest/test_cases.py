"""What each reader takes out of small files.

A file ``cases/NAME.ENDING.case`` holds inputs of one format: a line ``%%% name`` begins each. ``NAME.ENDING.json``
beside it says what is read of them, and ``made.json`` what is read of the files of ``made_files.py``.
``TRIPLEBEAM_WRITE_EXPECTED=1`` writes these anew, so that a change of a reader is reviewed as a diff.
"""

import json
import os
import re
from collections.abc import Iterator, Mapping
from functools import cache
from pathlib import Path
from typing import Any

import pytest
from made_files import MADE, make_mailbox

from triplebeam.errors import SourceError
from triplebeam.ingest.content import Content, NoDocumentError
from triplebeam.ingest.sources import read_content

CASES = Path(__file__).parent / "cases"
FILES = sorted(file.name.removesuffix(".case") for file in CASES.glob("*.case"))


@cache
def inputs_of(name: str) -> Mapping[str, bytes]:
    """The inputs of a file by their names."""
    _, *pieces = re.split(rb"^%%% (.+)\n", (CASES / f"{name}.case").read_bytes(), flags=re.MULTILINE)
    return {case.decode(): text[:-1] for case, text in zip(pieces[::2], pieces[1::2], strict=True)}


def place(content: Content, start: int) -> str:
    return f"{start}: {content.text[start:].split(chr(10))[0][:30]}"


def describe(content: Content) -> dict[str, Any]:
    """What was read, without what is empty; a text by its lines."""
    fields: dict[str, Any] = {
        "title": content.title,
        "text": content.text.split("\n") if content.text else [],
        "headings": [
            f"{'#' * heading.level} {heading.text} | {place(content, heading.start)} | {heading.anchor}"
            for heading in content.headings
        ],
        "links": [f"{link.target} | {place(content, link.start)}" for link in content.links],
        "metadata": dict(content.metadata),
        "warnings": list(content.warnings),
        "parts": [describe(part) for part in content.parts],
    }
    return {name: value for name, value in fields.items() if value}


def read(data: bytes, name: str) -> dict[str, Any]:
    try:
        return describe(read_content(data, Path(name).suffix))
    except (SourceError, NoDocumentError) as error:
        return {"error": str(error)}


def compare(found: Mapping[str, Any], name: str) -> None:
    expected = CASES / f"{name}.json"
    if os.environ.get("TRIPLEBEAM_WRITE_EXPECTED") == "1":
        expected.write_text(json.dumps(found, ensure_ascii=False, indent=1) + "\n", encoding="utf-8")
    assert found == json.loads(expected.read_text(encoding="utf-8"))


@pytest.mark.parametrize("name", FILES)
def test_what_is_read_of_text(name: str) -> None:
    compare({case: read(data, name) for case, data in inputs_of(name).items()}, name)


def test_what_is_read_of_files_that_are_not_text() -> None:
    compare({name: read(make(), name) for name, make in MADE.items()}, "made")


@pytest.mark.parametrize("name", FILES)
def test_line_ends_of_windows_make_no_difference(name: str) -> None:
    for data in inputs_of(name).values():
        assert read(data.replace(b"\n", b"\r\n"), name) == read(data, name)


def bodies() -> Iterator[bytes]:
    for name in ("html_only.eml", "parts.eml", "dates.eml"):
        yield from inputs_of(name).values()


def test_messages_are_read_alike_in_a_box() -> None:
    assert read(make_mailbox(*bodies()), "box.mbox")["parts"] == [read(data, "a.eml") for data in bodies()]


def test_raw_headers_are_read_in_another_encoding_too() -> None:
    for data in inputs_of("headers.eml").values():
        assert read(data.decode().encode("latin-1"), "a.eml") == read(data, "a.eml")
