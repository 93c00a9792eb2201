"""Links in a folder form no loop and double no file; what leaves it, or programs wrote for programs, is left out."""

import random
from pathlib import Path

import pytest
from made_files import write

from triplebeam.errors import BadInputError
from triplebeam.ingest import FolderFiles, Skipped, SourceNames, Unreadable, read_sources, scan_sources
from triplebeam.passage import Document

LEAVES = "it links outside the folder{}: allow that with --follow-links (in Python follow_links=True)"


def read(folder: Path, *, follow_links: bool = False) -> tuple[list[str], list[str]]:
    """The names of documents in a folder, and what is said of the rest."""
    readings = list(read_sources([folder], follow_links=follow_links))
    ids = [Path(each.id).relative_to(folder).as_posix() for each in readings if isinstance(each, Document)]
    listed = FolderFiles.of([folder], SourceNames({}), follow_links=follow_links)
    assert {file.path.relative_to(folder).as_posix() for file in listed.files} >= set(ids), "sync sees the same files"
    assert sum(scan_sources([folder], follow_links=follow_links).read.values()) >= len(ids)
    assert list(listed.skipped) == [each for each in readings if isinstance(each, Skipped) and each.reason]
    return ids, [str(each) for each in readings if not isinstance(each, Document)]


@pytest.fixture
def docs(tmp_path: Path) -> Path:
    """A folder with a file, and one with two files outside of it."""
    write(tmp_path / "docs/a/one.txt")
    write(tmp_path / "elsewhere/secret.txt")
    write(tmp_path / "elsewhere/other.txt")
    return tmp_path / "docs"


def test_links_out_of_the_folder_are_skipped_and_told_once(docs: Path, tmp_path: Path) -> None:
    (docs / "b").symlink_to(tmp_path / "elsewhere")
    assert read(docs) == (["a/one.txt"], [f"{docs / 'b'}: {LEAVES.format('')}"])
    (docs / "a" / "up.txt").symlink_to("../../elsewhere/secret.txt")
    assert read(docs)[1] == [f"{docs / 'a/up.txt'}: {LEAVES.format(', as does 1 other link')}"]
    (docs / "c.txt").symlink_to(tmp_path / "elsewhere" / "nowhere.txt")
    assert read(docs)[1] == [f"{docs / 'a/up.txt'}: {LEAVES.format(', as do 2 other links')}"]


def test_links_are_followed_on_request(docs: Path, tmp_path: Path) -> None:
    (docs / "b").symlink_to(tmp_path / "elsewhere")
    (docs / "again").symlink_to(tmp_path / "elsewhere")
    (docs / "c.txt").symlink_to(tmp_path / "elsewhere" / "secret.txt")
    assert read(docs, follow_links=True) == (["a/one.txt", "again/other.txt", "again/secret.txt"], [])
    (tmp_path / "named").symlink_to(docs / "a")
    assert read(tmp_path / "named") == (["one.txt"], []), "as are those that are named"
    assert [each.id for each in read_sources([docs / "c.txt"]) if isinstance(each, Document)]


def test_links_through_another_link_leave_the_folder_too(docs: Path, tmp_path: Path) -> None:
    (docs / ".hidden").symlink_to(tmp_path)
    (docs / "b").symlink_to(".hidden/elsewhere")
    (docs / "inside").symlink_to(".hidden/docs/a")
    (tmp_path / "docs-2").mkdir()
    (docs / "c.txt").symlink_to(write(tmp_path / "docs-2" / "x.txt"))
    assert read(docs) == (["a/one.txt"], [f"{docs / 'b'}: {LEAVES.format(', as does 1 other link')}"])


def test_links_inside_the_folder_work_without_loops_and_copies(docs: Path) -> None:
    write(docs / ".versions/2/new.txt")
    write(docs / "z.txt")
    (docs / "a" / "loop").symlink_to(docs)
    (docs / "a" / "copy.txt").symlink_to(docs / "z.txt")
    (docs / "current").symlink_to(".versions/2")
    (docs / "newest.txt").symlink_to(".versions/2/new.txt")
    (docs / "self.txt").symlink_to(docs / "self.txt")
    ids, said = read(docs)
    assert ids == ["a/one.txt", "z.txt", "current/new.txt"]
    assert said == [f"{docs / 'self.txt'}: it is not a regular file, but a broken link, a pipe or a device"]
    (docs / "b.txt").symlink_to(".versions/2/new.txt")
    assert read(docs)[0] == ["a/one.txt", "z.txt", "b.txt"], "what a link was read for is not read again"


