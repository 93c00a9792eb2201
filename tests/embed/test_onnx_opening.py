"""How the local embedder opens: on the GPU that was asked for, and with the tokens that occur in a text."""

import json
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
import onnxruntime
import pytest
from hypothesis import given
from hypothesis import strategies as st
from tiny_model import write_model
from tokenizers import Tokenizer, decoders, models, pre_tokenizers, processors, trainers

from triplebeam.assemble.models import make_embedder
from triplebeam.embed import onnx_embedder
from triplebeam.embed.gpu import PROVIDER, open_on_gpu
from triplebeam.embed.onnx_embedder import OnnxEmbedder
from triplebeam.embed.vocabulary import prune_vocabulary
from triplebeam.errors import BadInputError
from triplebeam.settings import read_settings
from triplebeam.testing import toy

MakeFolder = Callable[..., Path]


@pytest.fixture
def offered(monkeypatch: pytest.MonkeyPatch) -> None:
    """The package says that it has the provider, which may still not load."""
    monkeypatch.setattr(onnxruntime, "get_available_providers", lambda: [PROVIDER, "CPUExecutionProvider"])


class Session:
    """One that runs where it says."""

    def __init__(self, **arguments: Any) -> None:
        self.arguments = arguments

    def get_providers(self) -> list[str]:
        return [PROVIDER, "CPUExecutionProvider"]


