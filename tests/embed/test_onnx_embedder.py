"""The local embedder: order, length, layouts of the folder, and the real model where it is at hand."""

import contextvars
import gzip
import json
import os
import threading
from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from shutil import copytree
from typing import Any

import numpy as np
import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st
from numpy.typing import NDArray

from triplebeam.embed import load_embedder, onnx_embedder
from triplebeam.embed.embedder import Embedder
from triplebeam.embed.onnx_embedder import OnnxEmbedder
from triplebeam.errors import BadInputError, ModelMissingError
from triplebeam.system.work import WorkCancelledError, cancel_on

MakeFolder = Callable[..., Path]
TEXTS = ["the river flows north", "", "river", "  \n", "north " * 50, "unheard of", "the river flows north"]


def of_unit_length(vectors: NDArray[np.float32]) -> bool:
    return bool(np.allclose(np.linalg.norm(vectors, axis=1), 1, atol=1e-5))


@settings(max_examples=20, deadline=None, suppress_health_check=[HealthCheck.function_scoped_fixture])
@given(lengths=st.lists(st.integers(0, 15), max_size=30), budget=st.integers(1, 40), piece=st.integers(1, 40))
def test_how_texts_are_batched_does_not_matter(
    make_folder: MakeFolder, lengths: list[int], budget: int, piece: int
) -> None:
    embedder = OnnxEmbedder(make_folder(), threads=1)
    texts = ["river " * length for length in lengths]
    usual = embedder.embed(texts)
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(onnx_embedder, "TOKENS_PER_BATCH", budget)
        patch.setattr(onnx_embedder, "_SLICE_ROWS", piece)
        assert np.allclose(embedder.embed(texts), usual, atol=1e-5)


@pytest.mark.parametrize("threads", [1, 2])
def test_no_batch_begins_after_the_work_was_cancelled(
    make_folder: MakeFolder, threads: int, monkeypatch: pytest.MonkeyPatch
) -> None:
    embedder = OnnxEmbedder(make_folder(), threads=threads)
    monkeypatch.setattr(onnx_embedder, "TOKENS_PER_BATCH", 1)
    cancelled, runs, run = threading.Event(), [], embedder._run

    def record_call(tokens: Any) -> NDArray[np.float32]:
        runs.append(len(tokens))
        cancelled.set()
        return run(tokens)

    def embed() -> None:
        cancel_on(cancelled)
        with pytest.raises(WorkCancelledError):
            embedder.embed(["river"] * 100)

    assert embedder.embed(["river"] * 3).shape == (3, 8)
    monkeypatch.setattr(embedder, "_run", record_call)
    contextvars.copy_context().run(embed)
    assert 1 <= len(runs) < 50


def test_spans_are_read_with_their_text(make_folder: MakeFolder) -> None:
    embedder = OnnxEmbedder(make_folder(), name="tiny")
    assert embedder.reads_tokens
    whole = [(0, len("the river flows north"))]
    spans = [[[(4, 9)], [(0, 3), (16, 21)], whole, []], [], [[(0, 1)]], [], [], [], [[(4, 9)]]]
    vectors, pooled = embedder.embed_spans(TEXTS, spans)
    assert np.allclose(vectors, embedder.embed(TEXTS), atol=1e-5)
    assert [rows.shape for rows in pooled] == [(len(groups), 8) for groups in spans]
    assert of_unit_length(np.concatenate(pooled))
    assert np.allclose(pooled[0][0], pooled[6][0], atol=1e-5)
    assert not np.allclose(pooled[0][0], pooled[2][0], atol=1e-2)  # "river" in context, and "r" of "river" alone


def test_what_is_longer_than_the_model_takes_is_cut(make_folder: MakeFolder) -> None:
    embedder = OnnxEmbedder(make_folder(sentence_bert_config={"max_seq_length": 5}))
    vectors = embedder.embed(["the river flows north north north", "the river flows", "the river"])
    assert np.allclose(vectors[0], vectors[1], atol=1e-5)
    assert not np.allclose(vectors[0], vectors[2], atol=1e-2)