def test_a_corpus_that_is_a_link_out_of_its_folder(docs: Path, tmp_path: Path) -> None:
    (docs / "corpus.jsonl").symlink_to(write(tmp_path / "rows.jsonl", '{"id": "row", "text": "A row."}'))
    assert read(docs) == (["a/one.txt"], [f"{docs / 'corpus.jsonl'}: {LEAVES.format('')}"])
    followed = read_sources([docs], follow_links=True)
    assert [each.id for each in followed if isinstance(each, Document)] == ["row"]


def test_a_folder_of_nothing_but_such_links(tmp_path: Path) -> None:
    (tmp_path / "docs").mkdir()
    (tmp_path / "docs" / "b.txt").symlink_to(write(tmp_path / "secret.txt"))
    with pytest.raises(BadInputError, match=r"no file to read in .*b\.txt: it links outside the folder"):
        FolderFiles.of([tmp_path / "docs"], SourceNames({}))


@pytest.mark.parametrize("seed", range(20))
def test_nothing_outside_is_read_and_nothing_twice_whatever_the_links(seed: int, tmp_path: Path) -> None:
    rolls = random.Random(seed)
    folders = [tmp_path / "docs", tmp_path / "docs/a", tmp_path / "docs/a/b", tmp_path / "docs/.h", tmp_path / "out"]
    for folder in folders:
        write(folder / f"{folder.name.strip('.')}.txt", f"Of {folder.name}.")
    for number in range(15):
        link = rolls.choice(folders) / f"{rolls.choice('amz')}{number}{rolls.choice(['', '.txt'])}"
        link.symlink_to(rolls.choice([*folders, *(file for folder in folders for file in folder.iterdir())]))
    documents = [each for each in read_sources([tmp_path / "docs"]) if isinstance(each, Document)]
    real = [Path(each.id).resolve() for each in documents]
    assert len(set(real)) == len(real)
    assert all(path.is_relative_to(tmp_path / "docs") for path in real)
    assert {"docs.txt", "a.txt", "b.txt"} <= {path.name for path in real}
    assert not [each for each in read_sources([tmp_path / "docs"]) if isinstance(each, Unreadable)]


@pytest.mark.parametrize(
    ("kept", "left_out", "reason"),
    [
        ("a.js", "node_modules", "it holds installed packages, not documents"),
        ("a/b.md", "a/site-packages", "it holds installed packages, not documents"),
        ("go.mod.txt", "package-lock.json", "it is a lock file, which a package manager writes"),
        ("a.yaml", "a/pnpm-lock.yaml", "it is a lock file, which a package manager writes"),
        ("a.js", "a/a.min.js", "it is a minified script"),
    ],
)
def test_what_a_package_manager_wrote_is_left_out(tmp_path: Path, kept: str, left_out: str, reason: str) -> None:
    write(tmp_path / kept)
    named = write(tmp_path / left_out if "." in left_out else tmp_path / left_out / "b.md")
    assert read(tmp_path) == ([kept], [f"{tmp_path / left_out}: {reason}"])
    assert [type(each) for each in read_sources([named])] == [Document if named.suffix != ".json" else Unreadable]


def test_a_folder_of_a_package_manager_is_told_by_the_files_around_it(tmp_path: Path) -> None:
    write(tmp_path / "contracts/vendor/a.md")
    write(tmp_path / "tool/go.mod")
    write(tmp_path / "tool/vendor/b.md")
    write(tmp_path / "env/pyvenv.cfg")
    write(tmp_path / "env/c.md")
    ids, said = read(tmp_path)
    assert ids == ["contracts/vendor/a.md"]
    packages = "it holds installed packages, not documents"
    assert said == [
        f"{tmp_path / 'env'}: {packages}",
        str(tmp_path / "tool/go.mod"),
        f"{tmp_path / 'tool/vendor'}: {packages}",
    ]


def test_a_script_of_very_long_lines_is_skipped(tmp_path: Path) -> None:
    write(tmp_path / "bundle.js", "/* a licence */\n" + "var a=1;" * 1000)
    write(tmp_path / "long.js", "let url = '" + "x" * 1500 + "';\n" + "call(url);\n" * 200)
    bundle, long = read_sources([tmp_path])
    assert isinstance(long, Document)
    assert str(bundle) == (
        f"{tmp_path / 'bundle.js'}: it is a minified script: most of it is in lines of over 1,000 characters"
    )
    assert isinstance(bundle, Skipped)
