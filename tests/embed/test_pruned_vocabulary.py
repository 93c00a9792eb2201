"""A tokenizer of the tokens that occur in a text gives the ids of the whole one."""

import json
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st
from tiny_model import write_model
from tokenizers import Tokenizer, decoders, models, pre_tokenizers, processors, trainers

from triplebeam.embed import onnx_embedder
from triplebeam.embed.onnx_embedder import OnnxEmbedder
from triplebeam.embed.vocabulary import prune_vocabulary
from triplebeam.testing import toy

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