def test_the_package_for_processors_is_told_from_the_one_for_gpus(
    make_folder: MakeFolder, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(onnxruntime, "get_available_providers", lambda: ["CPUExecutionProvider"])
    with pytest.raises(BadInputError, match=r"needs the package onnxruntime-gpu.*pip uninstall onnxruntime, then"):
        make_embedder(str(make_folder()), read_settings(compute="fp32@gpu"))


@pytest.mark.skipif(PROVIDER in onnxruntime.get_available_providers(), reason="the provider may load here")
@pytest.mark.filterwarnings("ignore:Specified provider")
def test_a_provider_that_does_not_load_is_noticed(make_folder: MakeFolder, offered: None) -> None:
    with pytest.raises(
        BadInputError,
        match=r"could not use its CUDAExecutionProvider \(the reason is in the log\): see that nvidia-smi lists",
    ):
        OnnxEmbedder(make_folder(), on_gpu=True)


def test_what_cuda_finds_wrong_is_told_in_its_words(offered: None) -> None:
    def no_device(**_: Any) -> None:
        raise RuntimeError("cuda_call.cc:154 CudaCall(ERRTYPE) CUDA failure 100: no device is detected ; GPU=-1 ; ...")

    with pytest.raises(BadInputError, match=r"\(CUDA failure 100: no device is detected\)"):
        open_on_gpu(no_device)


def test_the_session_does_not_fall_back_later_and_computes_in_full_precision(offered: None) -> None:
    session = open_on_gpu(Session)
    assert session.arguments == {"providers": [(PROVIDER, {"use_tf32": "0"})], "enable_fallback": 0}


def test_what_onnxruntime_prints_stays_off_the_output(
    offered: None, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.setattr(onnxruntime, "preload_dlls", lambda: print("Failed to load libcublas"), raising=False)
    open_on_gpu(Session)
    assert capsys.readouterr() == ("", "Failed to load libcublas\n")


def test_vectors_of_a_gpu_belong_to_the_same_model_and_come_in_large_batches(
    make_folder: MakeFolder, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(onnx_embedder, "open_on_gpu", lambda run: run(providers=["CPUExecutionProvider"]))
    folder, texts = make_folder(), ["the river flows north", "river"] * 200
    here, there = OnnxEmbedder(folder), OnnxEmbedder(folder, on_gpu=True)
    assert (there.name, there.fingerprint) == (here.name, here.fingerprint)
    sizes: list[int] = []
    run = there._run
    monkeypatch.setattr(there, "_run", lambda tokens: sizes.append(len(tokens)) or run(tokens))
    assert np.allclose(there.embed(texts), here.embed(texts), atol=1e-5)
    assert sizes == [400]


_WORDS = " ".join(passage.text for passage in toy.passages()).split()


def _train() -> dict[str, Any]:
    """Train a byte-level BPE as RoBERTa's on the toy corpus."""
    tokenizer = Tokenizer(models.BPE())
    tokenizer.pre_tokenizer = pre_tokenizers.ByteLevel(add_prefix_space=False)
    tokenizer.decoder = decoders.ByteLevel()
    alphabet = pre_tokenizers.ByteLevel.alphabet()
    trainer = trainers.BpeTrainer(vocab_size=600, special_tokens=["<s>", "</s>"], initial_alphabet=alphabet)
    tokenizer.train_from_iterator([" ".join(_WORDS)], trainer)
    tokenizer.post_processor = processors.RobertaProcessing(("</s>", 1), ("<s>", 0), add_prefix_space=False)
    return dict(json.loads(tokenizer.to_str()))


_WHOLE = _train()
_TOKENIZER = Tokenizer.from_str(json.dumps(_WHOLE))


def _prune(description: dict[str, Any], *texts: str) -> dict[str, Any] | None:
    pruned = prune_vocabulary(json.dumps(description).encode(), texts)
    return dict(json.loads(pruned)) if pruned else None


@given(st.lists(st.sampled_from(_WORDS) | st.text(min_size=1, max_size=9), min_size=1, max_size=9).map(" ".join))
def test_ids_are_those_of_the_whole_vocabulary(text: str) -> None:
    pruned = _prune(_WHOLE, text)
    assert pruned is not None
    assert len(pruned["model"]["vocab"]) < len(_WHOLE["model"]["vocab"])
    assert Tokenizer.from_str(json.dumps(pruned)).encode(text).ids == _TOKENIZER.encode(text).ids


def test_merges_may_be_written_as_pairs_or_with_a_space() -> None:
    spaced = {**_WHOLE, "model": {**_WHOLE["model"], "merges": [" ".join(pair) for pair in _WHOLE["model"]["merges"]]}}
    pruned = _prune(spaced, "Who discovered Uranus?")
    assert pruned is not None
    assert pruned == _prune(_WHOLE, "Who discovered Uranus?")
    assert pruned["model"]["merges"]


@pytest.mark.parametrize("text", ["", "see <s> here", "a" * 65, "word " * 300])
def test_texts_that_need_the_whole_vocabulary(text: str) -> None:
    assert _prune(_WHOLE, text) is None


@pytest.mark.parametrize(
    "changed",
    [
        {"normalizer": {"type": "Lowercase"}},
        {"pre_tokenizer": {"type": "ByteLevel", "add_prefix_space": True, "trim_offsets": True}},
        {"pre_tokenizer": {"type": "Whitespace"}},
        {"model": {**_WHOLE["model"], "dropout": 0.1}},
        {"model": {"type": "WordPiece", "vocab": {"<s>": 0, "</s>": 1}}},
        {"added_tokens": [{"content": "not in the vocabulary"}]},
    ],
)
def test_other_tokenizers_are_not_pruned(changed: dict[str, Any]) -> None:
    assert _prune({**_WHOLE, **changed}, "Who discovered Uranus?") is None


def test_the_whole_tokenizer_is_opened_for_the_second_texts(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    opened: list[str | None] = []
    open_tokenizer = onnx_embedder.open_tokenizer

    def record(folder: Any, pruned: str | None = None) -> Any:
        opened.append(pruned)
        return open_tokenizer(folder, pruned)

    monkeypatch.setattr(onnx_embedder, "open_tokenizer", record)
    folder = write_model(tmp_path / "model")
    (folder / "tokenizer.json").write_text(json.dumps(_WHOLE), encoding="utf-8")
    embedder = OnnxEmbedder(folder)
    monkeypatch.setattr(embedder, "_run_all", lambda run, tokens: [])
    for question in ("Uranus", "Herschel", "Hanover"):
        embedder.embed([question])
    assert [each is None for each in opened] == [False, True]
