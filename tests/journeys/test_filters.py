"""Filters on the command line: over files with fields at their head, in a comparison, and in a key."""

import json
from pathlib import Path

import pytest

from journeys.command_line import Quick


@pytest.fixture
def notes(tmp_path: Path, quick: Quick, tiny_model: str) -> Path:
    (tmp_path / "notes").mkdir()
    for name, year, tags in (("elbe", 1990, "[river, north]"), ("oder", 2021, "[river]"), ("nile", 2022, "[desert]")):
        head = f"---\ntitle: The {name}\nyear: {year}\ntags: {tags}\n---\n"
        (tmp_path / "notes" / f"{name}.md").write_text(f"{head}The river {name.title()} flows north.\n")
    code, _, stderr = quick("index", "notes.index", "notes", "--embedder", tiny_model, "--extractor", "none")
    assert code == 0, stderr
    return tmp_path / "notes.index"


def ids(outcome: tuple[int, str, str]) -> set[str]:
    code, stdout, stderr = outcome
    assert code == 0, stderr
    return {passage["document_id"] for passage in json.loads(stdout)["passages"]}


def test_search_and_ask(quick: Quick, notes: Path) -> None:
    for where, found in {
        "year >= 2020 and tags contains 'river'": {"notes/oder.md"},
        'path in ("notes/elbe.md", "notes/nile.md")': {"notes/elbe.md", "notes/nile.md"},
        "type = 'md' and modified > '2020-01-01' and not year > 2021": {"notes/elbe.md", "notes/oder.md"},
        "title = 'The nile'": {"notes/nile.md"},
    }.items():
        assert ids(quick("search", notes, "Which river flows north?", "--where", where, "--json")) == found
    assert ids(quick("ask", notes, "Which river?", "--effort", "none", "--where", where, "--json")) == found


def test_rows_of_tables_and_messages_of_boxes(quick: Quick, tmp_path: Path, tiny_model: str) -> None:
    messages = (("Ann", 2, "pump"), ("Bob", 9, "valve"))
    (tmp_path / "box.mbox").write_text(
        "".join(
            f"From x Mon Mar  2 10:00:00 2026\nFrom: {name} <x@example.org>\nTo: eve@example.org\nSubject: s\n"
            f"Date: Mon, 0{day} Mar 2026 10:00:00 +0000\n\nThe {part} is broken.\n\n"
            for name, day, part in messages
        )
    )
    (tmp_path / "parts.csv").write_text("part,type,price in euros\npump,A,120\nvalve,B,35\nseal,A,2\n")
    options = ("--embedder", tiny_model, "--extractor", "none")
    assert quick("index", "m.index", "box.mbox", "parts.csv", *options)[0] == 0
    for where, found in {
        "date >= '2026-03-05'": {"box.mbox:2"},
        "from contains 'ann'": {"box.mbox:1"},
        "to exists": {"box.mbox:1", "box.mbox:2"},
        "`price in euros` < 50": {"parts.csv:2", "parts.csv:3"},
        "type = 'A' and part != 'seal'": {"parts.csv:1"},
        "path = 'parts.csv'": {"parts.csv:1", "parts.csv:2", "parts.csv:3"},
    }.items():
        assert ids(quick("search", "m.index", "Which pump or valve is broken?", "--where", where, "--json")) == found


def test_a_comparison_asks_what_can_be_found(quick: Quick, notes: Path, tmp_path: Path) -> None:
    rows = [
        {"id": name, "question": f"Where does the {name} flow?", "gold": [{"file": f"notes/{name}.md"}]}
        for name in ("elbe", "oder", "nile")
    ]
    (tmp_path / "questions.jsonl").write_text("\n".join(map(json.dumps, rows)))
    command = ("bench", notes, "questions.jsonl", "-m", "bm25", "-m", "gold", "--json")
    code, stdout, stderr = quick(*command, "--where", "year > 2000")
    assert code == 0, stderr
    assert json.loads(stdout)["methods"]["gold"]["questions"] == 2
    code, _, message = quick(*command, "--where", "tags = 'desert' and year = 2022 and not title contains 'nile'")
    assert (code, "no passage matches" in message) == (2, True)


def test_keys_are_made_listed_and_taken_back_and_show_what_they_are_bound_to(quick: Quick, notes: Path) -> None:
    code, key, _ = quick("keys", "create", notes, "--role", "write", "--name", "me")
    assert (code, key[:3]) == (0, "tb-")
    listed = quick("keys", "list", notes)[1]
    assert (listed.startswith("me\twrite\t"), key.strip() in listed) == (True, False)
    assert quick("keys", "delete", notes, "me")[0] == 0
    assert quick("keys", "list", notes)[1] == ""
    where = "year >= 2020"
    assert quick("keys", "create", notes, "--role", "read", "--index", "notes", "--where", where)[0] == 0
    listed = quick("keys", "list", notes)[1]
    assert listed.strip().endswith("\tindex notes\twhere year >= 2020")
    assert "cannot be read" in quick("keys", "create", notes, "--role", "read", "--where", "year >>")[2]
    code, key, warned = quick("keys", "create", notes, "--role", "read", "--index", "note")
    assert (code, key[:3]) == (0, "tb-")
    assert f"no index 'note' in {notes} yet (did you mean 'notes'?): until then the key sees nothing" in " ".join(
        warned.split()
    )
    assert "may only read" in quick("keys", "create", notes, "--role", "write", "--where", where)[2]
    code, key, warned = quick("keys", "create", notes, "--role", "read", "--where", "tenant = 1")
    assert (code, key[:3]) == (0, "tb-")
    assert "Warning: tenant = 1 also matches other spellings of the number" in warned
    assert quick("keys", "create", notes, "--role", "read", "--where", 'tenant = "1"')[2] == ""
