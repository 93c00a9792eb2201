"""Archives that would fill the memory."""

import contextlib
import gzip
import struct
import zipfile
from pathlib import Path

import pytest

from triplebeam.errors import SourceError
from triplebeam.ingest import Unreadable, archive, read_sources
from triplebeam.ingest.archive import check_gzip, check_zip

MEGABYTE = 1_000_000


def write_zip(path: Path, size: int, count: int = 1) -> Path:
    with zipfile.ZipFile(path, "w", zipfile.ZIP_DEFLATED) as file:
        for number in range(count):
            file.writestr(f"word/{number}.xml", b"\0" * size)
    return path


def test_a_bomb_is_refused_by_its_declared_size_and_the_rest_goes_on(tmp_path: Path) -> None:
    bomb = write_zip(tmp_path / "bomb.docx", 40 * MEGABYTE, 3)
    (tmp_path / "fine.txt").write_text("Fine.")
    refused, fine = list(read_sources([tmp_path]))
    assert isinstance(refused, Unreadable)
    assert "inflate to 120,000,000" in refused.reason
    assert bomb.stat().st_size < MEGABYTE
    assert not isinstance(fine, Unreadable)


def test_a_dense_archive_is_refused_from_some_size_on(tmp_path: Path) -> None:
    with pytest.raises(SourceError, match="looks like a zip bomb"):
        check_zip(write_zip(tmp_path / "dense.docx", 20 * MEGABYTE))
    check_zip(write_zip(tmp_path / "small.docx", 5 * MEGABYTE))


def test_more_elements_than_any_document_has_are_refused(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(archive, "MAX_TAGS", 1000)
    path = tmp_path / "paragraphs.docx"
    for count, fits in ((499, True), (501, False)):
        with zipfile.ZipFile(path, "w") as file:
            file.writestr("word/document.xml", b"<p>a</p>" * count)
        with contextlib.nullcontext() if fits else pytest.raises(SourceError, match="more than 1,000 tags: save it"):
            check_zip(path)


def test_an_archive_that_lies_about_its_size_is_refused(tmp_path: Path) -> None:
    path = write_zip(tmp_path / "liar.docx", 20 * MEGABYTE)
    size, lie = struct.pack("<I", 20 * MEGABYTE), struct.pack("<I", 10)
    path.write_bytes(path.read_bytes().replace(size, lie))
    with pytest.raises(SourceError):
        check_zip(path)


def test_lines_are_read_while_they_look_like_text(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(archive, "MAX_LINE_BYTES", 1000)
    monkeypatch.setattr(archive, "MAX_INFLATED_BYTES", 5000)
    path = tmp_path / "rows.jsonl.gz"
    for rows, reason in ((b" " * 2000, "a line of more than 1,000 bytes"), (b" \n" * 500_000, "looks like a zip bomb")):
        path.write_bytes(gzip.compress(b'{"text": "Fine."}\n' + rows))
        fine, refused = read_sources([path])
        assert not isinstance(fine, Unreadable)
        assert isinstance(refused, Unreadable)
        assert reason in refused.reason


def test_gzip_bombs_and_damaged_gzip(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    path = tmp_path / "rows.jsonl.gz"
    path.write_bytes(gzip.compress(b"\0" * (20 * MEGABYTE)))
    with pytest.raises(SourceError, match="looks like a zip bomb"):
        check_gzip(path)
    path.write_bytes(gzip.compress(b"{}")[:-3])
    with pytest.raises(SourceError, match="damaged"):
        check_gzip(path)
    path.write_bytes(gzip.compress(b"{}"))
    check_gzip(path)
    monkeypatch.setattr(archive, "MAX_INFLATED_BYTES", MEGABYTE)
    path.write_bytes(gzip.compress(bytes(5 * MEGABYTE)))
    with pytest.raises(SourceError, match="inflate to 1,048,576 or more"):  # it stops when it has seen enough
        check_gzip(path)
