"""Models for the tests: one made here, small enough to check by hand, and the real one where it can be had."""

import os
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
import platformdirs
import pytest
from numpy.typing import NDArray
from tiny_model import random_weights, write_model

from triplebeam.errors import ModelMissingError
from triplebeam.weights import GRANITE, MINILM, Weights, ensure


@pytest.fixture(scope="session")
def tiny_bert() -> dict[str, NDArray[np.float32]]:
    """Random weights under the names BERT checkpoints use."""
    return random_weights()


@pytest.fixture
def make_folder(tmp_path: Path, tiny_bert: dict[str, NDArray[np.float32]]) -> Callable[..., Path]:
    """Write a model's folder; keyword arguments are JSON files beside it, with ``__`` for ``/``."""

    def make(**files: Any) -> Path:
        named = {f"{name.replace('__', '/')}.json": content for name, content in files.items()}
        return write_model(tmp_path, tiny_bert, **named)

    return make


def _fetch_weights(weights: Weights) -> Path:
    home = os.environ.get("TRIPLEBEAM_HOME") or platformdirs.user_cache_path("triplebeam")
    try:
        return ensure(weights, Path(home))
    except ModelMissingError as error:
        pytest.skip(str(error))


@pytest.fixture(scope="session")
def minilm_folder() -> Path:
    """The real MiniLM, fetched on first use into TRIPLEBEAM_HOME or the user's cache."""
    return _fetch_weights(MINILM)


@pytest.fixture(scope="session")
def granite_folder() -> Path:
    """The real granite-embedding-30m-english, fetched in the same way."""
    return _fetch_weights(GRANITE)
