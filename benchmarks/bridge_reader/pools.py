"""Questions with their pools of candidates, from what `pack` packed. NumPy alone."""

import json
import lzma
import math
import os
import tempfile
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np

PADDING, BEGIN, END = 1, 0, 2
MAX_QUESTION, MAX_BRIDGE, MAX_CANDIDATE, MAX_TITLE = 40, 44, 72, 16
WIDTH = 168
PLAIN, REACHED, HITS = 40, 20, 3
MIN_SHARING, MAX_SHARING = 2, 30
QUESTION_WEIGHT = 0.3
NEGATIVES_OF_MADE = 14


def load(path: Path) -> dict[str, np.ndarray]:
    """Read what `pack.save` wrote."""
    head, _, body = lzma.decompress(path.read_bytes()).partition(b"\n")
    arrays, at = {}, 0
    for name, kind, shape in json.loads(head):
        count = math.prod(shape)
        arrays[name] = np.frombuffer(body, kind, count, at).reshape(shape)
        at += count * np.dtype(kind).itemsize
    return arrays


class Corpus:
    """A packed corpus: tokens and terms of passages and questions, and which passages have a rare term."""

    def __init__(self, about: dict[str, Any], packed: dict[str, np.ndarray], small: bool) -> None:
        self.name, self.kind, self.ids = about["name"], about["kind"], about["ids"]
        self.packed = packed
        self.starts = {
            name: np.append(0, np.cumsum(packed[f"{name}/lengths"], dtype=np.int64))
            for name in ("tokens", "terms", "extra", "question_tokens", "question_terms", "gold")
        }
        self.fold, self.in_title = packed["fold"], packed["in_title"]
        self.questions = np.arange(len(self.fold))
        if small:
            real = np.flatnonzero(self.fold >= 0)[:20]
            self.questions = np.concatenate([real, np.flatnonzero(self.fold < 0)[:20]])
        self.passages, self.vocabulary = len(packed["tokens/lengths"]), int(packed["vocabulary"])
        terms, rows = packed["terms/flat"], np.repeat(np.arange(self.passages), packed["terms/lengths"])
        begins = (terms >= 0) & (terms & 1 == 1)
        place = np.arange(len(terms)) - np.repeat(self.starts["terms"][:-1], packed["terms/lengths"])
        titled = begins & (place < np.repeat(self.in_title, packed["terms/lengths"]))  # the index counts a title twice
        extra_rows = np.repeat(np.arange(self.passages), packed["extra/lengths"])
        every = np.concatenate([terms[begins] >> 1, terms[titled] >> 1, packed["extra/flat"]]).astype(np.int64)
        owner = np.concatenate([rows[begins], rows[titled], extra_rows])
        self.lengths = np.bincount(owner, minlength=self.passages)
        keys, self.counts = np.unique(every * self.passages + owner, return_counts=True)
        self.posting_terms, self.posting_rows = keys // self.passages, keys % self.passages
        self.frequency = np.bincount(self.posting_terms, minlength=self.vocabulary)
        self.rarity = np.log1p((self.passages - self.frequency + 0.5) / (self.frequency + 0.5))
        self.posting_starts = np.append(0, np.cumsum(self.frequency))
        self.rare = (self.frequency >= MIN_SHARING) & (self.frequency <= MAX_SHARING)
        order = np.lexsort((self.posting_terms, self.posting_rows))
        order = order[self.rare[self.posting_terms[order]]]
        self.rare_terms = self.posting_terms[order]
        self.rare_starts = np.append(0, np.cumsum(np.bincount(self.posting_rows[order], minlength=self.passages)))
        self.vectors: list[Any] = []

    def get(self, name: str, row: int) -> np.ndarray:
        starts = self.starts[name]
        return self.packed[f"{name}/flat"][starts[row] : starts[row + 1]]

    def rare_of(self, row: int) -> np.ndarray:
        return self.rare_terms[self.rare_starts[row] : self.rare_starts[row + 1]]

    def sharing(self, row: int, without: np.ndarray) -> np.ndarray:
        """How rare the words are that each passage shares with this one, the question's left out."""
        terms = np.setdiff1d(self.rare_of(row), without)
        if not len(terms):
            return np.zeros(self.passages)
        spans = [np.arange(self.posting_starts[term], self.posting_starts[term + 1]) for term in terms]
        places = np.concatenate(spans)
        weights = np.repeat(self.rarity[terms], [len(span) for span in spans])
        shared = np.bincount(self.posting_rows[places], weights, self.passages)
        shared[row] = 0
        return shared


def take_rankings(corpus: Corpus, ranked: dict[str, np.ndarray], top: np.ndarray, scores: np.ndarray) -> None:
    """Put what `rank` found in the place of plain search, for people's questions: the best rows, scores from 0 to 1."""
    if ranked["ids"].tolist() != corpus.ids:
        raise SystemExit(f"The rankings of {corpus.name} are of other questions: rank them again.")
    for place, question in enumerate(corpus.questions.tolist()):
        if corpus.fold[question] >= 0:
            rows, given = ranked["blend/top"][question], ranked["blend/scores"][question]
            low, high = given[PLAIN - 1], given[0]
            rows, given = rows[rows >= 0], given[rows >= 0]
            top[place], scores[place] = rows[:PLAIN], 0
            # What ties stays in order; what is not ranked is below all that is.
            scaled = 0.01 + np.clip((given - low) / max(high - low, 1e-9), 0, 1)
            scores[place][rows] = scaled + 1e-5 * np.arange(len(rows))[::-1]


