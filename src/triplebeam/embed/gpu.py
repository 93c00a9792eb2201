"""A model on an NVIDIA GPU, through ONNX Runtime's CUDA provider, which is part of another package: onnxruntime-gpu.

ONNX Runtime goes on with processors, at most with a line in the log, where the provider is missing or cannot be loaded.
Whoever asks for a GPU is told instead.
"""

import sys
from collections.abc import Callable
from contextlib import redirect_stdout
from typing import Any

from triplebeam.errors import BadInputError

PROVIDER = "CUDAExecutionProvider"
INSTALL = "pip install 'onnxruntime-gpu[cuda,cudnn]'"
#: Its default rounds the factors of matrix products to 10 bits; vectors would then differ from those of processors.
_OPTIONS = {"use_tf32": "0"}


def open_on_gpu(open_session: Callable[..., Any]) -> Any:
    """Open a session of ``InferenceSession`` (its other arguments bound) that runs on the GPU, now and later."""
    import onnxruntime

    if PROVIDER not in onnxruntime.get_available_providers():
        raise BadInputError(
            "compute 'fp32@gpu' needs the package onnxruntime-gpu, and the onnxruntime that is installed has no"
            f" {PROVIDER}: pip uninstall onnxruntime, then {INSTALL} (both are the module onnxruntime, so that the one"
            " installed last hides the other), or set compute to 'fp32'."
        )
    if hasattr(onnxruntime, "preload_dlls"):  # since 1.21: CUDA's libraries from pip's packages
        with redirect_stdout(sys.stderr):
            onnxruntime.preload_dlls()
    try:
        session = open_session(providers=[(PROVIDER, _OPTIONS)], enable_fallback=0)
    except RuntimeError as error:  # errors about the model are of other classes
        # CUDA's own words, without the C++ around them.
        _, found, words = str(error).rpartition("CUDA failure ")
        raise _make_gpu_error((found + words).partition(" ;")[0].strip()) from error
    if PROVIDER not in session.get_providers():
        raise _make_gpu_error("the reason is in the log")
    return session


def _make_gpu_error(reason: str) -> BadInputError:
    return BadInputError(
        "compute 'fp32@gpu' needs an NVIDIA GPU with its driver and CUDA's libraries, and ONNX Runtime could not use"
        f" its {PROVIDER} ({reason}): see that nvidia-smi lists the GPU, get the libraries with {INSTALL}, or set"
        " compute to 'fp32'."
    )
