"""Token vectors in a few bits: what compression loses, what a build keeps when it is stopped, what a reader refuses."""

import json
import shutil
from collections.abc import Sequence
from pathlib import Path

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from numpy.typing import NDArray

from small_world import world_documents
from triplebeam.embed.embedder import Embedder, Kind
from triplebeam.embed.token_encoder import TokenVectors
from triplebeam.errors import (
    BadInputError,
    EmbedderMismatchError,
    IndexBusyError,
    IndexDamagedError,
    IndexFormatError,
    IndexMissingError,
)
from triplebeam.index.build import IndexBuilder
from triplebeam.index.manifest import publish
from triplebeam.index.snapshot import Snapshot
from triplebeam.index.token_vectors import TokenIndexBuilder, TokenVectorIndex, token_builder
from triplebeam.index.token_vectors.codec import ResidualCodec, centroids_for, sample_size
from triplebeam.index.token_vectors.token_index import TokenManifest, blocks_of, places_of
from triplebeam.passage import Document
from word_tokens import WordTokens


def unit_rows(count: int, dimension: int = 16, seed: int = 0) -> NDArray[np.float32]:
    rows = np.random.default_rng(seed).standard_normal((count, dimension)).astype(np.float32)
    unit: NDArray[np.float32] = rows / np.linalg.norm(rows, axis=1, keepdims=True)
    return unit


@pytest.fixture
def index(tmp_path: Path, words: Embedder) -> Snapshot:
    """The small world, in a folder that may be changed."""
    IndexBuilder(folder=tmp_path / "index", embedder=words).build(world_documents())
    return Snapshot.open(tmp_path / "index")


def add(index: Snapshot, words: Embedder, *documents: Document) -> Snapshot:
    IndexBuilder(folder=index.folder, embedder=words).build(documents)
    return Snapshot.open(index.folder)


