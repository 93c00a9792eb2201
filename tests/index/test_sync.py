"""An index kept up to date with folders."""

import errno
import os
from collections.abc import Iterator
from contextlib import closing
from pathlib import Path

import pytest

from small_world import Fickle
from triplebeam.errors import BadInputError
from triplebeam.index.build.build import IndexBuilder
from triplebeam.index.build.intake import BuildReport
from triplebeam.index.folder.manifest import is_index
from triplebeam.index.folder.snapshot import Snapshot
from triplebeam.index.store.store import Store
from triplebeam.ingest import FolderFiles, SourceNames
from triplebeam.ingest.folder_files import is_inside
from triplebeam.ingest.split import split
from triplebeam.passage import Document
from triplebeam.testing.hashed_words import HashedWords


class World:
    """A folder of files beside an index."""

    def __init__(self, folder: Path) -> None:
        self.docs, self.index = folder / "docs", folder / "my.index"
        self.docs.mkdir()
        self.extractor = Fickle()
        self.builder = IndexBuilder(folder=self.index, embedder=HashedWords(), extractor=self.extractor)
        self._tick = 10**18

    def write(self, name: str, text: str) -> Path:
        path = self.docs / name
        path.parent.mkdir(exist_ok=True)
        path.write_text(text)
        self._tick += 10**9
        os.utime(path, ns=(self._tick, self._tick))
        return path

    def files(self) -> FolderFiles:
        return FolderFiles.of([self.docs], SourceNames({str(self.docs): "docs"}))

    def sync(self) -> BuildReport:
        self.extractor.asked.clear()
        return self.builder.sync(self.files())

    @property
    def documents(self) -> set[str]:
        return set(Snapshot.open(self.index).passages.document_ids)


@pytest.fixture
def world(tmp_path: Path) -> World:
    world = World(tmp_path)
    world.write("a.md", "# Ada\n\nAda wrote programs.")
    world.write("b.md", "# Bob\n\nBob reads books.")
    world.sync()
    return world


