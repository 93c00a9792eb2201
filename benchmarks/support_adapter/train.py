"""Train the adapter that reads whether words state a fact. It needs PyTorch and a GPU, which the package does not.

usage: PYTHONPATH=.. python train.py BANK.jsonl.gz FOLDER OUT.safetensors [--start ADAPTER] [--epochs 5] [--rate 2e-3]
       [--rank 32] [--minutes 60]

FOLDER is granite-embedding-30m-english from `triplebeam doctor --install`. The learning rate falls to zero,
at the latest when the minutes are over. Each epoch has new false claims. From a third of the way on, or
from the beginning where it started from an adapter, claims whose label may be wrong are left out where the model is
sure of the opposite: extracted triples are not all true, nor are falsified ones all false.

The packaged adapter is the third of these runs. SEVEN is the adapter of seven epochs (of commit c7b4a4c). Each run was
ended by --minutes (which were not written down, and depend on the machine) after 2.8, 5.5 and 1.5 epochs:

    train.py BANK FOLDER first.safetensors --start SEVEN --epochs 8 --rate 1.5e-3 --rank 16
    train.py BANK FOLDER second.safetensors --start first.safetensors --epochs 7 --rate 1.5e-3 --rank 32
    train.py BANK FOLDER third.safetensors --start second.safetensors --epochs 5 --rate 1e-3 --rank 32
"""

import argparse
import gzip
import json
import math
import os
import time
from collections import Counter
from collections.abc import Iterator
from functools import partial
from itertools import islice
from multiprocessing import Pool
from multiprocessing.pool import Pool as Workers
from pathlib import Path
from random import Random
from typing import Any, NamedTuple

import numpy as np
import torch
from adapted_encoder import PADDING, Adapted, linear_layers
from banked import Passage
from examples import PARAPHRASES, examples
from safetensors.torch import load_file, save_file
from tokenizers import Tokenizer
from torch import Tensor
from torch.nn import functional

LONGEST, TOKENS_PER_BATCH = 224, 49_152
SURE, SMOOTHING, WARM_UP = 2.5, 0.02, 100
#: Each has 50 passages.
PARTS_AT_A_TIME = 64


