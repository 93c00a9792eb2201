"""The assembled graph computes what BERT's definition says, written out here in NumPy."""

import sys
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st
from numpy.typing import NDArray
from safetensors.numpy import save_file
from scipy.special import erf, softmax
from tiny_model import CONFIG

from triplebeam.embed.bert_graph import AssembledGraph, assemble, position_bias
from triplebeam.embed.onnx_embedder import load_tensors
from triplebeam.errors import BadInputError

Weights = dict[str, NDArray[np.float32]]


def oracle(
    weights: Weights, ids: list[int], attended: list[bool] | None = None, nearness: NDArray[Any] | None = None
) -> NDArray[np.float64]:
    """The vectors of one text's tokens, layer by layer; tokens attend to all, or to those that are ``attended``.

    ``nearness`` is added to the attention of each head.
    """
    hidden_from = np.where(attended if attended is not None else [True] * len(ids), 0.0, -np.inf)
    added = nearness if nearness is not None else np.zeros((2, 1, 1))

    def dense(inputs: NDArray[Any], name: str) -> NDArray[Any]:
        return inputs @ weights[f"{name}.weight"].T.astype(float) + weights[f"{name}.bias"]

    def norm(inputs: NDArray[Any], name: str) -> NDArray[Any]:
        centred = inputs - inputs.mean(axis=-1, keepdims=True)
        scaled = centred / np.sqrt((centred**2).mean(axis=-1, keepdims=True) + 1e-12)
        return scaled * weights[f"{name}.weight"] + weights[f"{name}.bias"]

    hidden = weights["embeddings.word_embeddings.weight"][ids].astype(float)
    hidden = hidden + weights["embeddings.position_embeddings.weight"][: len(ids)]
    hidden = norm(hidden + weights["embeddings.token_type_embeddings.weight"][0], "embeddings.LayerNorm")
    for layer in ("encoder.layer.0.", "encoder.layer.1."):
        query, key, value = (dense(hidden, f"{layer}attention.self.{part}") for part in ("query", "key", "value"))
        heads = [slice(0, 4), slice(4, 8)]
        shares = [
            softmax(query[:, head] @ key[:, head].T / 2.0 + bias + hidden_from, axis=-1)
            for head, bias in zip(heads, added, strict=True)
        ]
        mixed = np.concatenate([share @ value[:, head] for share, head in zip(shares, heads, strict=True)], axis=1)
        hidden = norm(hidden + dense(mixed, f"{layer}attention.output.dense"), f"{layer}attention.output.LayerNorm")
        wide = dense(hidden, f"{layer}intermediate.dense")
        wide = wide * (1 + erf(wide / np.sqrt(2))) / 2
        hidden = norm(hidden + dense(wide, f"{layer}output.dense"), f"{layer}output.LayerNorm")
    return hidden


def run(graph: AssembledGraph, ids: NDArray[np.int64], mask: NDArray[np.int64]) -> NDArray[np.float32]:
    import onnxruntime

    options = onnxruntime.SessionOptions()
    options.intra_op_num_threads = 1
    values = [onnxruntime.OrtValue.ortvalue_from_numpy(array) for array in graph.weights.values()]
    options.add_external_initializers(list(graph.weights), values)
    session = onnxruntime.InferenceSession(graph.model, options, providers=["CPUExecutionProvider"])
    hidden: NDArray[np.float32] = session.run(None, {"input_ids": ids, "attention_mask": mask})[0]
    return hidden


def pad(texts: list[list[int]]) -> tuple[NDArray[np.int64], NDArray[np.int64]]:
    """Return the ids of texts of different lengths, and which of them are theirs."""
    longest = max(map(len, texts))
    ids = np.array([text + [0] * (longest - len(text)) for text in texts])
    return ids, np.array([[1] * len(text) + [0] * (longest - len(text)) for text in texts])