def test_nothing_changed_nothing_is_read(world: World, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(Path, "read_bytes", lambda path: pytest.fail(f"{path} was read"))
    report = world.sync()
    assert (report.published, report.documents_changed, report.documents_seen) == (False, 0, 2)


def test_added_changed_and_removed_at_once(world: World) -> None:
    """What does not come from the folder stays."""
    world.builder.build([Document(id="note", text="From elsewhere.")])
    world.write("c.md", "# Cy\n\nCy sings.")
    world.write("a.md", "# Ada\n\nAda wrote letters.")
    (world.docs / "b.md").unlink()
    report = world.sync()
    assert (report.added, report.changed, report.removed) == (["docs/c.md"], ["docs/a.md"], ["docs/b.md"])
    assert sorted(world.extractor.asked) == ["docs/a.md#0", "docs/c.md#0"]
    assert world.documents == {"docs/a.md", "docs/c.md", "note"}
    assert Snapshot.open(world.index).manifest.counts["triples"] == 3


def test_a_preview_changes_nothing(world: World) -> None:
    world.write("c.md", "# Cy\n\nCy sings.")
    (world.docs / "b.md").rename(world.docs / "d.md")
    (world.docs / "a.md").unlink()
    before = {path: path.read_bytes() for path in world.index.rglob("*") if path.is_file()}
    report = world.builder.preview(world.files())
    assert (report.added, report.removed) == (["docs/c.md"], ["docs/a.md"])
    assert report.renamed == [("docs/b.md", "docs/d.md")]
    assert world.documents == {"docs/a.md", "docs/b.md"}
    assert {path: path.read_bytes() for path in world.index.rglob("*") if path.is_file()} == before
    assert world.sync().removed == ["docs/a.md"]


def test_a_preview_of_a_new_index_makes_none(tmp_path: Path) -> None:
    world = World(tmp_path)
    world.write("a.md", "Ada wrote programs.")
    assert world.builder.preview(world.files()).added == ["docs/a.md"]
    assert not world.index.exists()


def test_files_that_are_moved_and_moved_back_are_there(world: World) -> None:
    world.write("rows.jsonl", '{"id": "x", "text": "Ex."}')
    world.sync()
    old = world.docs / "old"
    old.mkdir()
    for name in ("a.md", "rows.jsonl"):
        (world.docs / name).rename(old / name)
    report = world.sync()
    assert (report.renamed, report.added, report.removed) == ([("docs/a.md", "docs/old/a.md")], [], [])
    assert (world.extractor.asked, report.texts_encoded) == ([], 0), "triples and vectors are kept"
    snapshot = Snapshot.open(world.index)
    assert snapshot.passages["docs/old/a.md#0"].metadata["path"] == "docs/old/a.md"
    assert len(snapshot.triples.triples_of(["docs/old/a.md#0"])) == 1
    for name in ("a.md", "rows.jsonl"):
        (old / name).rename(world.docs / name)
    report = world.sync()
    assert (report.renamed, report.removed) == ([("docs/old/a.md", "docs/a.md")], [])
    assert world.documents == {"docs/a.md", "docs/b.md", "x"}
    assert world.extractor.asked == []


def test_a_copy_is_no_rename(world: World) -> None:
    world.write("copy.md", (world.docs / "b.md").read_text())
    report = world.sync()
    assert (report.added, report.renamed) == (["docs/copy.md"], [])
    assert world.documents == {"docs/a.md", "docs/b.md", "docs/copy.md"}


def test_rows_that_are_gone_from_a_file_go_also_where_a_line_is_bad(world: World) -> None:
    world.write("rows.jsonl", '{"id": "x", "text": "Ex."}\n{bad\n{"id": "y", "text": "Why."}')
    world.sync()
    world.write("rows.jsonl", '{bad\n{"id": "y", "text": "Why not."}')
    report = world.sync()
    assert (report.changed, report.removed) == (["y"], ["x"])
    assert [each.line for each in world.sync().unreadable] == [1], "it is read again until it is whole"
    (world.docs / "rows.jsonl").unlink()
    assert world.sync().removed == ["y"]


def test_two_files_with_one_id_do_not_replace_each_other(world: World) -> None:
    world.write("one.jsonl", '{"id": "x", "text": "The first."}')
    world.sync()
    world.write("two.jsonl", '{"id": "x", "text": "The second."}')
    assert "an earlier document has the same id" in world.sync().unreadable[0].reason
    assert Snapshot.open(world.index).passages["x"].text == "The first."
    (world.docs / "one.jsonl").unlink()
    world.sync()
    assert Snapshot.open(world.index).passages["x"].text == "The second."


def test_a_file_that_cannot_be_read_any_more_is_kept(world: World) -> None:
    world.write("b.md", "\0")
    report = world.sync()
    assert "NUL" in report.unreadable[0].reason
    assert report.removed == []
    assert world.documents == {"docs/a.md", "docs/b.md"}
    world.write("b.md", "# Bob\n\nBob is back.")
    assert world.sync().changed == ["docs/b.md"]


@pytest.mark.parametrize("closed", ["sub", "c.md"])
def test_what_cannot_be_looked_at_is_kept(world: World, monkeypatch: pytest.MonkeyPatch, closed: str) -> None:
    """The folder has another name in the index than its path; a copy is not taken for the file that was renamed."""
    world.write("sub/c.md", "# Cy\n\nCy sings.")
    world.sync()
    world.write("copy.md", "# Cy\n\nCy sings.")
    stat = Path.stat

    def refused(path: Path, *, follow_symlinks: bool = True) -> os.stat_result:
        if closed in path.parts[len(world.docs.parts) :]:
            raise PermissionError(errno.EACCES, "Permission denied")
        return stat(path, follow_symlinks=follow_symlinks)

    with monkeypatch.context() as patched:
        patched.setattr(Path, "stat", refused)
        report = world.sync()
    assert (report.added, report.renamed, report.removed) == (["docs/copy.md"], [], [])
    assert [each.reason for each in report.unreadable] == ["it cannot be opened: Permission denied"]
    assert "docs/sub/c.md" in world.documents
    assert world.sync().documents_changed == 0


def test_a_folder_that_cannot_be_listed_is_kept(world: World, monkeypatch: pytest.MonkeyPatch) -> None:
    world.write("sub/c.md", "# Cy\n\nCy sings.")
    world.sync()
    iterdir = Path.iterdir

    def refused(path: Path) -> Iterator[Path]:
        if path.name == "sub":
            raise PermissionError(errno.EACCES, "Permission denied")
        return iterdir(path)

    monkeypatch.setattr(Path, "iterdir", refused)
    assert world.sync().removed == []
    assert "docs/sub/c.md" in world.documents


def test_an_empty_folder_does_not_empty_the_index(world: World) -> None:
    for path in world.docs.iterdir():
        path.unlink()
    with pytest.raises(BadInputError, match="there is no file to read in"):
        world.sync()
    assert world.documents == {"docs/a.md", "docs/b.md"}


def test_no_text_is_left_where_only_documents_without_any_are(tmp_path: Path) -> None:
    world = World(tmp_path)
    world.write("a.md", "Ada wrote programs.")
    world.sync()
    world.builder.build([Document(id="empty", text=" ")])
    (world.docs / "a.md").unlink()
    world.write("b.md", "")
    assert world.sync().removed == ["docs/a.md"]
    assert not is_index(world.index)


def test_the_last_document_of_a_named_file_may_go(tmp_path: Path) -> None:
    world = World(tmp_path)
    world.write("rows.jsonl", '{"id": "x", "text": "Ex."}')
    world.write("other.md", "Other.")
    world.sync()
    world.builder.remove(["docs/other.md", "x"])
    assert not is_index(world.index)
    assert sorted(world.sync().added) == ["docs/other.md", "x"]


def test_killed_before_it_published_it_continues(world: World, monkeypatch: pytest.MonkeyPatch) -> None:
    world.write("c.md", "Cy sings.")
    (world.docs / "a.md").unlink()
    with monkeypatch.context() as patched:
        patched.setattr(Fickle, "extract", lambda *_: (_ for _ in ()).throw(KeyboardInterrupt))
        with pytest.raises(KeyboardInterrupt):
            world.sync()
    assert world.documents == {"docs/a.md", "docs/b.md"}, "readers see the whole of the old index"
    world.sync()
    assert world.extractor.asked == ["docs/c.md#0"]
    assert world.documents == {"docs/b.md", "docs/c.md"}


@pytest.mark.parametrize("there", [["a-b.md"], ["a/x.md"], ["a"], []])
def test_names_of_sources_are_kept_while_a_document_has_them(tmp_path: Path, there: list[str]) -> None:
    names = {"/a": "a", "/a-b.md": "a-b.md", "/b": "b", "/here": "."}
    with closing(Store(tmp_path / "store.sqlite")) as store, store.transaction():
        for name in there:
            document = Document(id=name, text="Text.", source=name)
            store.put_document(document, split(document, 200))
        store.meta.set_source_names(names)
        store.files.forget_unused_names()
        used = {name for name in names.values() if any(is_inside(name, each) for each in there)}
        assert set(store.meta.source_names.values()) == used
