"""Rank the questions of a corpus by `blend`, for training over what the default search finds.

usage: python -m bridge_reader.rank RANKINGS NAME ...     (names as in `corpora.DATASETS`)

Each corpus is indexed with the defaults (local triples), which takes about a minute of CPU time for 1,000 passages.
RANKINGS/NAME.npz has, of each question, the rows of the first 60 passages and their scores, with the tail and without.
"""

import os
import sys
import tempfile
from pathlib import Path

import numpy as np

import triplebeam
from bridge_reader.corpora import Corpus, read_dataset

DEPTH, BATCH = 60, 100
METHODS = ("blend", "blend[without=tail]")


def rank_questions(corpus: Corpus, folder: Path) -> dict[str, np.ndarray]:
    """Index a corpus and rank its questions by each method."""
    index = triplebeam.Index(folder)
    index.add_documents(
        ({"id": each.id, "title": each.title, "text": each.text, **each.metadata} for each in corpus.passages),
        extractor="local",
    )
    places = {passage.id: row for row, passage in enumerate(corpus.passages)}
    texts = [each.question for each in corpus.questions]
    found: dict[str, np.ndarray] = {"ids": np.array([each.id for each in corpus.questions])}
    for method in METHODS:
        rows, scores = np.full((len(texts), DEPTH), -1, np.int32), np.zeros((len(texts), DEPTH), np.float32)
        retriever = index.retriever(method)
        for at in range(0, len(texts), BATCH):
            for number, ranking in enumerate(retriever.retrieve_many(texts[at : at + BATCH], DEPTH), at):
                rows[number, : len(ranking)] = [places[hit.passage_id] for hit in ranking]
                scores[number, : len(ranking)] = [hit.score for hit in ranking]
        found |= {f"{method}/top": rows, f"{method}/scores": scores}
    return found


def main() -> None:
    """Rank the questions of each corpus that is named."""
    out, *names = sys.argv[1:]
    Path(out).mkdir(parents=True, exist_ok=True)
    for name in names:
        corpus = read_dataset(Path(os.environ["TRIPLEBEAM_DATA"]), name)
        with tempfile.TemporaryDirectory() as folder:
            np.savez_compressed(Path(out, f"{corpus.name}.npz"), **rank_questions(corpus, Path(folder, "index")))
        print(corpus.name, len(corpus.questions), "questions", flush=True)


if __name__ == "__main__":
    main()
