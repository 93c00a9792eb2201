"""Damage that leaves a file's size alone is noticed, named, and repaired from what is not damaged. An index of another
format is neither read nor written: one sentence says to index again.
"""

import json
import os
import random
import shutil
import sqlite3
from collections.abc import Callable
from contextlib import closing
from pathlib import Path

import pytest

from small_world import TRIPLES, WordEmbedder, world_builder, world_documents
from triplebeam.assemble import Context, IndexReader
from triplebeam.errors import IndexDamagedError, IndexFormatError
from triplebeam.index.build.writing import check_index, purge, set_share
from triplebeam.index.folder import manifest
from triplebeam.index.folder.manifest import MANIFEST, generation_folder, read_manifest
from triplebeam.index.folder.snapshot import Snapshot
from triplebeam.index.source import FORMAT, Manifest
from triplebeam.passage import Document
from triplebeam.settings import Settings

QUESTIONS = ("Which lake is near Hell?", "Who directed the film?", "When did Edward Cahn die?")


@pytest.fixture
def folder(world: Snapshot, tmp_path: Path) -> Path:
    return shutil.copytree(world.folder, tmp_path / "copy")


#: What an index of another format refuses.
USES: tuple[Callable[[Path], object], ...] = (
    Snapshot.open,
    lambda folder: world_builder(folder).build(world_documents()[:1]),
    lambda folder: world_builder(folder).repair(),
)
AGAIN = "this Triplebeam reads format 1: index the documents again into a new folder"


def files(folder: Path) -> dict[str, bytes]:
    generation = generation_folder(folder, read_manifest(folder).generation)
    return {name: (generation / name).read_bytes() for name in read_manifest(folder).files}


def flip(path: Path) -> None:
    """One bit, near the end."""
    content = bytearray(path.read_bytes())
    content[int(0.9 * (len(content) - 1))] ^= 0x40
    path.write_bytes(content)


def test_a_flipped_bit_in_any_file_is_noticed_named_and_repaired(folder: Path) -> None:
    """Files are repaired a fifth at a time: the others are taken over."""
    before = files(folder)
    names = [name for name, content in before.items() if content]
    for start in range(5):
        damaged = names[start::5]
        generation = generation_folder(folder, read_manifest(folder).generation)
        for name in damaged:
            flip(generation / name)
            with pytest.raises(IndexDamagedError, match=Path(name).name):
                use_all(folder)
            flip(generation / name)
        for name in damaged:
            flip(generation / name)
        report = world_builder(folder).repair()
        assert (sorted(report.damaged), report.published) == (sorted(damaged), True)
        assert files(folder) == before


@pytest.mark.parametrize("change", [-1, 1])
def test_a_file_of_another_size_is_refused_when_the_index_is_opened(folder: Path, change: int) -> None:
    generation = generation_folder(folder, read_manifest(folder).generation)
    for name, size in read_manifest(folder).files.items():
        if size + change >= 0:
            os.truncate(generation / name, size + change)
            with pytest.raises(IndexDamagedError, match=f"{name} has {size + change} bytes where {size} were written"):
                Snapshot.open(folder)
            os.truncate(generation / name, size)


