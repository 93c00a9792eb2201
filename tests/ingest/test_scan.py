"""What is said about the sources before they are read."""

from pathlib import Path

import pytest

from triplebeam.errors import BadInputError, install_command
from triplebeam.ingest import scan, scan_sources


def make(folder: Path, *names: str) -> Path:
    folder.mkdir()
    for name in names:
        (folder / name).touch()
    return folder


def test_files_are_counted_by_ending_with_how_to_include_them(tmp_path: Path) -> None:
    folder = make(
        tmp_path / "docs",
        "a.txt",
        "README",
        "b.md",
        "c.tex",
        "d.tex",
        "e.tar.gz",
        "f.conf",
        "g.png",
        "h.png",
        "i.png",
        "Makefile",
    )
    found = scan_sources([folder])
    assert found.read == {".txt": 2, ".md": 1}
    assert found.skipped == {".png": 3, ".tex": 2, ".gz": 1, ".conf": 1, "": 1}
    assert found.describe_skipped() == [
        "3 .png files: images have no text",
        "2 .tex files: convert them to .html or .txt (for instance with pandoc)",
        "1 file without an ending: name it by path to read it as plain text",
        "1 .conf file: name it by path to read it as plain text",
        "1 .gz file: unpack it",
    ]


def test_of_many_endings_the_rare_ones_share_a_line(tmp_path: Path) -> None:
    folder = make(tmp_path / "docs", *(f"a.x{n}" for n in range(12)))
    assert scan_sources([folder]).describe_skipped()[-1] == "4 of other kinds: .x6, .x7, .x8, .x9"


def test_a_missing_extra_is_named(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    found = scan_sources([make(tmp_path / "docs", "a.xlsx", "b.pptx", "c.txt")])
    assert found.describe_missing_extras() == []
    one = scan_sources([make(tmp_path / "one", "a.xlsx")])
    monkeypatch.setattr(scan, "find_spec", lambda name: None)
    assert one.describe_missing_extras() == [f"1 file needs the extra 'office': run {install_command('office')}"]
    assert found.describe_missing_extras() == [f"2 files need the extra 'office': run {install_command('office')}"]


def test_a_missing_path_is_refused(tmp_path: Path) -> None:
    with pytest.raises(BadInputError, match="nowhere"):
        scan_sources([tmp_path / "nowhere"])