@settings(max_examples=25, deadline=None, suppress_health_check=[HealthCheck.function_scoped_fixture])
@given(texts=st.lists(st.lists(st.integers(1, 9), min_size=1, max_size=12), min_size=1, max_size=4))
def test_the_graph_is_bert(tiny_bert: Weights, texts: list[list[int]]) -> None:
    for row, text in zip(run(assemble(CONFIG, tiny_bert), *pad(texts)), texts, strict=True):
        assert np.allclose(row[: len(text)], oracle(tiny_bert, text), atol=1e-4)


@pytest.mark.parametrize("model_type", ["roberta", "xlm-roberta"])
def test_robertas_positions_begin_behind_its_padding_token(tiny_bert: Weights, model_type: str) -> None:
    table = tiny_bert["embeddings.position_embeddings.weight"]
    shifted = {**tiny_bert, "embeddings.position_embeddings.weight": np.concatenate([np.full((2, 8), 99.0), table])}
    roberta = {**CONFIG, "model_type": model_type, "pad_token_id": 1, "max_position_embeddings": 14}
    ids = [1, 4, 5, 6, 2]
    (hidden,) = run(assemble(roberta, shifted), np.array([ids]), np.ones((1, 5), np.int64))
    assert np.allclose(hidden, oracle(tiny_bert, ids), atol=1e-4)


@pytest.mark.parametrize("int8", [False, True])
def test_the_first_token_alone_has_the_same_vector(tiny_bert: Weights, int8: bool) -> None:
    ids, mask = pad([[1, 4, 5, 2], [1, 7, 2]])
    every = run(assemble(CONFIG, tiny_bert, int8=int8), ids, mask)
    first = run(assemble(CONFIG, tiny_bert, int8=int8, first_token=True), ids, mask)
    assert first.shape == (2, 1, 8)
    assert np.allclose(first[:, 0], every[:, 0], atol=1e-6)


def test_int8_is_close_and_a_text_does_not_depend_on_its_batch(tiny_bert: Weights) -> None:
    graph = assemble(CONFIG, tiny_bert, int8=True)
    texts = np.random.default_rng(5).integers(1, 9, size=(6, 7))
    together = run(graph, texts, np.ones_like(texts))
    for row, ids in zip(together, texts, strict=True):
        (alone,) = run(graph, ids[None], np.ones((1, 7), np.int64))
        assert np.array_equal(row, alone)
        exact = oracle(tiny_bert, ids.tolist())
        cosines = (row * exact).sum(axis=1) / np.linalg.norm(row, axis=1) / np.linalg.norm(exact, axis=1)
        assert cosines.min() > 0.99