def test_prompts_of_the_folder_or_of_e5_go_in_front(
    make_folder: MakeFolder, tmp_path_factory: pytest.TempPathFactory
) -> None:
    prompts = {"prompts": {"query": "query : ", "document": ""}}
    embedder = OnnxEmbedder(make_folder(config_sentence_transformers=prompts))
    assert np.allclose(embedder.embed(["river"], "query"), embedder.embed(["query : river"]), atol=1e-6)
    assert not np.allclose(embedder.embed(["river"], "query"), embedder.embed(["river"]), atol=1e-2)
    named = tmp_path_factory.mktemp("home") / "intfloat--multilingual-e5-small"
    folder = make_folder(config_sentence_transformers={})
    plain, e5 = OnnxEmbedder(folder), OnnxEmbedder(copytree(folder, named))
    assert np.array_equal(e5.embed(["river"], "query"), plain.embed(["query: river"])), "though its folder names none"
    assert np.array_equal(e5.embed(["river"]), plain.embed(["passage: river"]))


def test_weights_of_half_precision_are_widened(make_folder: MakeFolder, tiny_bert: dict[str, Any]) -> None:
    import ml_dtypes
    from safetensors.numpy import save_file

    folder = make_folder()
    halves = {name: tensor.astype(ml_dtypes.bfloat16) for name, tensor in tiny_bert.items()}
    save_file(halves, folder / "model.safetensors")
    halved = OnnxEmbedder(folder).embed(TEXTS)
    assert np.allclose(halved, OnnxEmbedder(make_folder()).embed(TEXTS), atol=0.05)


def test_several_threads_may_embed_at_once(make_folder: MakeFolder) -> None:
    embedder = OnnxEmbedder(make_folder())
    with ThreadPoolExecutor(4) as threads:
        results = list(threads.map(lambda _: embedder.embed(TEXTS), range(16)))
    assert all(np.allclose(result, results[0], atol=1e-5) for result in results)


def write_graph(path: Path, rows: NDArray[np.float32], *, output: str, pooled: bool) -> None:
    """A model that looks its tokens up and adds their types; pooled, it gives the first token's vector."""
    from onnx import TensorProto, helper, numpy_helper, save

    nodes = [
        helper.make_node("Gather", ["rows", "input_ids"], ["looked_up"]),
        helper.make_node("Cast", ["token_type_ids"], ["types"], to=TensorProto.FLOAT),
        helper.make_node("Unsqueeze", ["types", "last"], ["wide"]),
        helper.make_node("Add", ["looked_up", "wide"], ["summed" if pooled else output]),
    ]
    if pooled:
        nodes.append(helper.make_node("Gather", ["summed", "first"], [output], axis=1))
    weights = {"rows": rows, "last": np.array([-1]), "first": np.array(0)}
    shape = ["texts", "dimension"] if pooled else ["texts", "tokens", "dimension"]
    inputs = [
        helper.make_tensor_value_info(name, TensorProto.INT64, ["b", "t"]) for name in ("input_ids", "token_type_ids")
    ]
    outputs = [helper.make_tensor_value_info(output, TensorProto.FLOAT, shape)]
    tensors = [numpy_helper.from_array(array, name) for name, array in weights.items()]
    graph = helper.make_graph(nodes, "lookup", inputs, outputs, tensors)
    path.parent.mkdir(exist_ok=True)
    save(helper.make_model(graph, opset_imports=[helper.make_opsetid("", 17)], ir_version=8), path)


@pytest.mark.parametrize(
    ("place", "output", "pooled", "pooling", "expected"),
    [
        ("model.onnx", "last_hidden_state", False, {"pooling_mode_mean_tokens": True}, [1, 5, 2]),
        ("onnx/model.onnx", "last_hidden_state", False, {"pooling_mode_cls_token": True}, [1]),
        ("onnx/model.onnx", "last_hidden_state", False, {"pooling_mode": "cls"}, [1]),
        ("model.onnx", "sentence_embedding", True, {"pooling_mode": "mean"}, [1]),
    ],
)
def test_any_folder_with_a_graph_works(
    make_folder: MakeFolder, place: str, output: str, pooled: bool, pooling: dict[str, Any], expected: list[int]
) -> None:
    folder = make_folder(**{"1_Pooling__config": pooling})
    rows = np.random.default_rng(3).normal(size=(10, 6)).astype(np.float32)
    write_graph(folder / place, rows, output=output, pooled=pooled)
    embedder = load_embedder(str(folder), folder)
    mean = rows[expected].mean(axis=0)
    assert embedder.dimension == 6
    assert np.allclose(embedder.embed(["river"])[0], mean / np.linalg.norm(mean), atol=1e-5)