class Claims(NamedTuple):
    """The tokens of many claims, one after the other; of each its length, its label, and whether that is in doubt."""

    tokens: Any
    lengths: Any
    stated: Any
    doubtful: Any

    def padded(self, starts: np.ndarray, rows: np.ndarray) -> tuple[Tensor, Tensor]:
        """Return the tokens of some claims, and which of them are no padding."""
        columns = np.arange(-(-self.lengths[rows].max() // 8) * 8)  # the fast kernels need multiples of 8
        counted = columns < self.lengths[rows][:, None]
        places = np.where(counted, starts[rows][:, None] + columns, 0)
        return torch.from_numpy(np.where(counted, self.tokens[places], PADDING).astype(np.int64)), torch.from_numpy(
            counted
        )


def claims(part: tuple[int, list[str]], common: list[str], folder: Path) -> Claims:
    """Return the examples of some lines of the bank in an epoch."""
    seed, lines = part
    os.environ["TOKENIZERS_PARALLELISM"] = "false"  # there is a process for each core already
    tokenizer = Tokenizer.from_file(str(folder / "tokenizer.json"))
    tokenizer.no_padding()
    tokenizer.enable_truncation(LONGEST)
    made = [each for line in lines for each in examples(Passage(json.loads(line)), common, Random(f"{seed} {line}"))]
    tokens = [each.ids for each in tokenizer.encode_batch_fast([(each.fact, each.context) for each in made])]
    return Claims(
        np.concatenate([np.array(each, np.uint16) for each in tokens]),
        np.array([len(each) for each in tokens]),
        np.array([each.stated for each in made]),
        np.array([each.doubtful for each in made]),
    )


def batches(lengths: np.ndarray, random: np.random.Generator) -> list[np.ndarray]:
    """Rows of about equal length, in any order."""
    order = np.argsort(lengths + 8 * random.random(len(lengths)))
    ends = np.searchsorted(np.cumsum(lengths[order]), np.arange(TOKENS_PER_BATCH, lengths.sum(), TOKENS_PER_BATCH))
    found = np.split(order, ends)
    random.shuffle(found)
    return [rows for rows in found if len(rows)]


def portions(pool: Workers, parts: list[tuple[int, list[str]]], folder: Path) -> Iterator[Claims]:
    """Yield the claims of many parts of the bank; the next are made while the model is trained on the last."""
    triples = (triple for _, lines in parts[:200] for line in lines for triple in json.loads(line)["triples"])
    counted = Counter(predicate for _, predicate, _ in triples)
    common = [each for each, count in counted.items() for _ in range(int(count**0.7))]
    common += PARAPHRASES * max(1, len(common) // (4 * len(PARAPHRASES)))
    made = pool.imap(partial(claims, common=common, folder=folder), parts)
    while some := list(islice(made, PARTS_AT_A_TIME)):
        yield Claims(*(np.concatenate(part) for part in zip(*some, strict=True)))


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    for name in ("bank", "folder", "out"):
        parser.add_argument(name, type=Path)
    parser.add_argument("--start", type=Path)
    for name, kind, default in (
        ("epochs", int, 5),
        ("rate", float, 2e-3),
        ("rank", int, 32),
        ("minutes", float, 60),
    ):
        parser.add_argument(f"--{name}", type=kind, default=default)
    given = parser.parse_args()
    # The processes are forked before CUDA runs, which does not survive it; they leave the trainer its core.
    with Pool(max(1, (os.cpu_count() or 1) - 2), os.nice, (10,)) as pool:
        train(given, pool)


def train(given: argparse.Namespace, pool: Workers) -> None:
    torch.manual_seed(0)
    device = "cuda" if torch.cuda.is_available() else "cpu"
    with gzip.open(given.bank, "rt", encoding="utf-8") as bank:
        lines = list(bank)
    Random(0).shuffle(lines)
    parts = [(epoch, lines[at : at + 50]) for epoch in range(given.epochs) for at in range(0, len(lines), 50)]
    base = {name: tensor.float().to(device) for name, tensor in load_file(given.folder / "model.safetensors").items()}
    start = load_file(given.start) if given.start else {}
    if start and (rank := len(start[f"{linear_layers()[0]}.weight.A"])) > given.rank:
        raise SystemExit(f"{given.start} has rank {rank}; give --rank {rank} or more (it was {given.rank}).")
    model = Adapted(base, given.rank, start=start, head_bias=-1.0).to(device).train()
    optimizer = torch.optim.AdamW(model.parameters(), lr=given.rate, betas=(0.9, 0.98), weight_decay=0.01)
    total, steps, begun, random = math.ceil(len(parts) / PARTS_AT_A_TIME), 0, 0.0, np.random.default_rng(0)
    for number, made in enumerate(portions(pool, parts, given.folder)):
        begun = begun or time.monotonic()
        starts, chosen = np.cumsum(made.lengths) - made.lengths, batches(made.lengths, random)
        for step, rows in enumerate(chosen):
            spent = (time.monotonic() - begun) / (60 * given.minutes)
            done, steps = max((number + step / len(chosen)) / total, spent), steps + 1
            if done >= 1:
                break
            for group in optimizer.param_groups:
                group["lr"] = given.rate * (1 - done) * min(1.0, steps / WARM_UP)
            with torch.autocast(device, torch.bfloat16):
                scores = model(*(each.to(device) for each in made.padded(starts, rows))).float()
            target = torch.from_numpy(made.stated[rows]).to(device).float()
            doubtful = torch.from_numpy(made.doubtful[rows]).to(device)
            losses = functional.binary_cross_entropy_with_logits(
                scores, target * (1 - 2 * SMOOTHING) + SMOOTHING, reduction="none"
            )
            if given.start or done > 1 / 3:
                losses = losses * ~((scores.detach() * (1 - 2 * target) > SURE) & doubtful)
            optimizer.zero_grad()
            losses.mean().backward()
            torch.nn.utils.clip_grad_norm_(model.parameters(), 1.0)
            optimizer.step()
        print(
            f"{number + 1} of {total}: {steps} steps, {spent:.0%} of the time, loss {losses.mean().item():.3f}",
            flush=True,
        )
        save_file({name: each.cpu().half() for name, each in model.tensors().items()}, given.out)
        if done >= 1:
            break


if __name__ == "__main__":
    main()
