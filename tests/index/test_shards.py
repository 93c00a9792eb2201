"""Shards: an index made from them is the index made on one machine, and nothing is done twice."""

import json
import shutil
from collections.abc import Iterable
from pathlib import Path

import pytest
from test_build import Counting, KilledError

from small_world import TRIPLES, TableExtractor, WordEmbedder, world_documents
from triplebeam.errors import BadInputError, EmbedderMismatchError, IndexDamagedError
from triplebeam.index.build import IndexBuilder
from triplebeam.index.build_report import BuildReport
from triplebeam.index.shards import Shards
from triplebeam.passage import Document
from triplebeam.triple import Triple


def encode(
    shards: Path, documents: Iterable[Document], embedder: WordEmbedder, extractor: TableExtractor
) -> BuildReport:
    builder = IndexBuilder(folder=shards / ".work", embedder=embedder, extractor=extractor)
    return builder.taking(Shards.found(shards)).encode(documents)


def index(folder: Path, shards: Path, embedder: WordEmbedder, extractor: TableExtractor) -> BuildReport:
    builder = IndexBuilder(folder=folder, embedder=embedder, extractor=extractor)
    return builder.taking(Shards.open(shards)).build(world_documents())


def local(folder: Path) -> dict[str, int]:
    builder = IndexBuilder(folder=folder, embedder=WordEmbedder(), extractor=TableExtractor(TRIPLES))
    manifest = builder.build(world_documents()).manifest
    assert manifest
    return manifest.checksums


def test_an_index_from_shards_is_the_local_one_bit_for_bit(tmp_path: Path) -> None:
    machines = [tmp_path / "one", tmp_path / "two", tmp_path / "three"]
    for number, machine in enumerate(machines):
        encode(machine, world_documents()[number::3], WordEmbedder(), TableExtractor(TRIPLES))
        for shard in machine.glob("shard-*"):
            shutil.copytree(shard, tmp_path / "all" / shard.name)
    embedder, extractor = Counting(), TableExtractor(TRIPLES)
    report = index(tmp_path / "my.index", tmp_path / "all", embedder, extractor)
    assert embedder.texts == extractor.asked == []
    assert (report.passages_extracted, report.passages_taken, report.texts_encoded) == (0, 6, 0)
    assert report.manifest
    assert report.manifest.checksums == local(tmp_path / "local.index")


def test_what_no_shard_has_is_done_here(tmp_path: Path) -> None:
    encode(tmp_path, world_documents()[:-2], WordEmbedder(), TableExtractor(TRIPLES))
    embedder, extractor = Counting(), TableExtractor(TRIPLES)
    report = index(tmp_path / "my.index", tmp_path, embedder, extractor)
    assert extractor.asked == ["lake", "other"]
    assert (report.passages_extracted, report.passages_taken) == (2, 4)
    assert len(embedder.texts) == report.texts_encoded == 4, "two passages, a triple, an entity"
    assert report.manifest
    assert report.manifest.checksums == local(tmp_path / "local.index")


def test_encoding_again_adds_what_is_new(tmp_path: Path) -> None:
    first = encode(tmp_path, world_documents()[:3], WordEmbedder(), TableExtractor(TRIPLES))
    embedder, extractor = Counting(), TableExtractor(TRIPLES)
    second = encode(tmp_path, world_documents()[:4], embedder, extractor)
    assert extractor.asked == ["city"]
    assert "Pat Brien" not in embedder.texts
    assert {first.shard, second.shard} == set(tmp_path.glob("shard-*"))
    assert encode(tmp_path, world_documents()[:4], embedder, extractor).shard is None
    assert len(Shards.open(tmp_path).all) == 2


