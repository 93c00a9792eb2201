"""Fit how much the bridge reader counts beside the first ranking, from the scores that `train` writes.

usage: python fit_weight.py PACKED OUT/scores.npz [--rankings FOLDER] [--depth 24] [--reached 6]

What `blend` put in the tenth place by its tail (known from the rankings) stays there, as in `Rerank`.

A weight is allowed where no kind of text loses more than --max-loss of R@5 or R@10 against the first ranking when the
reader was trained without that kind, nor at a lower weight. The highest of these is chosen. Last, each kind is left out
of this choice, too: what the weight costs or gains on text that nothing was fitted on.
"""

import argparse
import json
from itertools import takewhile
from pathlib import Path

import numpy as np
from pools import load

WEIGHTS = (0.05, 0.1, 0.15, 0.2, 0.25, 0.3, 0.35, 0.4, 0.5, 0.7, 1.0)
POOL = 60


class Scores:
    """The candidates of all questions in rows of one width, and the ranking that each weight gives."""

    def __init__(self, packed: Path, file: Path, depth: int, reached: int, rankings: Path | None) -> None:
        about, saved = json.loads((packed / "corpora.json").read_text()), np.load(file)
        self.names, self.kinds = [each["name"] for each in about], [each["kind"] for each in about]
        self.corpus, ends = saved["owners"][:, 0], np.cumsum(saved["sizes"])
        self.filled = np.arange(POOL) < saved["sizes"][:, None]
        place = np.where(self.filled, np.arange(POOL) + (ends - saved["sizes"])[:, None], 0)
        self.gold = saved["gold"][place] & self.filled
        far, plain = saved["reached"][place], saved["features"][:, 0].astype(np.float32)[place]
        rank = np.argsort(np.argsort(np.where(far | ~self.filled, 9, -plain), axis=1, kind="stable"), axis=1)
        self.plain = np.where(far | ~self.filled, -9, plain)
        low = np.where(far | (rank >= depth), 9, plain).min(axis=1, keepdims=True)
        scaled = np.clip((plain - low) / (plain.max(axis=1, keepdims=True) - low), 0, 1)
        self.first = np.where(far, 0, 1 / (4 + rank) + 0.3 * scaled)
        self.read = self.filled & np.where(far, np.cumsum(far, axis=1) <= reached, rank < depth)
        self.kept = self.filled & (self.read | ~far)
        self.heads = {name: saved[f"head_{name}"].astype(np.float32)[place] for name in ("folds", "kinds")}
        self.answers = self._count_answers(packed, saved["owners"])
        rows = np.where(self.filled, saved["rows"][place], -1)
        self.tenth = rows == self._find_tenth(rankings, saved["owners"])[:, None]

    def _count_answers(self, packed: Path, owners: np.ndarray) -> np.ndarray:
        lengths = [load(packed / f"{name}.xz")["gold/lengths"] for name in self.names]
        return np.array([lengths[corpus][question] for corpus, question in owners])

    def _find_tenth(self, rankings: Path | None, owners: np.ndarray) -> np.ndarray:
        """Find the row that the tail put in the tenth place of each question; -2 without one."""
        files = {number: rankings / f"{name}.npz" for number, name in enumerate(self.names)} if rankings else {}
        ranked = {number: dict(np.load(file)) for number, file in files.items() if file.is_file()}
        tenth = np.full(len(owners), -2)
        for place, (corpus, question) in enumerate(owners.tolist()):
            if corpus in ranked:
                row = ranked[corpus]["blend/top"][question][9]
                without = ranked[corpus]["blend[without=tail]/top"][question][:10]
                tenth[place] = -2 if row in without else row
        return tenth

    def recall(self, scores: np.ndarray) -> np.ndarray:
        """R@5 and R@10 in percent, a row for each corpus."""
        ninth, tenth = np.sort(scores, axis=1)[:, -9], np.sort(scores, axis=1)[:, -10]
        scores = np.where(self.tenth, np.maximum(scores, ((ninth + tenth) / 2)[:, None]), scores)
        found = np.take_along_axis(self.gold, np.argsort(-scores, axis=1, kind="stable"), axis=1)
        both = np.stack([found[:, :k].sum(axis=1) / self.answers for k in (5, 10)], axis=1)
        return np.array([both[self.corpus == number].mean(axis=0) * 100 for number in np.unique(self.corpus)])

    def weighted(self, head: str, weight: float) -> np.ndarray:
        """Recall with a weight; the reader's share is a sigmoid above its third highest score."""
        said = np.where(self.read, self.heads[head], -50)
        third = -np.sort(-said, axis=1)[:, 2:3]
        share = np.where(self.read, 1 / (1 + np.exp(np.clip(third - said, -30, 30))), 0)
        return self.recall(np.where(self.kept, self.first + weight * share, -9))


def main() -> None:
    """Print what each weight gives, and what a weight chosen without a kind gives on that kind."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("packed", type=Path)
    parser.add_argument("scores", type=Path)
    parser.add_argument("--depth", type=int, default=24)
    parser.add_argument("--reached", type=int, default=6)
    parser.add_argument("--rankings", type=Path)
    parser.add_argument("--max-loss", type=float, default=0.3)
    given = parser.parse_args()
    data = Scores(given.packed, given.scores, given.depth, given.reached, given.rankings)
    plain = data.recall(data.plain)
    used = [number for number in np.unique(data.corpus) if not data.names[number].endswith("_train")]
    show = lambda table: " ".join(f"{data.names[n][:9]} {table[n][0]:.1f}/{table[n][1]:.1f}" for n in used)  # noqa: E731
    print(f"{'first':10s}", show(plain))
    folds = {weight: data.weighted("folds", weight) for weight in WEIGHTS}
    kinds = {0.0: plain} | {weight: data.weighted("kinds", weight) for weight in WEIGHTS}
    for weight in WEIGHTS:
        print(f"{weight:<5} folds ", show(folds[weight]), "\n      unseen", show(kinds[weight]))

    def choose(numbers: list[int]) -> float:
        harmless = lambda weight: (kinds[weight][numbers] - plain[numbers]).min() >= -given.max_loss  # noqa: E731
        return max(takewhile(harmless, WEIGHTS), default=0.0)

    print("chosen on all kinds:", choose(used))
    for kind in dict.fromkeys(data.kinds[number] for number in used):
        weight = choose([number for number in used if data.kinds[number] != kind])
        gains = [f"{data.names[n]} {kinds[weight][n] - plain[n]}" for n in used if data.kinds[n] == kind]
        print(f"chosen without {kind}: {weight}, there", *gains)


if __name__ == "__main__":
    main()
