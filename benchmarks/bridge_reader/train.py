"""Train the bridge reader on what `pack` packed. It needs PyTorch and NumPy alone, and a GPU for more than a trial.

usage: python train.py PACKED OUT [--minutes 8.5] [--plan folds,final,kinds,ablations,layers] [--small]

Everything, from the folder of this file, with the corpora of TRIPLEBEAM_DATA (licences: `corpora`) and two manuals:

    PYTHONPATH=.. python -m bridge_reader.pack PACKED --manual 'nodejs=FOLDER=*.md' --manual 'cmake=FOLDER=*.rst' &&
    python train.py PACKED OUT && python fit_weight.py PACKED OUT/scores.npz

Each question has a pool: the first 40 of plain search (BM25 and vectors, added by score) and 20 passages that rare
words of the first three reach. A candidate's bridge is the hit among the first three that shares the rarest words with
it. The embedder with an adapter (LoRA) reads question, bridge and candidate, and is trained to tell a gold passage from
seven others of the pool: first on questions that `chains` made, then for three epochs on people's. Runs: five folds by
question, each kind of text left out in turn, parts switched off, and the adapter of all questions. The seed is 0. OUT
has adapters, the scores of every candidate and a table. On one H200 a run takes 13 s, all of them four minutes.
"""

import argparse
import json
import lzma
import math
import os
import struct
import tempfile
import time
from multiprocessing import get_context
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np
import torch
from torch import Tensor
from torch.nn import functional

LAYERS, HEADS, PADDING, BEGIN, END = 6, 12, 1, 0, 2
MAX_QUESTION, MAX_BRIDGE, MAX_CANDIDATE, MAX_TITLE = 40, 44, 72, 16
WIDTH = 168
PLAIN, REACHED, HITS = 40, 20, 3
MIN_SHARING, MAX_SHARING = 2, 30
QUESTION_WEIGHT = 0.3
NEGATIVES_OF_MADE = 14
PARTS = ("attention.self.query", "attention.self.key", "attention.self.value", "attention.output.dense")


def linear_layers(layers: int) -> list[str]:
    """List the names of the linear layers of the first encoder layers."""
    parts = (*PARTS, "intermediate.dense", "output.dense")
    return [f"encoder.layer.{number}.{part}" for number in range(layers) for part in parts]


EMPTY = np.zeros(0, np.int64)


def load(path: Path) -> dict[str, np.ndarray]:
    """Read what `pack.save` wrote."""
    head, _, body = lzma.decompress(path.read_bytes()).partition(b"\n")
    arrays, at = {}, 0
    for name, kind, shape in json.loads(head):
        count = math.prod(shape)
        arrays[name] = np.frombuffer(body, kind, count, at).reshape(shape)
        at += count * np.dtype(kind).itemsize
    return arrays


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


def save_safetensors(tensors: dict[str, Tensor], path: Path) -> None:
    head, body = {}, b""
    for name, tensor in sorted(tensors.items()):
        raw = tensor.detach().cpu().half().contiguous().numpy().tobytes()
        head[name] = {"dtype": "F16", "shape": list(tensor.shape), "data_offsets": [len(body), len(body) + len(raw)]}
        body += raw
    text = json.dumps(head).encode()
    text += b" " * (-len(text) % 8)
    path.write_bytes(struct.pack("<Q", len(text)) + text + body)


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


class Adapted(torch.nn.Module):
    """The encoder with thin matrices beside each linear layer, new biases, and a last vector."""

    def __init__(self, base: dict[str, Tensor], rank: int, layers: int = LAYERS) -> None:
        super().__init__()
        self.base, self.layers = base, layers
        new = {"head.weight": torch.zeros(1, 384), "head.bias": torch.zeros(1)}
        for name in linear_layers(self.layers):
            rows, columns = base[f"{name}.weight"].shape
            new[f"{name}.weight.A"] = torch.randn(rank, columns) / math.sqrt(columns)
            new[f"{name}.weight.B"] = torch.zeros(rows, rank)
            new[f"{name}.bias"] = base[f"{name}.bias"].clone().cpu()
        self.adapter = torch.nn.ParameterDict({k.replace(".", "/"): torch.nn.Parameter(t) for k, t in new.items()})
        self.first = torch.nn.Parameter(torch.tensor([2.0, 2.0, 0.0, 0.0]))

    def tensor(self, name: str) -> Tensor:
        return self.adapter[name.replace(".", "/")]

    def tensors(self) -> dict[str, Tensor]:
        return {name.replace("/", "."): tensor.detach() for name, tensor in self.adapter.items()}

    def merge(self) -> dict[str, Tensor]:
        merged = {}
        with torch.autocast(self.first.device.type, enabled=False):
            for name in linear_layers(self.layers):
                product = self.tensor(f"{name}.weight.B") @ self.tensor(f"{name}.weight.A")
                merged[f"{name}.weight"] = self.base[f"{name}.weight"] + product
                merged[f"{name}.bias"] = self.tensor(f"{name}.bias")
        return merged

    def forward(self, ids: Tensor, mask: Tensor) -> Tensor:
        hidden = encode(self.base | self.merge(), ids, mask, dropout=0.1 if self.training else 0.0, layers=self.layers)
        return functional.linear(hidden[:, 0].float(), self.tensor("head.weight"), self.tensor("head.bias"))[:, 0]


