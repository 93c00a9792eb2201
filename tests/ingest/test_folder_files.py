"""Names of files, which do not depend on where a command is run, and what is said before files are read."""

import os
from pathlib import Path
from typing import Any

import pytest
from made_files import write

from triplebeam.errors import BadInputError, install_command
from triplebeam.ingest import FolderFiles, SourceNames, folder_files, scan_sources, wait_for_changes


@pytest.fixture
def docs(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    (tmp_path / "docs" / "inner").mkdir(parents=True)
    monkeypatch.chdir(tmp_path)
    return tmp_path / "docs"


def test_a_folder_keeps_its_first_name(docs: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    first = SourceNames({}, [Path("docs/")])
    assert first(Path("docs/inner/a.md")) == "docs/inner/a.md"
    monkeypatch.chdir(docs / "inner")
    for way in (Path("a.md"), Path("../inner/a.md"), docs / "inner" / "a.md"):
        assert SourceNames(first.known, [way])(way) == "docs/inner/a.md"
    assert SourceNames(first.known, [Path("..")]).known == first.known, "there is nothing new to remember"
    file = SourceNames({}, [Path("a.md")])
    later = SourceNames(file.known, [docs])
    assert later(docs / "inner/a.md") == "a.md", "as a file does when its folder comes later"
    assert later(docs / "inner/b.md") == f"{docs.as_posix()}/inner/b.md"


def test_a_link_to_a_source_is_that_source(docs: Path) -> None:
    first = SourceNames({}, [Path("docs")])
    Path("link").symlink_to(docs)
    Path("deep").symlink_to(docs / "inner")
    (docs / "a.md").symlink_to(docs.parent / "elsewhere.md")
    later = SourceNames(first.known, [Path("link"), Path("deep")])
    assert later.known == first.known
    assert later(Path("link/inner/b.md")) == later(Path("deep/b.md")) == "docs/inner/b.md"
    assert later(Path("link/a.md")) == "docs/a.md"
    through = SourceNames({}, [Path("link")])
    assert SourceNames(through.known, [docs])(docs / "a.md") == "link/a.md"


@pytest.mark.parametrize("sources", [[], [Path()]])
def test_what_is_in_no_source_or_in_this_folder_is_called_by_its_path(docs: Path, sources: list[Path]) -> None:
    assert SourceNames({}, sources)(Path("./docs//a.md")) == "docs/a.md"


def test_two_folders_cannot_have_one_name(docs: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    first = SourceNames({}, [Path("docs")])
    (docs / "docs").mkdir()
    other = docs.parent / "other"
    (other / "docs").mkdir(parents=True)
    monkeypatch.chdir(other)
    with pytest.raises(BadInputError, match=r"'docs' is the name of .* name it by its absolute path"):
        SourceNames(first.known, [Path("docs")])
    assert SourceNames(first.known, [Path("docs").absolute()])(Path("docs/a.md")) == f"{other.as_posix()}/docs/a.md"


def test_a_folder_that_was_moved_takes_its_name_along(docs: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    first = SourceNames({}, [Path("docs")])
    (docs.parent / "new").mkdir()
    docs.rename(docs.parent / "new" / "docs")
    monkeypatch.chdir(docs.parent / "new")
    moved = SourceNames(first.known, [Path("docs")])
    assert moved(Path("docs/a.md")) == "docs/a.md"
    assert list(moved.known.values()) == ["docs"]


def test_a_change_counts_when_it_has_settled() -> None:
    looks = iter("aabccdd")
    waits: list[None] = []
    passes = wait_for_changes(lambda: next(looks), lambda: waits.append(None))
    counted = []
    for _ in range(3):
        next(passes)
        counted.append(len(waits))
    assert counted == [0, 4, 6], "at once, when it was c twice, and when it was d twice; b was still being written"


def make(folder: Path, *names: str) -> Path:
    for name in names:
        write(folder / name, b"")
    return folder


def test_files_are_counted_by_ending_with_how_to_include_them(tmp_path: Path) -> None:
    names = ("a.txt", "README", "b.md", "c.tex", "d.tex", "e.tar.gz", "f.conf", "g.png", "h.png", "i.png", "Makefile")
    found = scan_sources([make(tmp_path / "docs", *names)])
    assert found.read == {".txt": 2, ".md": 1}
    assert found.skipped == {".png": 3, ".tex": 2, ".gz": 1, ".conf": 1, "": 1}
    assert found.describe_skipped() == [
        "3 .png files: images have no text",
        "2 .tex files: convert them to .html or .txt (for instance with pandoc)",
        "1 file without an ending: name it by path to read it as plain text",
        "1 .conf file: name it by path to read it as plain text",
        "1 .gz file: unpack it",
    ]
    many = scan_sources([make(tmp_path / "many", *(f"a.x{n}" for n in range(12)))])
    assert many.describe_skipped()[-1] == "4 of other kinds: .x6, .x7, .x8, .x9", "rare ones share a line"


def test_a_missing_extra_is_named(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    found = scan_sources([make(tmp_path / "docs", "a.xlsx", "b.pptx", "c.txt")])
    assert found.describe_missing_extras() == []
    one = scan_sources([make(tmp_path / "one", "a.xlsx")])
    monkeypatch.setattr(folder_files, "find_spec", lambda name: None)
    assert one.describe_missing_extras() == [f"1 file needs the extra 'office': run {install_command('office')}"]
    assert found.describe_missing_extras() == [f"2 files need the extra 'office': run {install_command('office')}"]


@pytest.mark.parametrize(("named", "said"), [("", "there is no file to read in"), ("a.md", "'.*' cannot be opened")])
def test_a_folder_that_may_not_be_entered_is_a_sentence(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, named: str, said: str
) -> None:
    closed, stat = make(tmp_path / "docs", "a.md"), os.stat

    def refuse(path: Any, **options: Any) -> os.stat_result:
        if str(path).startswith(f"{closed}{os.sep}"):
            raise PermissionError(13, "Permission denied", str(path))
        return stat(path, **options)

    monkeypatch.setattr(os, "stat", refuse)
    with pytest.raises(BadInputError, match=said):
        FolderFiles.of([closed / named], str)
