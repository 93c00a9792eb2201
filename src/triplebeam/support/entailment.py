"""Do the words of a claim state its fact? A small model decides: the default embedder with an adapter.

``adapter.safetensors`` turns granite-embedding-30m-english into a reader of two texts. For each linear layer it has two
thin matrices, whose product is added to the layer's weights when the model is loaded (LoRA), and a new bias; a last
vector makes one number of the first token. ``benchmarks/support_adapter`` trains it: see ``docs/evidence.md``.
"""

import re
from collections.abc import Mapping
from functools import cache, lru_cache
from pathlib import Path
from typing import Any

import numpy as np
import platformdirs
from numpy.typing import NDArray

from triplebeam.support.claim import Claim
from triplebeam.system.work import Progress, ignore_progress

ADAPTER = Path(__file__).with_name("adapter.safetensors")
#: In tokens; what is longer is cut.
_MAX_TOKENS = 224
#: The least score of a claim that holds: chosen on facts that no figure of the documentation is about.
MIN_SCORE = -0.36
#: Relations that hold both ways, or nearly so ("wife"): they have no direction that could be wrong.
_MUTUAL = re.compile(
    r"(?i)\b(?:marri|wed\b|wife|husband|spouse|divorc|brother|sister|sibling|twin|cousin|friend|partner|colleague|rival"
    r"|neighbo|border|adjacent|near|connect|link|met\b|meet|fought|equal|same|known as|alias|with\b|between|against)"
)
#: Where the embedder's weights were found last; they are the same wherever they are.
_found: list[Path] = []


def prepare(home: Path, *, offline: bool, progress: Progress = ignore_progress) -> None:
    """Have the embedder's weights in this folder, downloaded unless ``offline``.

    Whoever makes a language model does so first: no question fails for want of weights after its calls were paid.
    """
    from triplebeam.weights import GRANITE, ensure

    _found[:] = [ensure(GRANITE, home, offline=offline, progress=progress)]


@lru_cache(maxsize=4096)
def states(claim: Claim, least: float = MIN_SCORE) -> bool:
    """Decide whether the words state the fact, not rather its reverse. The last claims are kept, as facts recur."""
    score = reader().score(claim)
    return score > least and bool(_MUTUAL.search(claim.triple.predicate) or score >= reader().score(claim.swapped))


@cache
def reader() -> "Reader":
    """Load the model once; where nothing was prepared, from the user's cache."""
    if not _found:
        prepare(platformdirs.user_cache_path("triplebeam"), offline=False)
    return Reader(_found[0], ADAPTER)


class Reader:
    """The model in a folder with an adapter. Safe to use from several threads at once."""

    def __init__(self, folder: Path, adapter: Path) -> None:
        from triplebeam.embed.model_folder import ModelFolder
        from triplebeam.embed.onnx_embedder import assemble_session, load_tensors, open_tokenizer

        model, adapted = ModelFolder(folder), load_tensors(adapter)
        self._weight, self._bias = adapted["head.weight"][0], float(adapted["head.bias"][0])
        self._session = assemble_session(model, merge_adapter(load_tensors(model.weights_file), adapted))
        self._tokenizer = open_tokenizer(model)
        self._tokenizer.enable_truncation(_MAX_TOKENS)

    def score(self, claim: Claim) -> float:
        """How much speaks for the claim: the logarithm of the odds, on average with and without the sentence before."""
        return float(np.mean([self._read(claim.fact, context) for context in sorted({claim.words, claim.context})]))

    def _read(self, fact: str, context: str) -> float:
        ids = np.array([self._tokenizer.encode(fact, context).ids])
        hidden = self._session.run(None, {"input_ids": ids, "attention_mask": np.ones_like(ids)})[0]
        return float(hidden[0, 0] @ self._weight) + self._bias


def merge_adapter(tensors: Mapping[str, NDArray[Any]], adapted: Mapping[str, NDArray[Any]]) -> dict[str, NDArray[Any]]:
    """Merge an adapter into a model's tensors: biases replaced, products (``.B`` times ``.A``) added to weights."""
    layers = [name.removesuffix(".A") for name in adapted if name.endswith(".A")]
    added = {name: tensors[name] + adapted[f"{name}.B"] @ adapted[f"{name}.A"] for name in layers}
    return {**tensors, **{name: adapted[name] for name in adapted.keys() & tensors.keys()}, **added}