def encode(tensors: dict[str, Tensor], ids: Tensor, mask: Tensor, dropout: float = 0.0, layers: int = LAYERS) -> Tensor:
    texts, length = ids.shape
    tables = {part: tensors[f"embeddings.{part}_embeddings.weight"] for part in ("word", "position", "token_type")}
    hidden = functional.embedding(ids, tables["word"]) + tables["position"][2 : 2 + length] + tables["token_type"][0]

    def normal(inputs: Tensor, at: str) -> Tensor:
        return functional.layer_norm(
            inputs, (384,), tensors[f"{at}LayerNorm.weight"], tensors[f"{at}LayerNorm.bias"], 1e-12
        )

    def linear(inputs: Tensor, at: str) -> Tensor:
        return functional.linear(inputs, tensors[f"{at}.weight"], tensors[f"{at}.bias"])

    hidden = normal(hidden, "embeddings.")
    attended = mask[:, None, None, :]
    for number in range(layers):
        at = f"encoder.layer.{number}."
        split = [linear(hidden, at + part).view(texts, length, HEADS, -1).transpose(1, 2) for part in PARTS[:3]]
        mixed = (
            functional.scaled_dot_product_attention(*split, attn_mask=attended).transpose(1, 2).reshape(hidden.shape)
        )
        mixed = functional.dropout(linear(mixed, at + PARTS[3]), dropout, dropout > 0)
        hidden = normal(hidden + mixed, f"{at}attention.output.")
        wide = linear(functional.gelu(linear(hidden, f"{at}intermediate.dense")), f"{at}output.dense")
        hidden = normal(hidden + functional.dropout(wide, dropout, dropout > 0), f"{at}output.")
    return hidden


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
    layers: int = 4
    """Of the embedder's six, the first so many are run."""
    batch: int = 64
    seed: int = 0


def train(
    data: Data,
    chosen: np.ndarray,
    options: Options,
    base: dict[str, Tensor],
    device: str,
) -> Adapted:
    """Train on some questions, first for one epoch on those that were made, then on the others."""
    torch.manual_seed(options.seed)
    random = np.random.default_rng(options.seed)
    model = Adapted(base, options.rank, options.layers).to(device).train()
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
def read(model: Adapted, data: Data, at: np.ndarray, *, bridge: bool, device: str) -> np.ndarray:
    """Return the scores of candidates."""
    scores = np.zeros(len(at), np.float32)
    order = np.argsort(-data.lengths[at], kind="stable")
    tensors = {**model.base, **model.merge()}
    head, bias = model.tensor("head.weight"), model.tensor("head.bias")
    for begin in range(0, len(order), 1024):
        some = order[begin : begin + 1024]
        ids, mask = data.batch(at[some], bridge=bridge)
        with torch.autocast(device, torch.bfloat16, enabled=device == "cuda"):
            hidden = encode(tensors, ids, mask, layers=model.layers)
        scores[some] = functional.linear(hidden[:, 0].float(), head, bias)[:, 0].cpu().numpy()
    return scores


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

    def fit(self, title: str, chosen: np.ndarray, judged: np.ndarray, options: Options) -> tuple[Adapted, np.ndarray]:
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

    def add(self, head: np.ndarray, model: Adapted) -> np.ndarray:
        return head + (self.data.features @ model.first.detach()).cpu().numpy()

    def layers(self, options: Options) -> None:
        """Run fewer or more layers, on the first fold."""
        chosen, judged = np.flatnonzero(self.data.fold != 0), np.flatnonzero(self.data.fold == 0)
        for layers in (6, 3):
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
