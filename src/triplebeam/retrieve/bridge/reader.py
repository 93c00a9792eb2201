"""A reader of a question, a bridge and a candidate: the default embedder with an adapter.

``adapter.safetensors`` turns granite-embedding-30m-english into a model that gives one number: how
much speaks for the candidate, if the bridge is true. ``benchmarks/bridge_reader`` trains it.

Of a passage it reads an excerpt: its title, and as many tokens of the text as there is room for, where they tell most.
"""

from collections.abc import Mapping, Sequence
from concurrent.futures import ThreadPoolExecutor
from functools import lru_cache
from pathlib import Path
from typing import NamedTuple, Protocol

import numpy as np
from numpy.typing import NDArray

from triplebeam.embed.model_folder import ModelFolder
from triplebeam.embed.onnx_embedder import (
    TOKENS_PER_BATCH,
    Precision,
    assemble_session,
    batches,
    load_tensors,
    open_tokenizer,
)
from triplebeam.passage import Passage
from triplebeam.support.entailment import merge_adapter
from triplebeam.system.work import check_cancelled, processors
from triplebeam.text.terms import locate_words

ADAPTER = Path(__file__).with_name("adapter.safetensors")
#: In tokens; what is longer is cut.
MAX_QUESTION, MAX_BRIDGE, MAX_CANDIDATE = 40, 44, 72
#: Tokens of a title that are read where the passage does not fit.
MAX_TITLE = 16
#: The model's marks: the beginning, the padding, the end of a text (two of them between texts).
_BEGIN, _PADDING, _END = 0, 1, 2
#: Questions whose scores are cached: an agent asks one again.
_MAX_CACHED = 64


class TokenizedPassage(NamedTuple):
    """A passage's tokens, how many of them are the title's, and of each token the term of the word it begins."""

    ids: Sequence[int]
    in_title: int
    terms: Sequence[str]
    """Empty where a token goes on with a word, or is part of none."""


def place_terms(
    text: str, title: str, ids: Sequence[int], offsets: Sequence[tuple[int, int]], stemmer: str
) -> TokenizedPassage:
    """Return the tokens of a text that begins with its title, each with the term of the word that it begins."""
    words = list(locate_words(text, stemmer))
    starts = np.array([start for start, _, _ in words], np.int64)
    last = np.array([end for _, end in offsets], np.int64) - 1
    places = np.searchsorted(starts, last, side="right") - 1
    terms, before = [], -1
    for place, at in zip(places.tolist(), last.tolist(), strict=True):
        inside = place >= 0 and at < words[place][1]
        terms.append(words[place][2] if inside and place != before else "")
        before = place
    width = len(title) + 1 if title else 0
    return TokenizedPassage(ids, sum(end <= width for _, end in offsets), terms)


def cut_excerpt(passage: TokenizedPassage, budget: int, worth: Mapping[str, float]) -> list[int]:
    """Cut a passage to ``budget`` tokens: its title, and the window of its text whose terms are worth most.

    Of the windows that are worth the same, the one in the middle of the first run has what is told around them.
    """
    if len(passage.ids) <= budget:
        return list(passage.ids)
    titled = min(passage.in_title, MAX_TITLE)
    size = budget - titled
    text = passage.ids[passage.in_title :]
    values = np.array([worth.get(term, 0.0) for term in passage.terms[passage.in_title :]])
    start = _best_window(values, size) if len(text) > size else 0
    return [*passage.ids[:titled], *text[start : start + size]]


def _best_window(values: NDArray[np.float64], size: int) -> int:
    sums = np.append(0.0, np.cumsum(values))
    windows = sums[size:] - sums[:-size]
    if windows.max() <= 0:
        return 0
    best = np.flatnonzero(windows >= windows.max() - 1e-6)
    first_run = best[: np.append(np.flatnonzero(np.diff(best) > 1) + 1, len(best))[0]]
    return int(first_run[len(first_run) // 2])


class Reading(NamedTuple):
    """What is read of a candidate: the tokens of its bridge and its own."""

    bridge: Sequence[int]
    candidate: Sequence[int]


class CandidateReader(Protocol):
    """Scores candidates."""

    def tokenize(self, passage: Passage, stemmer: str) -> TokenizedPassage:
        """Return the tokens of a passage, with the terms of its words."""
        ...

    def score(self, question: str, readings: Sequence[Reading]) -> NDArray[np.float32]:
        """Return how much speaks for each candidate; only differences mean something."""
        ...


class BridgeReader:
    """The model in a folder with an adapter. Safe to use from several threads at once."""

    def __init__(self, folder: Path, adapter: Path = ADAPTER, precision: Precision = "int8") -> None:
        model, adapted = ModelFolder(folder), load_tensors(adapter)
        self._head, self._bias = adapted["head.weight"][0], float(adapted["head.bias"][0])
        tensors = merge_adapter(load_tensors(model.weights_file), adapted)
        self._session = assemble_session(model, tensors, precision, first_token=True)
        self._tokenizer = open_tokenizer(model)
        self._tokenizer.no_truncation()
        self._known: dict[tuple[tuple[int, ...], ...], NDArray[np.float32]] = {}

    def tokenize(self, passage: Passage, stemmer: str) -> TokenizedPassage:
        """Return the tokens of a passage, with the terms of its words."""
        encoding = self._tokenizer.encode(passage.searchable, add_special_tokens=False)
        return place_terms(passage.searchable, passage.title, encoding.ids, encoding.offsets, stemmer)

    def score(self, question: str, readings: Sequence[Reading]) -> NDArray[np.float32]:
        """Return how much speaks for each candidate; only differences mean something."""
        asked = self._tokenizer.encode(question, add_special_tokens=False).ids[:MAX_QUESTION]
        lines = tuple(
            (_BEGIN, *asked, _END, _END, *each.bridge, _END, _END, *each.candidate, _END) for each in readings
        )
        if (known := self._known.get(lines)) is None:
            known = self._score_lines(lines)
            while len(self._known) >= _MAX_CACHED:  # other threads may do the same
                self._known.pop(next(iter(tuple(self._known)), ()), None)
            self._known[lines] = known
        return known

    def _score_lines(self, lines: Sequence[Sequence[int]]) -> NDArray[np.float32]:
        check_cancelled()
        scores = np.empty(len(lines), np.float32)
        chosen = list(batches([len(line) for line in lines], TOKENS_PER_BATCH))
        with ThreadPoolExecutor(processors()) as workers:
            inputs = ([lines[row] for row in rows] for rows in chosen)
            for rows, found in zip(chosen, workers.map(self._score_batch, inputs), strict=True):
                scores[rows] = found
        return scores

    def _score_batch(self, lines: Sequence[Sequence[int]]) -> NDArray[np.float32]:
        width = max(map(len, lines))
        ids = np.array([[*line, *[_PADDING] * (width - len(line))] for line in lines], np.int64)
        mask = (np.arange(width) < np.array([[len(line)] for line in lines])).astype(np.int64)
        hidden = self._session.run(None, {"input_ids": ids, "attention_mask": mask})[0]
        return np.asarray(hidden[:, 0] @ self._head + self._bias, np.float32)


@lru_cache(maxsize=1)
def open_reader(folder: Path) -> BridgeReader:
    """Open the packaged reader, once: all indexes share it."""
    return BridgeReader(folder)