def test_more_bits_lose_less() -> None:
    vectors = unit_rows(3000)
    losses = []
    for nbits in (2, 4, 8):
        codec = ResidualCodec.train(vectors, nbits, len(vectors))
        codes, residuals = codec.compress(vectors)
        assert residuals.shape == (3000, 16 * nbits // 8)
        again = codec.decompress(codes, residuals)
        assert np.allclose(np.linalg.norm(again, axis=1), 1, atol=1e-5)
        losses.append(float(np.linalg.norm(again - vectors, axis=1).mean()))
    assert losses[0] < 0.35  # a centroid alone is 0.6 away
    assert losses[1] < losses[0] / 2
    assert losses[2] < losses[1] / 2


def test_a_codec_is_the_same_twice_and_read_back(tmp_path: Path) -> None:
    codec, again = (ResidualCodec.train(unit_rows(500), 4, 500) for _ in range(2))
    codec.save(tmp_path)
    for other in (again, ResidualCodec.load(tmp_path)):
        assert np.array_equal(codec.centroids, other.centroids)
        assert np.array_equal(codec.weights, other.weights)
    assert codec.nbits == 4


@pytest.mark.parametrize(("tokens", "centroids"), [(1, 1), (7, 1), (60, 8), (4096, 1024), (165_525, 4096)])
def test_the_number_of_centroids_grows_with_the_root_of_the_tokens(tokens: int, centroids: int) -> None:
    assert centroids_for(tokens, tokens) == centroids
    assert sample_size(tokens) <= max(32 * centroids, tokens)


@pytest.mark.parametrize("nbits", [0, 1, 3, 16])
def test_only_whole_parts_of_a_byte_are_bits(nbits: int) -> None:
    with pytest.raises(BadInputError, match=f"{nbits} bits per dimension is not a choice: give 2, 4, 8"):
        ResidualCodec.train(unit_rows(10), nbits, 10)


def test_dimensions_must_fill_bytes() -> None:
    with pytest.raises(BadInputError, match="3 dimensions of 2 bits do not fill whole bytes"):
        ResidualCodec.train(unit_rows(10, dimension=3), 2, 10)


@settings(max_examples=50)
@given(st.lists(st.integers(1, 9), min_size=1, max_size=20), st.data())
def test_stretches_are_laid_end_to_end(lengths: list[int], data: st.DataObject) -> None:
    starts = np.concatenate([[0], np.cumsum(lengths)])
    rows = np.array(data.draw(st.lists(st.integers(0, len(lengths) - 1), min_size=1, unique=True)))
    expected = [place for row in rows for place in range(starts[row], starts[row + 1])]
    assert places_of(starts, rows).tolist() == expected
    blocks = list(blocks_of(starts, rows, 7))
    assert np.concatenate(blocks).tolist() == rows.tolist()
    assert all(sum(lengths[row] for row in block) < 7 + 9 for block in blocks)


def test_every_passage_has_its_tokens(index: Snapshot) -> None:
    encoder = WordTokens()
    report = TokenIndexBuilder(index=index, encoder=encoder, nbits=8, window=2).build()
    opened = TokenVectorIndex.open(index.folder)
    assert len(opened) == report.passages_encoded == len(index.passages) == 6
    for row in range(len(opened)):
        exact = WordTokens().encode([index.passages.at(row).searchable]).vectors
        kept = opened.vectors(np.arange(opened.starts[row], opened.starts[row + 1]))
        assert kept.shape == exact.shape
        assert float(np.einsum("td,td->t", kept, exact).min()) > 0.98
    listed = {
        (int(centroid), int(row))
        for centroid in range(len(opened.codec.centroids))
        for row in opened.list_passages[opened.list_starts[centroid] : opened.list_starts[centroid + 1]]
    }
    owners = np.repeat(np.arange(6), np.diff(opened.starts))
    assert listed == set(zip(opened.codes.tolist(), owners.tolist(), strict=True))
    assert sorted(path.name for path in (index.folder / "late_interaction").iterdir()) == [
        "000001",
        "manifest.json",
        "write.lock",
    ]


def test_texts_that_are_alike_are_encoded_once(tmp_path: Path, words: Embedder) -> None:
    twins = [Document(id=id_, text="the same words", is_passage=True) for id_ in "ab"]
    IndexBuilder(folder=tmp_path, embedder=words).build(twins)
    encoder = WordTokens()
    TokenIndexBuilder(index=Snapshot.open(tmp_path), encoder=encoder).build()
    opened = TokenVectorIndex.open(tmp_path)
    assert encoder.encoded == ["the same words"]
    assert opened.starts.tolist() == [0, 3, 6]
    assert opened.codes[:3].tolist() == opened.codes[3:].tolist()


class Interrupted(WordTokens):
    """Stops after some windows, as a user may."""

    def __init__(self, after: int) -> None:
        super().__init__()
        self.left = after

    def encode(self, texts: Sequence[str], kind: Kind = "passage") -> TokenVectors:
        if self.left == 0:
            raise KeyboardInterrupt
        self.left -= 1
        return super().encode(texts, kind)


def test_an_interrupted_build_continues(index: Snapshot) -> None:
    straight = index.folder.with_name("straight")
    shutil.copytree(index.folder, straight)
    TokenIndexBuilder(index=Snapshot.open(straight), encoder=WordTokens(), window=1).build()
    first, second = Interrupted(after=4), WordTokens()
    with pytest.raises(KeyboardInterrupt):
        TokenIndexBuilder(index=index, encoder=first, window=1).build()
    with pytest.raises(IndexMissingError, match="triplebeam late-index"):
        TokenVectorIndex.open(index.folder)
    report = TokenIndexBuilder(index=index, encoder=second, window=1).build()
    assert (len(first.encoded), len(second.encoded), report.passages_encoded) == (4, 2, 2)
    resumed, whole = TokenVectorIndex.open(index.folder), TokenVectorIndex.open(straight)
    for name in ("starts", "codes", "residuals", "list_starts", "list_passages"):
        assert np.array_equal(getattr(resumed, name), getattr(whole, name)), name


def test_what_another_encoder_encoded_is_not_used(index: Snapshot) -> None:
    with pytest.raises(KeyboardInterrupt):
        TokenIndexBuilder(index=index, encoder=Interrupted(after=2), window=1).build()
    other = WordTokens()
    other.fingerprint = "other"
    assert TokenIndexBuilder(index=index, encoder=other, window=1).build().passages_encoded == 6


def test_only_new_passages_are_encoded(index: Snapshot, words: Embedder) -> None:
    TokenIndexBuilder(index=index, encoder=WordTokens()).build()
    before = TokenVectorIndex.open(index.folder)
    changed = add(index, words, Document(id="the last", text="a river in Wisconsin", is_passage=True))
    with pytest.raises(IndexMissingError, match=r"have changed since .* run `triplebeam late-index"):
        before.manifest.check_passages(changed)
    encoder = WordTokens()
    report = TokenIndexBuilder(index=changed, encoder=encoder).build()
    after = TokenVectorIndex.open(index.folder)
    after.manifest.check_passages(changed)
    assert encoder.encoded == ["a river in Wisconsin"]
    assert (report.passages_encoded, report.manifest.trained_on, len(after)) == (1, 6, 7)
    assert np.array_equal(after.codes[: len(before.codes)], before.codes)


def test_a_collection_that_doubled_is_trained_again(index: Snapshot, words: Embedder) -> None:
    TokenIndexBuilder(index=index, encoder=WordTokens()).build()
    more = [Document(id=f"more {n}", text=f"river number {n}", is_passage=True) for n in range(7)]
    report = TokenIndexBuilder(index=add(index, words, *more), encoder=WordTokens()).build()
    assert (report.passages_encoded, report.manifest.trained_on) == (13, 13)


def test_a_new_generation_of_the_same_passages_is_no_change(index: Snapshot, words: Embedder) -> None:
    TokenIndexBuilder(index=index, encoder=WordTokens()).build()
    add(index, words, Document(id="new", text="gone soon", is_passage=True))
    manifest = TokenVectorIndex.open(index.folder).manifest
    assert manifest.index == f"000001 of {index.manifest.created}"
    manifest.model_copy(update={"index": "another"}).check_passages(index)


def test_another_encoder_is_refused(index: Snapshot) -> None:
    TokenIndexBuilder(index=index, encoder=WordTokens()).build()
    other = WordTokens()
    other.name = other.fingerprint = "other"
    with pytest.raises(EmbedderMismatchError, match=r"'word-tokens', not of 'other'.*late-index .* --encoder other"):
        TokenVectorIndex.open(index.folder).manifest.check_encoder(index.folder, other)


def test_a_newer_format_is_refused(index: Snapshot) -> None:
    TokenIndexBuilder(index=index, encoder=WordTokens()).build()
    path = index.folder / "late_interaction" / "manifest.json"
    path.write_text(json.dumps({**json.loads(path.read_text()), "format": 99}), encoding="utf-8")
    with pytest.raises(IndexFormatError, match="format 99"):
        TokenVectorIndex.open(index.folder)


@pytest.mark.parametrize("damage", ["cut", "gone", "manifest"])
def test_damage_is_reported_and_repaired(index: Snapshot, damage: str) -> None:
    TokenIndexBuilder(index=index, encoder=WordTokens()).build()
    place = index.folder / "late_interaction"
    codes = place / "000001" / "codes.npy"
    if damage == "cut":
        codes.write_bytes(codes.read_bytes()[:-1])
    elif damage == "gone":
        codes.unlink()
    else:
        (place / "manifest.json").write_text("{", encoding="utf-8")
    with pytest.raises(IndexDamagedError, match="run `triplebeam late-index"):
        TokenVectorIndex.open(index.folder)
    TokenIndexBuilder(index=index, encoder=WordTokens()).build()
    assert len(TokenVectorIndex.open(index.folder)) == 6


@pytest.mark.parametrize("step", ["flush_tree", "publish"])
def test_a_generation_that_fails_is_removed(index: Snapshot, step: str, monkeypatch: pytest.MonkeyPatch) -> None:
    """Also one that has the number of the index's own generation."""

    def fail(*_: object) -> None:
        raise OSError("no space left")

    monkeypatch.setattr(token_builder, step, fail)
    with pytest.raises(OSError, match="no space left"):
        TokenIndexBuilder(index=index, encoder=WordTokens()).build()
    assert index.manifest.generation == "000001"
    assert not list((index.folder / "late_interaction").glob("0*"))


def test_a_published_generation_stays_whatever_fails_then(index: Snapshot, monkeypatch: pytest.MonkeyPatch) -> None:
    def published_and_failed(folder: Path, manifest: TokenManifest) -> None:
        publish(folder, manifest)
        raise OSError("the folder cannot be flushed")

    monkeypatch.setattr(token_builder, "publish", published_and_failed)
    with pytest.raises(OSError, match="cannot be flushed"):
        TokenIndexBuilder(index=index, encoder=WordTokens()).build()
    assert len(TokenVectorIndex.open(index.folder)) == len(index.passages)


def test_one_writes_at_a_time(index: Snapshot) -> None:
    class Nested(WordTokens):
        def encode(self, texts: Sequence[str], kind: Kind = "passage") -> TokenVectors:
            with pytest.raises(IndexBusyError, match="another process is writing"):
                TokenIndexBuilder(index=index, encoder=WordTokens()).build()
            return super().encode(texts, kind)

    TokenIndexBuilder(index=index, encoder=Nested()).build()
