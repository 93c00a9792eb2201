"""A GPU that was asked for is used, or it is said what is missing: texts are never encoded on processors instead."""

from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
import onnxruntime
import pytest

from triplebeam.assemble.models import make_embedder
from triplebeam.embed import onnx_embedder
from triplebeam.embed.gpu import PROVIDER, open_on_gpu
from triplebeam.embed.onnx_embedder import OnnxEmbedder
from triplebeam.errors import BadInputError
from triplebeam.settings import read_settings

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
