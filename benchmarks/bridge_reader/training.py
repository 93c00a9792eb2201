"""One training of the bridge reader: the data on the device, the loop, and the scores of candidates."""

from pathlib import Path
from typing import NamedTuple

import numpy as np
import torch
from adapted_encoder import PADDING, Adapted, encode
from pools import BEGIN, CORPORA, END, PLAIN, Corpus, Pool, load
from torch import Tensor
from torch.nn import functional


def load_weights(path: Path) -> dict[str, Tensor]:
    packed, tensors = load(path), {}
    for name, array in packed.items():
        if name.endswith("/int8"):
            steps = packed[name.replace("/int8", "/steps")]
            array = (array.reshape(len(steps), -1).astype(np.float32) * steps[:, None]).reshape(array.shape)
            tensors[name.removesuffix("/int8")] = torch.from_numpy(array)
        elif not name.endswith("/steps"):
            tensors[name] = torch.from_numpy(array.copy())
    return tensors


@torch.no_grad()
def embed(base: dict[str, Tensor], texts: list[np.ndarray], device: str) -> Tensor:
    order = np.argsort([-len(text) for text in texts], kind="stable")
    vectors = torch.empty(len(texts), 384, device=device)
    at = 0
    while at < len(order):
        width = min(len(texts[order[at]]), 510) + 2
        rows = order[at : at + max(1, 131_072 // width)]
        ids = np.full((len(rows), width), PADDING, np.int64)
        for place, row in enumerate(rows):
            line = np.concatenate([[BEGIN], texts[row][:510], [END]])
            ids[place, : len(line)] = line
        tensor = torch.from_numpy(ids).to(device)
        hidden = encode(base, tensor, tensor != PADDING)
        vectors[torch.from_numpy(rows).to(device)] = functional.normalize(hidden[:, 0].float(), dim=1)
        at += len(rows)
    return vectors


def plain_scores(corpus: Corpus, base: dict[str, Tensor], device: str) -> tuple[Tensor, Tensor, Tensor]:
    """BM25 and vectors, each scaled from 0 to 1, as in `triplebeam.retrieve.bases.ScaledHybrid`."""
    texts = [
        corpus.get("tokens", row)[corpus.in_title[row] if corpus.packed["shared_title"][row] else 0 :]
        for row in range(corpus.passages)
    ]
    passages = embed(base, texts, device)
    asked = embed(base, [corpus.get("question_tokens", row) for row in corpus.questions], device)
    steps = np.array([*range(40), *(24 + (8 + place << shift) for shift in range(1, 28) for place in range(8))])
    counted = steps[np.searchsorted(steps, corpus.lengths, side="right") - 1]
    damping = 1.2 * (0.25 + 0.75 * counted / corpus.lengths.mean())
    weights = corpus.rarity[corpus.posting_terms] * 2.2 * corpus.counts / (corpus.counts + damping[corpus.posting_rows])
    matrix = torch.sparse_coo_tensor(
        torch.from_numpy(np.stack([corpus.posting_rows, corpus.posting_terms])),
        torch.from_numpy(weights.astype(np.float32)), (corpus.passages, corpus.vocabulary),
    ).coalesce().to(device)  # fmt: skip
    scores = torch.empty(len(corpus.questions), corpus.passages, device=device)

    def scale(rows: Tensor) -> Tensor:
        low, high = rows.min(1, keepdim=True).values, rows.max(1, keepdim=True).values
        return (rows - low) / (high - low).clamp(min=1e-9)

    for at in range(0, len(corpus.questions), 256):
        some = corpus.questions[at : at + 256]
        wanted = np.zeros((corpus.vocabulary, len(some)), np.float32)
        for place, question in enumerate(some):
            np.add.at(wanted[:, place], corpus.get("question_terms", question), 1)
        terms = torch.sparse.mm(matrix, torch.from_numpy(wanted).to(device)).T
        if corpus.passages > 1000:
            terms = torch.where(terms >= terms.topk(1000).values[:, -1:], terms, 0)
        scores[at : at + 256] = (scale(terms) + scale(asked[at : at + 256] @ passages.T)) / 2
    return scores, asked, passages


class Data:
    """The pools of all questions, on the device."""

    def __init__(self, pools: list[Pool], owners: list[tuple[int, int]], device: str) -> None:
        self.owners = owners
        self.sizes = np.array([len(pool.rows) for pool in pools])
        self.starts = np.append(0, np.cumsum(self.sizes))
        self.rows, self.bridges, ids, spans, features, self.gold, self.forced = (
            np.concatenate(part) for part in zip(*pools, strict=True)
        )
        self.lengths = spans[:, 2].astype(np.int64)
        self.ids = torch.from_numpy(ids.astype(np.int32)).to(device)
        self.spans = torch.from_numpy(spans.astype(np.int32)).to(device)
        self.features = torch.from_numpy(features).to(device)
        self.fold = np.array([CORPORA[number].fold[question] for number, question in owners])
        self.kind = np.array([CORPORA[number].kind for number, _ in owners])
        self.corpus = np.array([CORPORA[number].name for number, _ in owners])
        self.reached = np.zeros(len(self.rows), bool)
        for place in range(len(owners)):
            if self.fold[place] >= 0:
                self.reached[self.starts[place] + PLAIN : self.starts[place + 1]] = True

    def batch(self, at: np.ndarray, *, bridge: bool) -> tuple[Tensor, Tensor]:
        width = -(-int(self.lengths[at].max()) // 8) * 8
        place = torch.from_numpy(at).to(self.ids.device)
        ids, spans = self.ids[place][:, :width].long(), self.spans[place]
        columns = torch.arange(width, device=ids.device)
        mask = columns < spans[:, 2:]
        if not bridge:
            mask = mask & ~((columns >= spans[:, :1]) & (columns < spans[:, 1:2]))
        return ids, mask


class Options(NamedTuple):
    """One run's settings."""

    rank: int = 64
    rate: float = 1e-3
    epochs: int = 3
    negatives: int = 7
    made: int = 10_000
    """How many gold passages of made questions are trained on, once."""
    bridge: bool = True
    reach: bool = True
    residual: bool = True
    layers: int = 6
    """Of the embedder's six, the first so many are run."""
    batch: int = 64
    seed: int = 0


class Reader(Adapted):
    """The adapted encoder, with a weight for each feature of the first ranking."""

    def __init__(self, base: dict[str, Tensor], rank: int, layers: int) -> None:
        super().__init__(base, rank, layers)
        self.first = torch.nn.Parameter(torch.tensor([2.0, 2.0, 0.0, 0.0]))


def train(
    data: Data,
    chosen: np.ndarray,
    options: Options,
    base: dict[str, Tensor],
    device: str,
) -> Reader:
    """Train on some questions, first for one epoch on those that were made, then on the others."""
    torch.manual_seed(options.seed)
    random = np.random.default_rng(options.seed)
    model = Reader(base, options.rank, options.layers).to(device).train()
    groups = [
        {"params": [model.first], "rate": 0.02},
        {"params": list(model.adapter.values()), "rate": options.rate},
    ]
    optimizer = torch.optim.AdamW(groups, lr=1e-3, betas=(0.9, 0.98), weight_decay=0.01)
    made, real = chosen[data.fold[chosen] < 0], chosen[data.fold[chosen] >= 0]
    stages = ([made] if options.made and len(made) else []) + [real] * options.epochs
    batches = [each for stage in stages for each in draw(data, stage, options, random)[: _limit(data, stage, options)]]
    for step, (positives, negatives) in enumerate(batches):
        done = step / len(batches)
        for group in optimizer.param_groups:
            group["lr"] = group["rate"] * min(1.0, (step + 1) / 60) * (1 - done)
        at = np.concatenate([positives[:, None], negatives], axis=1)
        ids, mask = data.batch(at.ravel(), bridge=options.bridge)
        with torch.autocast(device, torch.bfloat16, enabled=device == "cuda"):
            scores = model(ids, mask).float().view(at.shape)
        if options.residual:
            scores = scores + (data.features[torch.from_numpy(at).to(device)] * model.first).sum(-1)
        loss = functional.cross_entropy(scores, torch.zeros(len(at), dtype=torch.long, device=device))
        optimizer.zero_grad()
        loss.backward()
        torch.nn.utils.clip_grad_norm_(model.parameters(), 1.0)
        optimizer.step()
    return model.eval()


def _limit(data: Data, stage: np.ndarray, options: Options) -> int | None:
    return -(-options.made // options.batch) if (data.fold[stage] < 0).all() else None


def draw(
    data: Data, questions: np.ndarray, options: Options, random: np.random.Generator
) -> list[tuple[np.ndarray, np.ndarray]]:
    """Each gold passage once, in any order, with some others of its pool."""
    positives, negatives = [], []
    for question in questions:
        at = np.arange(data.starts[question], data.starts[question + 1])
        if not options.reach:
            at = at[~data.reached[at] | data.gold[at]]
        others = at[~data.gold[at]]
        if not len(others):
            continue
        for place in at[data.gold[at]]:
            positives.append(place)
            negatives.append(random.choice(others, options.negatives, replace=len(others) < options.negatives))
    order = random.permutation(len(positives))
    one, many = np.array(positives)[order], np.array(negatives)[order]
    return [(one[at : at + options.batch], many[at : at + options.batch]) for at in range(0, len(order), options.batch)]


@torch.no_grad()
def read(model: Reader, data: Data, at: np.ndarray, *, bridge: bool, device: str) -> np.ndarray:
    """Return the scores of candidates."""
    scores = np.zeros(len(at), np.float32)
    order = np.argsort(-data.lengths[at], kind="stable")
    tensors = model.merge()
    for begin in range(0, len(order), 1024):
        some = order[begin : begin + 1024]
        ids, mask = data.batch(at[some], bridge=bridge)
        with torch.autocast(device, torch.bfloat16, enabled=device == "cuda"):
            hidden = encode(tensors, ids, mask, layers=model.layers)
        scores[some] = model.score(hidden).cpu().numpy()
    return scores