class Pool(NamedTuple):
    """The candidates of a question: rows, their bridges, what is read of them, and features of the first ranking."""

    rows: np.ndarray
    bridges: np.ndarray
    ids: np.ndarray
    spans: np.ndarray
    features: np.ndarray
    gold: np.ndarray
    forced: np.ndarray


CORPORA: list[Corpus] = []


def excerpt(corpus: Corpus, row: int, budget: int, value: np.ndarray) -> np.ndarray:
    """Cut out the title, and of the text the window whose words are worth most."""
    tokens = corpus.get("tokens", row)
    if len(tokens) <= budget:
        return tokens
    titled = min(int(corpus.in_title[row]), MAX_TITLE)
    begin, size = int(corpus.in_title[row]), budget - titled
    terms = corpus.get("terms", row)[begin:]
    worth = np.where((terms >= 0) & (terms & 1 == 1), value[np.maximum(terms, 0) >> 1], 0.0)
    sums = np.append(0.0, np.cumsum(worth))
    windows = sums[size:] - sums[:-size] if len(worth) > size else np.zeros(1)
    best = np.flatnonzero(windows >= windows.max() - 1e-6)
    run = best[: np.append(np.flatnonzero(np.diff(best) > 1) + 1, len(best))[0]]
    start = begin + (int(run[len(run) // 2]) if windows.max() > 0 else 0)
    return np.concatenate([tokens[:titled], tokens[start : start + size]])


def make_pool(task: tuple[int, int, np.ndarray, np.ndarray]) -> Pool:
    """Build the pool of a question from the best rows of plain search and their scores."""
    number, question, top, scores = task
    corpus = CORPORA[number]
    if not corpus.vectors:
        corpus.vectors[:] = [
            np.load(Path(tempfile.gettempdir()) / f"bridge-{os.getppid()}-{number}-{part}.npy", mmap_mode="r")
            for part in "qp"
        ]
    asked, answers = corpus.get("question_terms", question), corpus.get("gold", question)
    made = corpus.fold[question] < 0
    best = top[:PLAIN]
    leading = best[:HITS]
    shared = np.stack([corpus.sharing(int(row), asked) for row in leading])
    most = shared.max(axis=0)
    far = np.setdiff1d(np.flatnonzero(most), best)
    near = corpus.vectors[1][far].astype(np.float32) @ corpus.vectors[0][question].astype(np.float32)
    far = far[np.argsort(-(near + 0.1 * most[far]), kind="stable")[:REACHED]]
    rows = np.concatenate([best, far])
    forced = np.setdiff1d(answers, rows)
    if made:
        random = np.random.default_rng([number, question])
        others = np.setdiff1d(rows, answers)
        rows = np.concatenate([answers, random.permutation(others)[:NEGATIVES_OF_MADE]])
        forced = np.zeros(0, rows.dtype)
    rows = np.concatenate([rows, forced]).astype(np.int64)
    cosine = corpus.vectors[1][rows].astype(np.float32) @ corpus.vectors[0][question].astype(np.float32)
    ranks = np.searchsorted(-np.sort(scores)[::-1], -scores[rows], side="left")
    value = np.zeros(corpus.vocabulary)
    ids, spans = np.full((len(rows), WIDTH), PADDING, np.uint16), np.zeros((len(rows), 3), np.int16)
    bridges, told = np.zeros(len(rows), np.int64), np.zeros(len(rows))
    words = corpus.get("question_tokens", question)[:MAX_QUESTION]
    for place, row in enumerate(rows.tolist()):
        choices = np.where(leading == row, -1.0, shared[:, row])
        chosen = int(np.argmax(choices))
        bridge, told[place] = int(leading[chosen]), max(choices[chosen], 0.0)
        bridges[place] = bridge
        common = np.setdiff1d(np.intersect1d(corpus.rare_of(row), corpus.rare_of(bridge)), asked)
        value[asked], value[common] = QUESTION_WEIGHT * corpus.rarity[asked], corpus.rarity[common]
        first = excerpt(corpus, bridge, MAX_BRIDGE, value)
        value[asked] = corpus.rarity[asked]
        second = excerpt(corpus, row, MAX_CANDIDATE, value)
        value[asked], value[common] = 0, 0
        line = np.concatenate([[BEGIN], words, [END, END], first, [END, END], second, [END]])
        ids[place, : len(line)] = line
        spans[place] = len(words) + 3, len(words) + 3 + len(first) + 2, len(line)
    features = np.stack([scores[rows], 1 / (3 + ranks + 1), np.log1p(told) / 3, cosine], axis=1).astype(np.float32)
    return Pool(rows, bridges, ids, spans, features, np.isin(rows, answers), np.isin(rows, forced))
