"""Vectors of tokens: any encoder's, and ColBERT's from a tiny checkpoint in the published layout, against NumPy."""

from collections.abc import Callable, Sequence
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from numpy.typing import NDArray
from test_bert_graph import oracle
from tiny_model import WORDS, random_weights, write_model

from triplebeam.embed import _select_files
from triplebeam.errors import BadInputError, ModelMissingError
from triplebeam_research.late_interaction import OnnxTokenEncoder, load_token_encoder

CLS, SEP, UNK = 1, 2, 3
MASK, QUERY, PASSAGE = len(WORDS), len(WORDS) + 1, len(WORDS) + 2
SETTINGS = {"query_maxlen": 8, "doc_maxlen": 7, "query_token_id": "[unused0]", "doc_token_id": "[unused1]"}


def unit(vectors: NDArray[np.float64]) -> NDArray[np.float64]:
    scaled: NDArray[np.float64] = vectors / np.linalg.norm(vectors, axis=-1, keepdims=True)
    return scaled


def ids(*words: str) -> list[int]:
    return [CLS, *map(WORDS.index, words), SEP]


@pytest.fixture(scope="module")
def colbert_weights() -> dict[str, NDArray[np.float32]]:
    """The tiny BERT with three more words and a projection from 8 to 4 dimensions."""
    weights = random_weights()
    random = np.random.default_rng(11)
    more = random.normal(size=(3, 8)).astype(np.float32)
    words = "embeddings.word_embeddings.weight"
    weights[words] = np.concatenate([weights[words], more])
    return weights | {"linear.weight": random.normal(size=(4, 8)).astype(np.float32)}


@pytest.fixture
def colbert_folder(tmp_path: Path, colbert_weights: dict[str, NDArray[np.float32]]) -> Callable[..., Path]:
    """A folder as ColBERTv2's is: names with ``bert.`` in front but for the projection, and ``artifact.metadata``."""

    def make(words: Sequence[str] = (*WORDS, "[MASK]", "[unused0]", "[unused1]"), **settings: Any) -> Path:
        named = {name if name.startswith("linear") else f"bert.{name}": it for name, it in colbert_weights.items()}
        return write_model(tmp_path, named, words, **{"artifact.metadata": {**SETTINGS, **settings}})

    return make


def test_a_passage_is_its_words_without_marks_and_punctuation(
    make_folder: Callable[..., Path], tiny_bert: dict[str, NDArray[np.float32]]
) -> None:
    encoder = OnnxTokenEncoder.from_folder(make_folder(), name="tiny")
    assert (encoder.label, encoder.dimension) == ("late_interaction(tiny)", 8), "without a projection"
    vectors, starts = encoder.encode(["the river : flows", "north"])
    assert starts.tolist() == [0, 3, 4]
    expected = oracle(tiny_bert, ids("the", "river", ":", "flows"))[[1, 2, 4]]
    assert np.allclose(vectors[:3], unit(expected), atol=1e-4)
    assert np.allclose(vectors[3:], unit(oracle(tiny_bert, ids("north"))[1:2]), atol=1e-4)
    assert len(encoder.encode(["the river :"], "query").vectors) == 3, "a query keeps its punctuation"


@pytest.mark.parametrize("text", ["", ":", ": :"])
def test_every_text_has_a_vector(make_folder: Callable[..., Path], text: str) -> None:
    vectors, starts = OnnxTokenEncoder.from_folder(make_folder()).encode([text, "north"])
    assert 0 < starts[1] < starts[2] == len(vectors)
    assert np.allclose(np.linalg.norm(vectors, axis=1), 1, atol=1e-5)


def test_many_texts_come_back_in_their_order(make_folder: Callable[..., Path]) -> None:
    encoder = OnnxTokenEncoder.from_folder(make_folder(), threads=2)
    texts = [" ".join(["river", "flows", "north", "the"][: 1 + number % 4]) for number in range(200)]
    vectors, starts = encoder.encode(texts)
    for number in (0, 1, 50, 199):
        alone = encoder.encode([texts[number]]).vectors
        assert np.allclose(vectors[starts[number] : starts[number + 1]], alone, atol=1e-5)
    assert encoder.encode([]).vectors.shape == (0, 8)


