"""Models for the tests: one made here, small enough to check by hand, and the real one where it can be had."""

from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from numpy.typing import NDArray
from tiny_model import random_weights, write_model


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
