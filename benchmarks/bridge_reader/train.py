"""Train the bridge reader on what `pack` packed. It needs PyTorch and NumPy alone, and a GPU for more than a trial.

usage: PYTHONPATH=.. python train.py PACKED OUT [--rankings FOLDER] [--minutes 8.5]
           [--plan folds,final,kinds,ablations,layers] [--small]

Everything, from the folder of this file, with the corpora of TRIPLEBEAM_DATA (licences: `corpora`) and two manuals:

    PYTHONPATH=.. python -m bridge_reader.pack PACKED --manual 'nodejs=FOLDER=*.md' --manual 'cmake=FOLDER=*.rst' &&
    PYTHONPATH=.. python -m bridge_reader.rank RANKINGS musique 2wikimultihopqa hotpotqa musique_train \\
        beyond/multihoprag beyond/lihuaworld beyond/graphragbench_novel &&
    PYTHONPATH=.. python train.py PACKED OUT --rankings RANKINGS &&
    python fit_weight.py PACKED OUT/scores.npz --rankings RANKINGS

Each question has a pool: the first 40 of `blend` (of plain search, where no ranking is given: questions that were made)
and 20 passages that rare words of the first three reach. A candidate's bridge is the hit among the first three that
shares the rarest words with it. The embedder with an adapter (LoRA) reads question, bridge and candidate, and is
trained to tell a gold passage from seven others of the pool: first on questions that `chains` made, then for three
epochs on people's. Runs: five folds by question, each kind of text left out in turn, parts switched off, and the
adapter of all questions. The seed is 0. OUT has adapters, the scores of every candidate and a table. On one H200 a run
takes 13 s, all of them four minutes.
"""

import argparse
import json
import os
import struct
import tempfile
import time
from multiprocessing import get_context
from pathlib import Path
from typing import Any

import numpy as np
import torch
from pools import CORPORA, PLAIN, Corpus, load, make_pool, take_rankings
from torch import Tensor

from training import Data, Options, Reader, load_weights, plain_scores, read, train

EMPTY = np.zeros(0, np.int64)


def save_safetensors(tensors: dict[str, Tensor], path: Path) -> None:
    head, body = {}, b""
    for name, tensor in sorted(tensors.items()):
        raw = tensor.detach().cpu().half().contiguous().numpy().tobytes()
        head[name] = {"dtype": "F16", "shape": list(tensor.shape), "data_offsets": [len(body), len(body) + len(raw)]}
        body += raw
    text = json.dumps(head).encode()
    text += b" " * (-len(text) % 8)
    path.write_bytes(struct.pack("<Q", len(text)) + text + body)


def candidates(data: Data, questions: np.ndarray, *, reach: bool = True) -> np.ndarray:
    at = np.concatenate([np.arange(data.starts[q], data.starts[q + 1]) for q in questions])
    return at[~data.forced[at] & (reach | ~data.reached[at])]


def recall(data: Data, questions: np.ndarray, scores: np.ndarray) -> dict[str, dict[str, float]]:
    """R@5 and R@10 in percent by corpus, and of questions with several gold passages."""
    found: dict[str, list[tuple[float, float, bool]]] = {}
    for question in questions:
        number, asked = data.owners[question]
        golds = len(set(CORPORA[number].get("gold", asked).tolist()))
        at = np.arange(data.starts[question], data.starts[question + 1])
        ranked = at[np.argsort(-scores[at], kind="stable")]
        hits = [float(data.gold[ranked[:k]].sum()) / golds for k in (5, 10)]
        found.setdefault(str(data.corpus[question]), []).append((*hits, golds > 1))
    table = {}
    for name, rows in found.items():
        both = np.array(rows, float)
        several = both[both[:, 2] > 0]
        table[name] = {"n": len(rows), "r5": both[:, 0].mean() * 100, "r10": both[:, 1].mean() * 100}
        if 0 < len(several) < len(both):
            table[name] |= {"r5_several": several[:, 0].mean() * 100, "r10_several": several[:, 1].mean() * 100}
    return {name: {key: round(float(value), 1) for key, value in row.items()} for name, row in table.items()}