def test_a_killed_encoding_continues(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("triplebeam.index.encoding.ENCODING_WINDOW", 4)
    extractor, killed = TableExtractor(TRIPLES), Counting(dies_after=8)
    with pytest.raises(KilledError):
        encode(tmp_path, world_documents(), killed, extractor)
    assert not Shards.found(tmp_path).all, "half a shard is none"
    again = Counting()
    encode(tmp_path, world_documents(), again, extractor)
    assert len(extractor.asked) == 6, "no passage is extracted twice"
    assert not set(killed.texts) & set(again.texts), "no text is encoded twice"
    embedder = Counting()
    index(tmp_path / "my.index", tmp_path, embedder, TableExtractor({}))
    assert embedder.texts == []


def test_vectors_of_another_embedder_are_refused(tmp_path: Path) -> None:
    encode(tmp_path, world_documents(), WordEmbedder(), TableExtractor(TRIPLES))
    other = WordEmbedder()
    other.name, other.fingerprint = "other", "other-1"
    with pytest.raises(
        EmbedderMismatchError, match=r"was encoded with the embedder 'words' .* name `--embedder words`"
    ):
        index(tmp_path / "my.index", tmp_path, other, TableExtractor(TRIPLES))


def test_triples_in_another_context_are_refused(tmp_path: Path) -> None:
    encode(tmp_path, world_documents(), WordEmbedder(), TableExtractor(TRIPLES))
    (shard,) = Shards.open(tmp_path).all
    space = shard.manifest.embedder.model_copy(update={"triples_in_context": True})
    with pytest.raises(EmbedderMismatchError, match="triples_in_context = false, unlike the index"):
        Shards.open(tmp_path).check(space)


def test_extractions_of_another_extractor_are_not_taken(tmp_path: Path, caplog: pytest.LogCaptureFixture) -> None:
    encode(tmp_path, world_documents(), WordEmbedder(), TableExtractor(TRIPLES))
    other = TableExtractor({"film": [Triple("film", "is", "short")]})
    other.name = "table:2"
    report = index(tmp_path / "my.index", tmp_path, WordEmbedder(), other)
    assert len(other.asked) == 6
    assert report.manifest
    assert report.manifest.counts["triples"] == 1
    assert "has extractions of table:1, which are not taken: this run extracts with table:2" in caplog.text


def test_a_damaged_shard_is_noticed(tmp_path: Path) -> None:
    shard = encode(tmp_path, world_documents(), WordEmbedder(), TableExtractor(TRIPLES)).shard
    assert shard
    vectors = shard / "triple_vectors.npy"
    content = bytearray(vectors.read_bytes())
    content[-1] ^= 1
    vectors.write_bytes(content)
    with pytest.raises(IndexDamagedError, match=r"triple_vectors\.npy is not as it was written: copy the shard again"):
        Shards.open(tmp_path)
    vectors.unlink()
    with pytest.raises(IndexDamagedError, match=r"triple_vectors\.npy is missing"):
        Shards.open(tmp_path)


@pytest.mark.parametrize("name", ["shard-0", "renamed"])
def test_a_shard_of_which_a_part_was_copied_is_noticed(tmp_path: Path, name: str) -> None:
    shard = encode(tmp_path, world_documents(), WordEmbedder(), TableExtractor(TRIPLES)).shard
    assert shard
    (shard / "manifest.json").unlink()
    shard.rename(tmp_path / name)
    for opened in Shards.open, Shards.found:
        with pytest.raises(IndexDamagedError, match=r"manifest\.json is missing, .*: copy the shard again"):
            opened(tmp_path)


def test_the_first_file_of_a_copied_shard_is_enough_to_notice_it(tmp_path: Path) -> None:
    (tmp_path / "shard-0").mkdir()
    (tmp_path / "shard-1.tar").touch()
    with pytest.raises(IndexDamagedError, match=r"shard-0.manifest\.json is missing"):
        Shards.found(tmp_path)


def test_a_folder_without_shards_is_refused(tmp_path: Path) -> None:
    with pytest.raises(BadInputError, match="there are no shards in"):
        Shards.open(tmp_path)


def test_extractions_are_readable_as_json_lines(tmp_path: Path) -> None:
    shard = encode(tmp_path, world_documents(), WordEmbedder(), TableExtractor(TRIPLES)).shard
    assert shard
    rows = [json.loads(line) for line in (shard / "extractions.utf8").read_text().splitlines()]
    assert sum(len(row["triples"]) for row in rows) == 9
