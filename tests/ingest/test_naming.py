"""Names of files that do not depend on where a command is run."""

from pathlib import Path

import pytest

from triplebeam.errors import BadInputError
from triplebeam.ingest import SourceNames, wait_for_changes


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


def test_a_file_keeps_its_first_name_when_its_folder_comes_later(docs: Path) -> None:
    first = SourceNames({}, [Path("docs/inner/a.md")])
    second = SourceNames(first.known, [docs])
    assert second(docs / "inner/a.md") == "docs/inner/a.md"
    assert second(docs / "inner/b.md") == f"{docs.as_posix()}/inner/b.md"


def test_this_folder_has_no_name_of_its_own(docs: Path) -> None:
    assert SourceNames({}, [Path()])(Path("docs/a.md")) == "docs/a.md"


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


def test_what_is_in_no_source_is_called_by_its_path(docs: Path) -> None:
    assert SourceNames({})(Path("./docs//a.md")) == "docs/a.md"


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
