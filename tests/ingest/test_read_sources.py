"""Walking folders, ids, and what happens to what cannot be read."""

import gzip
import json
import os
import random
from collections.abc import Callable
from dataclasses import replace
from itertools import count, islice
from pathlib import Path

import pytest
from made_files import write

from triplebeam.errors import BadInputError
from triplebeam.ingest import Reading, Skipped, Unreadable, read_sources, scan_sources
from triplebeam.passage import Document


def ids(readings: list[Reading], folder: Path | None = None) -> list[str]:
    """The documents' ids; those under ``folder`` from there on."""
    named = [reading.id for reading in readings if isinstance(reading, Document)]
    return [id_.removeprefix(f"{folder.as_posix()}/") if folder else id_ for id_ in named]


def read(*paths: Path) -> list[Reading]:
    return list(read_sources(paths))


def read_one(path: Path, **options: str) -> Document:
    (document,) = read_sources([path], **options)
    assert isinstance(document, Document)
    return document


def reason(path: Path) -> str:
    (reading,) = read(path)
    assert isinstance(reading, Unreadable)
    assert reading.source == str(path)
    return str(reading)


def test_a_folder_is_read_in_order_without_what_is_hidden(tmp_path: Path) -> None:
    docs = tmp_path / "docs"
    hidden = (".hidden.txt", ".git/x.txt", "~$lock.docx")
    index = ("my.index/store.sqlite", "my.index/write.lock", "my.index/manifest.json")
    for name in (*hidden, *index, "b.txt", "a/z.md", "a/a b.txt", "photo.jpg", "a/x.bin", "C.TXT"):
        write(docs / name)
    readings = read(docs)
    assert ids(readings, tmp_path) == ["docs/C.TXT", "docs/a/a b.txt", "docs/a/z.md", "docs/b.txt"]
    skipped = [reading for reading in readings if isinstance(reading, Skipped)]
    assert skipped == [Skipped(str(docs / "a/x.bin")), Skipped(str(docs / "photo.jpg"))]


def test_a_file_has_its_path_as_id_and_its_name_as_title(tmp_path: Path) -> None:
    path = write(tmp_path / ".deep/my notes.txt")
    os.utime(path, (0, 0))
    fields = {"path": path.as_posix(), "type": "txt", "modified": "1970-01-01T00:00:00+00:00"}
    name = path.as_posix()
    assert read_one(path) == Document(id=name, text="Some text.", title="my notes", metadata=fields, source=name)