def test_a_serialised_graph_is_read_from_its_cache(
    tiny_bert: Weights, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    plain, rounded = assemble(CONFIG, tiny_bert), assemble(CONFIG, tiny_bert, int8=True)
    assert assemble(CONFIG, tiny_bert, cache=tmp_path).model == plain.model
    assert assemble(CONFIG, tiny_bert, int8=True, cache=tmp_path).model == rounded.model
    monkeypatch.setitem(sys.modules, "onnx", None)  # importing it fails
    cached = assemble(CONFIG, tiny_bert, cache=tmp_path)
    assert cached.model == plain.model
    assert {name: array.tolist() for name, array in cached.weights.items()} == {
        name: array.tolist() for name, array in plain.weights.items()
    }
    with pytest.raises(ImportError):
        assemble({**CONFIG, "num_hidden_layers": 1}, tiny_bert, cache=tmp_path)


def test_a_graph_is_assembled_again_where_its_cache_is_damaged_or_cannot_be_written(
    tiny_bert: Weights, tmp_path: Path
) -> None:
    whole = assemble(CONFIG, tiny_bert, cache=tmp_path).model
    (cached,) = tmp_path.glob("graph-*")
    cached.write_bytes(cached.read_bytes()[:-1])
    assert assemble(CONFIG, tiny_bert, cache=tmp_path).model == whole
    assert cached.read_bytes().endswith(whole)
    assert assemble(CONFIG, tiny_bert, cache=tmp_path / "missing").model == whole


def test_another_architecture_is_refused(tiny_bert: Weights) -> None:
    with pytest.raises(BadInputError, match=r"'albert'.*model\.onnx"):
        assemble({**CONFIG, "model_type": "albert"}, tiny_bert)


#: The first distance of each of MPNet's sixteen buckets, as transformers computes them.
_BUCKETS_BEGIN = [0, 1, 2, 3, 4, 5, 6, 7, 8, 12, 16, 23, 32, 46, 64, 91]
_MPNETS_NAMES = {
    "attention.self.query": "attention.attn.q",
    "attention.self.key": "attention.attn.k",
    "attention.self.value": "attention.attn.v",
    "attention.output.dense": "attention.attn.o",
    "attention.output.LayerNorm": "attention.LayerNorm",
}


def _bucket(left: int, right: int) -> int:
    nearest = max(number for number, begin in enumerate(_BUCKETS_BEGIN) if begin <= abs(right - left))
    return nearest + 16 * (right > left)


def test_the_distances_of_mpnet_are_those_of_transformers() -> None:
    bias = position_bias(np.arange(32)[:, None], 200)
    assert bias.shape == (1, 1, 200, 200)
    assert bias[0, 0].tolist() == [[_bucket(left, right) for right in range(200)] for left in range(200)]


@pytest.mark.parametrize("prefix", ["", "mpnet."])
@pytest.mark.parametrize("int8", [False, True])
def test_mpnet_adds_a_bias_for_the_distance_of_two_tokens(tiny_bert: Weights, prefix: str, int8: bool) -> None:
    random = np.random.default_rng(11)
    no_segment = {**tiny_bert, "embeddings.token_type_embeddings.weight": np.zeros((1, 8), np.float32)}
    table = random.normal(size=(32, 2)).astype(np.float32)
    published = {prefix + _publish(name): tensor for name, tensor in tiny_bert.items() if "token_type" not in name}
    positions = tiny_bert["embeddings.position_embeddings.weight"]
    published |= {
        f"{prefix}encoder.relative_attention_bias.weight": table,
        f"{prefix}embeddings.position_embeddings.weight": np.concatenate([np.full((2, 8), 99.0), positions]),
    }
    config = {**CONFIG, "model_type": "mpnet", "pad_token_id": 1, "max_position_embeddings": 14}
    texts = [[1, 4, 5, 6, 7, 8, 9, 4, 5, 2], [1, 7, 2]]
    for row, text in zip(run(assemble(config, published, int8=int8), *pad(texts)), texts, strict=True):
        buckets = [[_bucket(left, right) for right in range(len(text))] for left in range(len(text))]
        exact = oracle(no_segment, text, nearness=np.moveaxis(table[buckets], -1, 0))
        assert np.allclose(row[: len(text)], exact, atol=0.3 if int8 else 1e-4)


def _publish(name: str) -> str:
    for berts, mpnets in _MPNETS_NAMES.items():
        name = name.replace(berts, mpnets)
    return name


def test_a_session_joins_and_transposes_no_weights_when_it_opens(tiny_bert: Weights) -> None:
    assert b"Transpose" not in assemble(CONFIG, tiny_bert).model


def test_mapped_weights_are_named_by_their_place_and_computed_ones_are_given(
    tiny_bert: Weights, tmp_path: Path
) -> None:
    save_file(tiny_bert, tmp_path / "model.safetensors")
    mapped = load_tensors(tmp_path / "model.safetensors")
    assert assemble(CONFIG, mapped, cache=tmp_path).weights == {}
    changed = "encoder.layer.0.output.dense.weight"
    assert list(assemble(CONFIG, {**mapped, changed: mapped[changed] + 1}, cache=tmp_path).weights) == [changed]
    assert list(assemble(CONFIG, {**mapped, changed: mapped[changed][:]}, cache=tmp_path / "..").weights)