def say(title: str, table: dict[str, dict[str, float]]) -> None:
    print(
        f"{title:34s}",
        " | ".join(f"{name[:9]} {row['r5']:.1f}/{row['r10']:.1f}" for name, row in table.items()),
        flush=True,
    )


class Session:
    """Everything a run needs, and what the runs found."""

    def __init__(self, given: argparse.Namespace) -> None:
        self.given, self.begun = given, time.monotonic()
        self.device = "cuda" if torch.cuda.is_available() else "cpu"
        torch.backends.cuda.matmul.allow_tf32 = True
        self.log: list[dict[str, Any]] = []
        self.arrays: dict[str, np.ndarray] = {}

    def left(self) -> float:
        return self.given.minutes * 60 - (time.monotonic() - self.begun)

    def prepare(self, workers: Any) -> None:
        self.base = {
            name: tensor.to(self.device) for name, tensor in load_weights(self.given.packed / "weights.xz").items()
        }
        tasks, owners = [], []
        for number, corpus in enumerate(CORPORA):
            scores, asked, passages = plain_scores(corpus, self.base, self.device)
            questions = np.zeros((len(corpus.fold), 384), np.float16)
            questions[corpus.questions] = asked.half().cpu().numpy()
            for part, vectors in (("q", questions), ("p", passages.half().cpu().numpy())):
                np.save(Path(tempfile.gettempdir()) / f"bridge-{os.getpid()}-{number}-{part}.npy", vectors)
            top = scores.topk(min(PLAIN, corpus.passages)).indices.cpu().numpy()
            every = scores.cpu().numpy()
            if self.given.rankings and (ranked := self.given.rankings / f"{corpus.name}.npz").is_file():
                take_rankings(corpus, dict(np.load(ranked)), top, every)
            for place, question in enumerate(corpus.questions.tolist()):
                tasks.append((number, question, top[place], every[place]))
                owners.append((number, question))
            print(
                corpus.name,
                corpus.passages,
                "passages",
                len(corpus.questions),
                f"questions, {time.monotonic() - self.begun:.0f} s",
                flush=True,
            )
        self.data = Data(list(workers.imap(make_pool, tasks, chunksize=16)), owners, self.device)
        self.real = np.flatnonzero(self.data.fold >= 0)
        print(
            f"pools made, {time.monotonic() - self.begun:.0f} s,",
            len(self.data.rows),
            "candidates,",
            int(self.data.gold.sum()),
            "gold,",
            f"mean length {self.data.lengths.mean():.0f}",
            flush=True,
        )
        features = self.data.features.cpu().numpy()
        hidden = np.where(self.data.forced, -np.inf, 0)
        say("plain", recall(self.data, self.real, np.where(self.data.reached, -np.inf, features[:, 0]) + hidden))
        say("best possible in pool", recall(self.data, self.real, self.data.gold + hidden))

    def fit(self, title: str, chosen: np.ndarray, judged: np.ndarray, options: Options) -> tuple[Reader, np.ndarray]:
        """Train on some questions, and score the candidates of others; what is not scored is -inf."""
        begun = time.monotonic()
        model = train(self.data, chosen, options, self.base, self.device)
        trained = time.monotonic() - begun
        head = np.full(len(self.data.rows), -np.inf, np.float32)
        if len(judged):
            at = candidates(self.data, judged, reach=options.reach)
            head[at] = read(model, self.data, at, bridge=options.bridge, device=self.device)
            table = recall(self.data, judged, self.add(head, model))
            say(title, table)
            first = [round(value, 2) for value in model.first.tolist()]
            self.log.append(
                {
                    "title": title,
                    "options": options._asdict(),
                    "table": table,
                    "first": first,
                    "alone": recall(self.data, judged, head),
                    "seconds": [round(trained), round(time.monotonic() - begun - trained)],
                }
            )
            print("    first", first, "seconds", self.log[-1]["seconds"], f"left {self.left():.0f}", flush=True)
        return model, head

    def add(self, head: np.ndarray, model: Reader) -> np.ndarray:
        return head + (self.data.features @ model.first.detach()).cpu().numpy()

    def layers(self, options: Options) -> None:
        """Run fewer layers, on the first fold."""
        chosen, judged = np.flatnonzero(self.data.fold != 0), np.flatnonzero(self.data.fold == 0)
        for layers in (4, 3):
            self.fit(f"fold 0, {layers} layers", chosen, judged, options._replace(layers=layers))

    def folds(self, options: Options) -> None:
        """Five folds by question."""
        heads = np.full(len(self.data.rows), -np.inf, np.float32)
        total = heads.copy()
        for fold in range(5):
            judged = np.flatnonzero(self.data.fold == fold)
            model, head = self.fit(f"fold {fold}", np.flatnonzero(self.data.fold != fold), judged, options)
            where = np.isfinite(head)
            heads[where], total[where] = head[where], self.add(head, model)[where]
            if fold == 0:
                save_safetensors(model.tensors(), self.given.out / "fold0.safetensors")
        self.arrays["head_folds"] = heads
        say("five folds", recall(self.data, self.real, total))
        self.log.append({"title": "five folds", "table": recall(self.data, self.real, total)})

    def kinds(self, options: Options) -> None:
        """Leave each kind of text out in turn."""
        heads = np.full(len(self.data.rows), -np.inf, np.float32)
        for kind in ("news", "chats", "novels", "manuals", "wiki"):
            judged = np.flatnonzero((self.data.kind == kind) & (self.data.fold >= 0))
            if len(judged) and self.left() > 45:
                model, head = self.fit(f"without {kind}", np.flatnonzero(self.data.kind != kind), judged, options)
                heads[np.isfinite(head)] = head[np.isfinite(head)]
                if kind != "wiki":
                    save_safetensors(model.tensors(), self.given.out / f"without_{kind}.safetensors")
        self.arrays["head_kinds"] = heads

    def ablations(self, options: Options) -> None:
        """Switch parts off, on the first fold."""
        chosen, judged = np.flatnonzero(self.data.fold != 0), np.flatnonzero(self.data.fold == 0)
        for title, each in {
            "no bridge": options._replace(bridge=False), "no reach": options._replace(reach=False),
            "no chains": options._replace(made=0),
        }.items():  # fmt: skip
            if self.left() > 45:
                self.fit(f"fold 0, {title}", chosen, judged, each)

    def final(self, options: Options) -> None:
        """Train on everything."""
        model, _ = self.fit("final", np.arange(len(self.data.fold)), EMPTY, options)
        save_safetensors(model.tensors(), self.given.out / "adapter.safetensors")
        self.log.append({"title": "final", "first": model.first.tolist()})

    def write(self) -> None:
        (self.given.out / "log.json").write_text(json.dumps(self.log))
        at = candidates(self.data, self.real)
        candidates_of = [len(candidates(self.data, np.array([question]))) for question in self.real]
        np.savez_compressed(
            self.given.out / "scores.npz",
            owners=np.array(self.data.owners)[self.real],
            rows=self.data.rows[at],
            bridges=self.data.bridges[at],
            sizes=np.array(candidates_of),
            gold=self.data.gold[at],
            reached=self.data.reached[at],
            features=self.data.features.cpu().numpy()[at].astype(np.float16),
            **{name: head[at].astype(np.float16) for name, head in self.arrays.items()},
        )


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("packed", type=Path)
    parser.add_argument("out", type=Path)
    parser.add_argument("--minutes", type=float, default=8.5)
    parser.add_argument("--plan", default="folds,final,kinds,ablations,layers")
    parser.add_argument("--small", action="store_true")
    parser.add_argument("--options", default="{}")
    parser.add_argument("--rankings", type=Path)
    given = parser.parse_args()
    session = Session(given)
    described = json.loads((given.packed / "corpora.json").read_text())
    CORPORA.extend(Corpus(each, load(given.packed / f"{each['name']}.xz"), given.small) for each in described)
    print(f"read, {time.monotonic() - session.begun:.0f} s", flush=True)
    # The processes are forked before CUDA runs, which does not survive it.
    with get_context("fork").Pool(2 if given.small else max(1, (os.cpu_count() or 1) - 2)) as workers:
        session.prepare(workers)
        options = Options(**json.loads(given.options))
        for part in given.plan.split(","):
            getattr(session, part)(options)
            session.write()


if __name__ == "__main__":
    main()
