"""Pack corpora, questions and the embedder's weights into one folder, for training where nothing is installed.

usage: python -m bridge_reader.pack OUT [--manual NAME=FOLDER=PATTERN[=QUESTIONS] ...]

A passage is its tokens, each with the number of its word's term (`triplebeam.text.terms`): what the trainer needs for
BM25, for rare words and for windows around them. Weights are stored as the int8 groups that they were published in.
"""

import argparse
import json
import lzma
import os
from collections.abc import Sequence
from pathlib import Path
from typing import Any

import numpy as np
import platformdirs
from numpy.typing import NDArray
from safetensors.numpy import load_file
from tokenizers import Tokenizer

from bridge_reader.chains import make_chains
from bridge_reader.corpora import DATASETS, Corpus, read_dataset, read_manual
from triplebeam.passage import SHARED_TITLE, metadata_terms
from triplebeam.text.terms import locate_words, query_words, text_words

GROUP = 64
MAX_TOKENS = 2000
#: Made questions for each corpus, by kind.
MADE = {"wiki": 3000, "news": 1500, "chats": 800, "novels": 2500, "manuals": 2500}


def pack_weights(tensors: dict[str, NDArray[np.float32]]) -> dict[str, NDArray[Any]]:
    """Recover the int8 groups of each matrix, exactly; what is in none stays as it is."""
    packed: dict[str, NDArray[Any]] = {}
    for name, tensor in tensors.items():
        if tensor.size % GROUP == 0 and tensor.ndim == 2:
            groups = tensor.reshape(-1, GROUP)
            steps = (np.abs(groups).max(axis=1) / np.float32(127)).astype(np.float32)
            whole = np.round(groups / np.maximum(steps, 1e-20)[:, None]).astype(np.int8)
            if np.array_equal(whole.astype(np.float32) * steps[:, None], groups):
                packed[f"{name}/int8"], packed[f"{name}/steps"] = whole.reshape(tensor.shape), steps
                continue
        packed[name] = tensor
    return packed


class Packer:
    """Texts as tokens and terms."""

    def __init__(self, folder: Path) -> None:
        self._tokenizer = Tokenizer.from_file(str(folder / "tokenizer.json"))
        self._tokenizer.no_padding()
        self._tokenizer.no_truncation()

    def pack(self, corpus: Corpus) -> dict[str, NDArray[Any]]:
        """Pack a corpus; terms are numbered in the order they are met."""
        numbers: dict[str, int] = {}
        texts = [passage.searchable for passage in corpus.passages]
        encodings = self._tokenizer.encode_batch(texts, add_special_tokens=False)
        tokens, terms = zip(*(self._place(*each, numbers) for each in zip(texts, encodings, strict=True)), strict=True)
        titles = [f"{passage.title}\n" if passage.title else "" for passage in corpus.passages]
        in_title = [
            sum(end <= len(title) for _, end in encoding.offsets)
            for title, encoding in zip(titles, encodings, strict=True)
        ]
        counted = {title: titles.count(title) for title in set(titles)}
        extra = [
            [numbers.setdefault(term, len(numbers)) for text in metadata_terms(p.metadata) for term in text_words(text)]
            for p in corpus.passages
        ]
        questions = [
            (each, [numbers[w] for w in query_words(each.question) if w in numbers]) for each in corpus.questions
        ]
        asked = self._tokenizer.encode_batch([each.question for each, _ in questions], add_special_tokens=False)
        return {
            **_ragged("tokens", tokens, np.uint16),
            **_ragged("terms", terms, np.int32),
            **_ragged("extra", extra, np.int32),
            "in_title": np.array(in_title, np.int32),
            "shared_title": np.array([counted[title] > SHARED_TITLE for title in titles]),
            **_ragged("question_tokens", [each.ids for each in asked], np.uint16),
            **_ragged("question_terms", [terms for _, terms in questions], np.int32),
            **_ragged("gold", [each.gold for each, _ in questions], np.int32),
            "fold": np.array([each.fold for each, _ in questions], np.int8),
            "vocabulary": np.array(len(numbers)),
        }

    def _place(self, text: str, encoding: Any, numbers: dict[str, int]) -> tuple[list[int], NDArray[np.int32]]:
        """Return a text's tokens, of each its term's number and, in the lowest bit, whether it begins the word."""
        ids, offsets = encoding.ids[:MAX_TOKENS], np.array(encoding.offsets[:MAX_TOKENS], np.int64).reshape(-1, 2)
        placed = list(locate_words(text))
        terms = np.full(len(ids), -1, np.int32)
        if placed and len(ids):
            starts = np.array([start for start, _, _ in placed])
            numbered = np.array([numbers.setdefault(term, len(numbers)) for _, _, term in placed], np.int32)
            word = np.searchsorted(starts, offsets[:, 1] - 1, side="right") - 1
            ends = np.array([end for _, end, _ in placed])
            inside = (word >= 0) & (offsets[:, 1] - 1 < ends[word])
            first = np.append(True, word[1:] != word[:-1])
            terms[inside] = (2 * numbered[word] + first)[inside]
        return ids, terms


def _ragged(name: str, rows: Sequence[Any], kind: Any) -> dict[str, NDArray[Any]]:
    lengths = np.array([len(row) for row in rows], np.int32)
    flat = np.concatenate([np.asarray(row, kind) for row in rows]) if len(rows) else np.zeros(0, kind)
    return {f"{name}/flat": flat, f"{name}/lengths": lengths}


def save(path: Path, arrays: dict[str, NDArray[Any]]) -> None:
    """Write arrays one after the other, compressed, behind a line that says what they are."""
    head = [(name, array.dtype.str, array.shape) for name, array in arrays.items()]
    body = b"".join(np.ascontiguousarray(array).tobytes() for array in arrays.values())
    path.write_bytes(lzma.compress(json.dumps(head).encode() + b"\n" + body, preset=2))


def main() -> None:
    """Pack everything."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("out", type=Path)
    parser.add_argument("--manual", action="append", default=[])
    given = parser.parse_args()
    given.out.mkdir(parents=True, exist_ok=True)
    folder = platformdirs.user_cache_path("triplebeam") / "granite-embedding-30m-english"
    packer, about, used = Packer(folder), [], {0, 1, 2}
    data = Path(os.environ["TRIPLEBEAM_DATA"])
    manuals = [manual.split("=") for manual in given.manual]
    corpora = [lambda name=name: read_dataset(data, name) for name in DATASETS] + [
        lambda parts=parts: read_manual(parts[0], Path(parts[1]), parts[2], Path(parts[3]) if parts[3:] else None)
        for parts in manuals
    ]
    for read in corpora:
        corpus = read()
        real = len(corpus.questions)
        corpus.questions += make_chains(corpus, MADE[corpus.kind])
        packed = packer.pack(corpus)
        used.update(np.unique(packed["tokens/flat"]).tolist(), np.unique(packed["question_tokens/flat"]).tolist())
        save(given.out / f"{corpus.name}.xz", packed)
        about.append({"name": corpus.name, "kind": corpus.kind, "ids": [each.id for each in corpus.questions[:real]]})
        print(corpus.name, len(corpus.passages), "passages,", real, "questions,", len(corpus.questions) - real, "made")
    tensors = load_file(folder / "model.safetensors")
    words = tensors["embeddings.word_embeddings.weight"]
    words[np.setdiff1d(np.arange(len(words)), sorted(used))] = 0  # no text has these tokens
    save(given.out / "weights.xz", pack_weights(tensors))
    (given.out / "corpora.json").write_text(json.dumps(about))


if __name__ == "__main__":
    main()