def test_a_path_is_an_id_as_it_was_named(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    path = write(tmp_path / "docs/inner/a.txt")
    other = write(tmp_path / "other/a.txt")
    assert ids(read(path, other), tmp_path) == ["docs/inner/a.txt", "other/a.txt"], "one name, and two documents"
    monkeypatch.chdir(tmp_path / "docs/inner")
    assert ids(read(Path())) == ["a.txt"]
    assert ids(read(Path("..//inner/./"))) == ["../inner/a.txt"]
    assert ids(read(path)) == [path.as_posix()]


@pytest.mark.parametrize("look_at", [read_sources, scan_sources])
def test_a_missing_path_is_refused_before_anything_is_read(look_at: Callable[..., object], tmp_path: Path) -> None:
    with pytest.raises(BadInputError, match="nowhere"):
        look_at([write(tmp_path / "a.txt"), tmp_path / "nowhere"])


def test_deep_folders_are_read_and_a_pipe_is_not_waited_for(tmp_path: Path) -> None:
    write(tmp_path / "docs" / Path(*["d"] * 150) / "a.txt")
    assert ids(read(tmp_path / "docs"), tmp_path) == ["docs/" + "d/" * 150 + "a.txt"]
    os.mkfifo(tmp_path / "pipe.txt")
    assert "not a regular file" in reason(tmp_path / "pipe.txt")


@pytest.mark.parametrize(
    ("name", "data", "expected"),
    [
        ("blank.txt", b" \n ", "there is no text in it"),
        ("script.html", b"<script>x</script>", "there is no text in it"),
        ("cyrillic.txt", b"\xf0\xd2\xc9\xd7\xc5\xd4" * 9, "byte 0 is not UTF-8; save the file as UTF-8, or give its"),
        ("false.pdf", b"no pdf", "the PDF is damaged"),
        ("false.docx", b"no docx", "it is not a docx file"),
        ("table.xlsx", b"x", "it is not a xlsx file"),
        ("false.rtf", b"x", "it is not an RTF file"),
        ("false.ipynb", b"[]", "it is no notebook"),
        ("false.json", b"{", "it is not JSON"),
        ("false.txt.gz", b"x", "the gzip file is damaged"),
        ("unknown.bin", b"\0\1\2", "it holds NUL characters, so it is no text"),
        ("false.jsonl.gz", b"no gzip", "the gzip file is damaged"),
        ("blank.jsonl", b"\n\n", "there is no text in it"),
    ],
)
def test_what_cannot_be_read_is_told_with_its_reason(tmp_path: Path, name: str, data: bytes, expected: str) -> None:
    assert f"{name}: {expected}" in reason(write(tmp_path / name, data))


DIRECTIVES = ".. automodule:: bridges.arch\n   :members:\n"
NO_TEXT = "it has directives only, such as automodule, and no text of its own"


@pytest.mark.parametrize(
    ("name", "data", "expected"),
    [
        *((name, "", "the file is empty") for name in ("empty.txt", "empty.pdf", "empty.jsonl", "__init__.py")),
        ("api.rst", DIRECTIVES, NO_TEXT),
    ],
)
def test_a_file_without_text_is_skipped_and_is_no_error(tmp_path: Path, name: str, data: str, expected: str) -> None:
    path = write(tmp_path / name, data)
    assert read(path) == [Skipped(str(path), expected)]


def test_names_may_tell_that_a_file_is_text_and_one_of_unknown_kind_is_text_where_it_is_named(tmp_path: Path) -> None:
    docs = tmp_path / "docs"
    for name in ("README", "License", "NEWS.Debian", "Makefile", "AUTHORS~", "app.conf"):
        write(docs / name)
    write(docs / "changelog.gz", gzip.compress(b"Changes."))
    assert ids(read(docs), docs) == ["License", "NEWS.Debian", "README", "changelog.gz"]
    assert Skipped(str(docs / "app.conf")) in read(docs)
    assert ids(read(docs / "app.conf"), docs) == ["app.conf"]


def test_text_may_be_gzipped_or_in_another_encoding(tmp_path: Path) -> None:
    document = read_one(write(tmp_path / "guide.md.gz", gzip.compress(b"# Guide\n\nText.")))
    assert (document.text, document.title, document.metadata["type"]) == ("Guide\n\nText.", "Guide", "md.gz")
    assert read_one(write(tmp_path / "a.txt", "Привет".encode("koi8-r")), encoding="koi8-r").text == "Привет"


def test_links_are_ids_of_documents(tmp_path: Path) -> None:
    targets = {"b": "../b.html#x%20y", "h": "#here", "o": "https://a.org", "c": "c d.html?q"}
    page = " ".join(f"<a href='{target}'>{name}</a>" for name, target in targets.items())
    document = read_one(write(tmp_path / "docs/in/a.html", f"<p>{page}</p>"))
    expected = ("docs/b.html#x y", "docs/in/a.html#here", "docs/in/c d.html")
    assert [link.target for link in document.links] == [f"{tmp_path.as_posix()}/{path}" for path in expected]
    assert [document.text[link.start] for link in document.links] == ["b", "h", "c"]


def test_the_second_document_with_an_id_is_told(tmp_path: Path) -> None:
    row = '{"id": "a", "text": "Some text."}'
    first, second = write(tmp_path / "one.jsonl", row), write(tmp_path / "two.jsonl", row)
    readings = read(first, second)
    assert ids(readings) == ["a"]
    assert readings[1] == Unreadable(str(second), "an earlier document has the same id, 'a'; rename one of the two", 1)


def test_json_lines_are_passages_with_their_ids(tmp_path: Path) -> None:
    rows = [
        {"id": 7, "title": "T", "text": "one", "metadata": {"year": 1999, "tags": ["a"], "none": None}, "other": 1},
        {"_id": "x", "text": "two 🙂"},
        {"text": "three", "title": None},
        {"id": 0, "text": "lone \ud800 surrogate"},
    ]
    data = "\ufeff" + "\r\n".join(json.dumps(row) for row in rows[:2]) + "\n\n" + "\n".join(map(json.dumps, rows[2:]))
    fields = {"other": "1", "year": "1999", "tags": '["a"]'}
    path = write(tmp_path / "a.jsonl", data)
    found = read(path)
    assert {document.source for document in found if isinstance(document, Document)} == {path.as_posix()}
    assert [replace(document, source="") for document in found if isinstance(document, Document)] == [
        Document(id="7", text="one", title="T", metadata=fields, is_passage=True),
        Document(id="x", text="two 🙂", is_passage=True),
        Document(id=f"{tmp_path.as_posix()}/a.jsonl:4", text="three", is_passage=True),
        Document(id="0", text="lone \ufffd surrogate", is_passage=True),
    ]


@pytest.mark.parametrize(
    ("line", "expected"),
    [
        (b'{"id": "a", "text": ', "it is not JSON: Expecting value at column"),
        (b'{"id": "a"}', 'its "text" is missing or empty'),
        (b'{"id": "a", "text": " "}', 'its "text" is missing or empty'),
        (b'{"id": "a", "text": 3}', 'its "text" is not a string'),
        (b'{"id": "a", "text": "t", "title": []}', 'its "title" is not a string'),
        (b'{"id": 1.5, "text": "t"}', "its id is neither a string nor an integer"),
        (b'{"id": true, "text": "t"}', "its id is neither a string nor an integer"),
        (b'{"id": "a", "text": "t", "metadata": 3}', 'its "metadata" is not a JSON object'),
        (b'["a"]', "it is not a JSON object"),
        (b'{"text": "\xff"}', "byte 10 of the line is not UTF-8"),
        (b"[" * 100_000, "its JSON cannot be read"),
        (b'{"id": "first", "text": "t"}', "an earlier document has the same id, 'first'"),
    ],
)
def test_a_bad_line_is_told_with_its_number_and_the_others_go_on(tmp_path: Path, line: bytes, expected: str) -> None:
    good = b'{"id": "%s", "text": "t"}'
    path = write(tmp_path / "a.jsonl", b"\n".join([good % b"first", b"", line, good % b"last"]))
    first, bad, last = read(path)
    assert ids([first, last]) == ["first", "last"]
    assert str(bad).startswith(f"{path}, line 3: {expected}")


def test_a_cut_gzip_file_gives_what_it_holds_and_is_told(tmp_path: Path) -> None:
    rolls = random.Random(7)
    rows = "\n".join(json.dumps({"id": number, "text": rolls.randbytes(20).hex()}) for number in range(5000))
    readings = read(write(tmp_path / "a.jsonl.gz", gzip.compress(rows.encode())[:-5000]))
    assert len(readings) > 1000
    assert isinstance(readings[-1], Unreadable)
    assert "the gzip file is damaged" in readings[-1].reason


@pytest.mark.parametrize("name", ["corpus.jsonl", "corpus.jsonl.gz"])
def test_of_a_beir_folder_only_the_corpus_is_read(tmp_path: Path, name: str) -> None:
    row = b'{"_id": "MED-10", "title": "T", "text": "t", "metadata": {}}\n{"text": "no id"}'
    write(tmp_path / "beir" / name, gzip.compress(row) if name.endswith("gz") else row)
    write(tmp_path / "beir/queries.jsonl", '{"_id": "q", "text": "question"}')
    write(tmp_path / "beir/qrels/test.tsv", "q\tMED-10\t1")
    assert ids(read(tmp_path / "beir"), tmp_path) == ["MED-10", f"beir/{name}:2"]
    assert len(read(tmp_path / "beir")) == 2


def test_lines_are_read_as_they_are_asked_for(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    endless = ((number, Document(id=str(number), text="t")) for number in count())
    monkeypatch.setattr("triplebeam.ingest.sources.read_json_lines", lambda path, name: endless)
    assert ids(list(islice(read_sources([write(tmp_path / "a.jsonl")]), 3))) == ["0", "1", "2"]


@pytest.mark.parametrize("method", ["iterdir", "read_bytes"])
def test_what_the_machine_refuses_is_told(tmp_path: Path, monkeypatch: pytest.MonkeyPatch, method: str) -> None:
    def refuse(path: Path) -> None:
        raise PermissionError(13, "Permission denied", str(path))

    write(tmp_path / "docs/a.txt")
    monkeypatch.setattr(Path, method, refuse)
    (reading,) = read(tmp_path / "docs")
    assert isinstance(reading, Unreadable)
    assert reading.reason.endswith(": Permission denied")