def test_one_file_that_is_too_large_to_be_checked_hides_no_other(folder: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    sizes = {name: size for name, size in read_manifest(folder).files.items() if not name.endswith("_vectors.npy")}
    largest = max(sizes.values())
    monkeypatch.setattr(manifest, "_MAX_BYTES_CHECKED", sum(sizes.values()) - 1)
    generation = generation_folder(folder, read_manifest(folder).generation)
    for name in [name for name, size in sizes.items() if 0 < size < largest]:
        flip(generation / name)
        with pytest.raises(IndexDamagedError, match=f"{name} is corrupted"):
            Snapshot.open(folder)
        flip(generation / name)


def use_all(folder: Path) -> None:
    """Open an index, and look at its vectors, which are read when they are needed."""
    opened = Snapshot.open(folder)
    for vectors in (opened.passage_vectors, opened.triples.vector_index, opened.entities.vectors):
        assert len(vectors.rows) == len(vectors)


def search_all(folder: Path) -> list[object]:
    """What methods find, with its texts and explanations."""
    index = IndexReader(Context(Snapshot.open(folder), Settings(model=None), WordEmbedder()))
    methods = ("bm25", "dense", "hybrid+naive_ge", "gnn_ret", "hipporag2", "blend")
    return [index.search(question, method=method).to_dict() for question in QUESTIONS for method in methods]


def outcome(folder: Path) -> list[object] | str:
    """What searching gives; or the error."""
    try:
        return search_all(folder)
    except IndexDamagedError as error:
        return str(error)


def test_no_flip_is_silently_wrong_nor_a_traceback(folder: Path) -> None:
    """Bits that are chosen at random, several in each file of an index, each alone."""
    chosen, right, noticed, harmless = random.Random(20), search_all(folder), 0, 0
    generation = generation_folder(folder, read_manifest(folder).generation)
    for name in ["", *read_manifest(folder).files]:
        path = generation / name if name else folder / "manifest.json"
        for _ in range((3 if name else 40) if path.stat().st_size else 0):
            whole = path.read_bytes()
            damaged = bytearray(whole)
            damaged[chosen.randrange(len(whole))] ^= 1 << chosen.randrange(8)
            path.write_bytes(damaged)
            seen = outcome(folder)
            if isinstance(seen, str):
                noticed += 1
                assert "triplebeam repair" in seen or "triplebeam index" in seen
            else:
                harmless += 1
                assert seen == right, f"{name} is wrong, and nobody notices"
            if name:
                with pytest.raises(IndexDamagedError):
                    check_index(folder)
            path.write_bytes(whole)
    assert noticed > 100
    assert harmless < 10
    check_index(folder)


def test_a_flipped_letter_in_the_store_is_found_by_a_deep_check(folder: Path) -> None:
    content = (folder / "store.sqlite").read_bytes()
    text = world_documents()[0].text[:30].encode()
    assert content.count(text) == 1
    (folder / "store.sqlite").write_bytes(content.replace(text, bytes([text[0] ^ 1]) + text[1:]))
    for check in (lambda: check_index(folder), world_builder(folder).repair):
        with pytest.raises(
            IndexDamagedError, match=r"the text of 1 documents in store\.sqlite is not what was indexed"
        ):
            check()


def test_a_store_that_is_gone_is_missed_and_not_started_over(folder: Path) -> None:
    (folder / "store.sqlite").unlink()
    for use in (check_index, lambda folder: world_builder(folder).build(world_documents())):
        with pytest.raises(IndexDamagedError, match=r"store\.sqlite is missing, .* restore the file"):
            use(folder)
    assert len(Snapshot.open(folder).passages) == 6


@pytest.mark.parametrize("content", ["", "{", "[]", f'{{"format": {FORMAT}}}'])
def test_a_damaged_manifest(folder: Path, content: str) -> None:
    (folder / MANIFEST).write_text(content)
    with pytest.raises(IndexDamagedError, match=r"manifest\.json"):
        Snapshot.open(folder)


@pytest.mark.parametrize("name", ["triple_vectors.npy", "passage_terms/words.offsets.npy", "entity_starts.npy"])
def test_a_file_of_zeros_and_one_that_is_missing(folder: Path, name: str) -> None:
    file = folder / "generations" / "000001" / name
    file.write_bytes(b"\0" * file.stat().st_size)
    with pytest.raises(IndexDamagedError, match=r"cannot be read|is corrupted"):
        Snapshot.open(folder)
    file.unlink()
    with pytest.raises(IndexDamagedError, match=f"{name} is missing"):
        Snapshot.open(folder)


def test_a_read_only_folder(folder: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    (folder / "store.sqlite").unlink()
    # The administrator may write anywhere: what counts is that nothing was.
    monkeypatch.setattr("os.access", lambda path, mode: False)
    for lock in folder.rglob("*.lock"):
        lock.unlink()
    for path in sorted(folder.rglob("*"), reverse=True):
        path.chmod(0o555 if path.is_dir() else 0o444)
    assert Snapshot.open(folder).passage_terms.search("film", 3)[0].tolist()
    assert not list(folder.rglob("*.lock"))
    for path in sorted(folder.rglob("*")):
        path.chmod(0o755)


def test_readers_that_open_while_others_publish(folder: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Each time the files of a generation are about to be read, the next one is published and this one is removed."""
    from triplebeam.index.folder import snapshot

    check, published = snapshot.check_contents, []

    def meanwhile(place: Path, manifest: Manifest) -> None:
        if len(published) < 4:
            published.append(world_builder(folder).build([Document(id=f"new{len(published)}", text="Borin is new.")]))
        check(place, manifest)

    monkeypatch.setattr(snapshot, "check_contents", meanwhile)
    assert "new3" in Snapshot.open(folder).passages.document_ids


def test_whatever_a_killed_process_left_goes_with_the_next_writer(folder: Path) -> None:
    current = read_manifest(folder).generation
    for write in (
        lambda: world_builder(folder).build(world_documents()),
        lambda: world_builder(folder).remove(["nothing"]),
        world_builder(folder).repair,
        lambda: purge(folder),
        lambda: set_share(folder, 0.5),
    ):
        shutil.copytree(folder / "generations" / current, folder / "generations" / "000009")
        write()
        assert [path.name for path in (folder / "generations").iterdir()] == [current]


@pytest.mark.parametrize("damage", [Path.unlink, flip])
def test_indexing_again_repairs_as_well(folder: Path, damage: Callable[[Path], None]) -> None:
    before = files(folder)
    damage(folder / "generations" / "000001" / "triple_vectors.npy")
    report = world_builder(folder).build(world_documents())
    assert report.published
    assert report.texts_encoded == sum(map(len, TRIPLES.values())), "vectors of other files are taken over"
    assert files(folder) == before


def test_missing_files_are_repaired_and_what_is_sound_is_left_alone(folder: Path) -> None:
    before, report = files(folder), world_builder(folder).repair()
    assert (report.damaged, report.published, report.texts_encoded) == ([], False, 0)
    shutil.rmtree(folder / "generations")
    report = world_builder(folder).repair()
    assert set(report.damaged) == set(before)
    assert files(folder) == before


def test_a_damaged_store_is_named(folder: Path) -> None:
    with closing(sqlite3.connect(folder / "store.sqlite")) as db:
        size, root = db.execute(
            "SELECT page_size, rootpage FROM pragma_page_size, sqlite_schema WHERE name = 'triple'"
        ).fetchone()
    content = bytearray((folder / "store.sqlite").read_bytes())
    content[(root - 1) * size : (root - 1) * size + 64] = b"\xff" * 64
    (folder / "store.sqlite").write_bytes(content)
    with pytest.raises(IndexDamagedError, match=r"the store of the index is damaged .* restore store\.sqlite"):
        world_builder(folder).repair()


@pytest.mark.parametrize(
    ("content", "said"),
    [("", r"store\.sqlite is empty, .* restore the file"), ("none", r"store\.sqlite is not a usable SQLite file")],
)
def test_a_store_that_is_none_is_not_taken_for_a_new_one(folder: Path, content: str, said: str) -> None:
    before, builder = files(folder), world_builder(folder)
    (folder / "store.sqlite").write_text(content)
    for write in (lambda: builder.build(world_documents()), builder.repair, lambda: purge(folder)):
        with pytest.raises(IndexDamagedError, match=said):
            write()
    assert files(folder) == before


def test_a_store_restored_from_a_copy_is_not_taken_for_the_published_one(folder: Path) -> None:
    """The copy is older than what is published, and then another document is added to it."""
    shutil.copy(folder / "store.sqlite", folder.parent / "copy.sqlite")
    world_builder(folder).build([Document(id="b", text="Borin lives in Velmora.")])
    shutil.copy(folder.parent / "copy.sqlite", folder / "store.sqlite")
    world_builder(folder).build([Document(id="c", text="Cesta lives in Karsund.")])
    documents = Snapshot.open(folder).passages.document_ids
    assert "c" in documents
    assert "b" not in documents


@pytest.mark.parametrize("number", [0, 6, 99])
@pytest.mark.parametrize("use", USES)
def test_a_manifest_of_another_format(folder: Path, number: int, use: Callable[[Path], object]) -> None:
    manifest = json.loads((folder / MANIFEST).read_text())
    (folder / MANIFEST).write_text(json.dumps(manifest | {"format": number}))
    before = (folder / MANIFEST).read_bytes()
    with pytest.raises(IndexFormatError, match=rf"manifest\.json has format {number}, {AGAIN}"):
        use(folder)
    assert (folder / MANIFEST).read_bytes() == before


@pytest.mark.parametrize("use", USES[1:])
def test_a_store_of_another_format(folder: Path, use: Callable[[Path], object]) -> None:
    with closing(sqlite3.connect(folder / "store.sqlite")) as db:
        db.execute("PRAGMA user_version = 4")
    with pytest.raises(IndexFormatError, match=rf"store\.sqlite has format 4, {AGAIN}"):
        use(folder)
    assert len(Snapshot.open(folder).passages) == 6, "it can still be searched"