def test_colberts_passages_are_marked_cut_and_keep_their_marks(
    colbert_folder: Callable[..., Path], colbert_weights: dict[str, NDArray[np.float32]]
) -> None:
    encoder = OnnxTokenEncoder.from_folder(colbert_folder(), name="tiny")
    assert (encoder.label, encoder.dimension) == ("ColBERT(tiny)", 4)
    vectors = encoder.encode(["the river : flows north query"]).vectors
    read = [CLS, PASSAGE, 4, 5, 9, 6, SEP]  # seven tokens, of which one is ":"
    expected = oracle(colbert_weights, read)[[0, 1, 2, 3, 5, 6]] @ colbert_weights["linear.weight"].T
    assert np.allclose(vectors, unit(expected), atol=1e-4)


@pytest.mark.parametrize("attend", [False, True])
def test_colberts_queries_are_filled_up_with_masks(
    colbert_folder: Callable[..., Path], colbert_weights: dict[str, NDArray[np.float32]], attend: bool
) -> None:
    encoder = OnnxTokenEncoder.from_folder(colbert_folder(attend_to_mask_tokens=attend))
    vectors, starts = encoder.encode(["river :", "the river flows north query : the"], "query")
    assert starts.tolist() == [0, 8, 16]
    read = [CLS, QUERY, 5, 9, SEP, MASK, MASK, MASK]
    expected = oracle(colbert_weights, read, [True] * 5 + [attend] * 3) @ colbert_weights["linear.weight"].T
    assert np.allclose(vectors[:8], unit(expected), atol=1e-4)
    cut = oracle(colbert_weights, [CLS, QUERY, 4, 5, 6, 7, 8, SEP]) @ colbert_weights["linear.weight"].T
    assert np.allclose(vectors[8:], unit(cut), atol=1e-4)


def test_colbert_is_read_from_its_weights_also_beside_another_graph(colbert_folder: Callable[..., Path]) -> None:
    folder = colbert_folder()
    before = OnnxTokenEncoder.from_folder(folder).encode(["the river"]).vectors
    (folder / "model.onnx").write_bytes(b"no graph at all")
    assert np.array_equal(OnnxTokenEncoder.from_folder(folder).encode(["the river"]).vectors, before)


def test_of_a_colbert_repository_the_weights_are_got_and_not_another_graph() -> None:
    there = ["artifact.metadata", "config.json", "model.onnx", "model.safetensors", "pytorch_model.bin"]
    assert _select_files(there) == ["config.json", "artifact.metadata", "model.safetensors"]
    assert _select_files(there[1:]) == ["config.json", "model.onnx"]


def test_colbert_needs_its_markers(colbert_folder: Callable[..., Path]) -> None:
    with pytest.raises(BadInputError, match=r"no token '\[unused0\]'"):
        OnnxTokenEncoder.from_folder(colbert_folder(words=(*WORDS, "[MASK]", "a", "b")))


def test_an_endpoint_has_no_tokens(tmp_path: Path) -> None:
    with pytest.raises(BadInputError, match="'openai:text-embedding-3-small' returns one vector per text"):
        load_token_encoder("openai:text-embedding-3-small", tmp_path)


def test_weights_that_are_cut_off_are_told(make_folder: Callable[..., Path]) -> None:
    folder = make_folder()
    (folder / "model.safetensors").write_bytes(b"\xff" * 20)
    with pytest.raises(ModelMissingError, match="get the model's files again"):
        OnnxTokenEncoder.from_folder(folder)


def test_a_folder_is_called_by_its_full_path(make_folder: Callable[..., Path], tmp_path: Path) -> None:
    folder = make_folder()
    assert load_token_encoder(str(folder), tmp_path).name == str(folder.resolve())