def test_what_is_missing_or_damaged_is_named(make_folder: MakeFolder) -> None:
    with pytest.raises(ModelMissingError, match="no folder"):
        OnnxEmbedder(Path("nowhere"))
    for missing in ("tokenizer.json", "config.json", "model.safetensors"):
        folder = make_folder()
        (folder / missing).unlink()
        with pytest.raises(ModelMissingError, match=missing):
            OnnxEmbedder(folder)
    folder = make_folder()
    (folder / "model.onnx").write_bytes(b"not a graph")
    with pytest.raises(ModelMissingError, match=r"model\.onnx cannot be run"):
        OnnxEmbedder(folder)


@pytest.mark.parametrize(
    "files",
    [{"modules": [{"type": "sentence_transformers.models.Dense"}]}, {"1_Pooling__config": {"pooling_mode": "max"}}],
)
def test_a_model_that_would_be_run_wrongly_is_refused(make_folder: MakeFolder, files: dict[str, Any]) -> None:
    with pytest.raises(BadInputError, match=r"Dense|max"):
        OnnxEmbedder(make_folder(**files))


def test_the_fingerprint_follows_the_weights(make_folder: MakeFolder) -> None:
    folder = make_folder()
    before = OnnxEmbedder(folder).fingerprint
    (folder / "SHA256SUMS").write_text("ab12  model.safetensors\n", encoding="utf-8")
    assert OnnxEmbedder(folder).fingerprint == "ab12"
    # A record older than the weights says nothing about them.
    os.utime(folder / "SHA256SUMS", (0, 0))
    assert OnnxEmbedder(folder).fingerprint == before


def test_a_name_that_names_nothing_is_refused(tmp_path: Path) -> None:
    with pytest.raises(BadInputError, match="'bert'"):
        load_embedder("bert", tmp_path)
    with pytest.raises(ModelMissingError, match="triplebeam doctor --install"):
        load_embedder("minilm", tmp_path, offline=True)


ALIKE = ["A man is eating food.", "Someone is having a meal.", "The stock market fell sharply.", "", "word " * 600]


@pytest.mark.slow
def test_minilm_knows_what_is_alike(minilm: Embedder) -> None:
    vectors = minilm.embed(ALIKE)
    alike = vectors @ vectors.T
    assert of_unit_length(vectors)
    assert alike[0, 1] > 0.5
    assert alike[0, 2] < 0.15
    assert (minilm.name, minilm.dimension) == ("minilm", 384)
    assert minilm.fingerprint.startswith("53aa51172d142c89")


@pytest.mark.slow
def test_granite_knows_what_is_alike_in_both_precisions(home: Path) -> None:
    embedder, exact = load_embedder("granite", home, precision="int8"), load_embedder("granite", home)
    vectors = embedder.embed(ALIKE)
    assert of_unit_length(vectors)
    assert vectors[0] @ vectors[1] > vectors[0] @ vectors[2] + 0.1
    assert (vectors * exact.embed(ALIKE)).sum(axis=1)[:3].min() > 0.995
    assert not np.array_equal(vectors, exact.embed(ALIKE))
    assert (embedder.name, embedder.dimension, embedder.fingerprint) == ("granite", 384, exact.fingerprint)
    assert load_embedder("ibm-granite/granite-embedding-30m-english", home).name == "granite"


@pytest.mark.slow
@pytest.mark.data
def test_minilm_gives_the_vectors_of_sentence_transformers(minilm: Embedder, data: Path) -> None:
    lines = gzip.decompress((data / "reference" / "minilm.jsonl.gz").read_bytes()).splitlines()
    reference = [json.loads(line) for line in lines]
    vectors = minilm.embed([line["text"] for line in reference])
    assert np.abs(vectors - np.array([line["vector"] for line in reference])).max() < 1e-5
