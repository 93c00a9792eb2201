"""Recall on real questions: the graph must be worth its walk. In `make trials`: the index takes minutes."""

from pathlib import Path

import pytest

from trials import TRIAL
from triplebeam.assemble import Index, open_index
from triplebeam.embed.embedder import Embedder
from triplebeam.evaluate.ask_all import ask_all
from triplebeam.evaluate.measures import values
from triplebeam.evaluate.questions import Question, find_gold, read_questions
from triplebeam.extract.triples_file import TriplesFile
from triplebeam.index.build.build import IndexBuilder
from triplebeam.ingest import read_sources

pytestmark = [pytest.mark.slow, pytest.mark.data, TRIAL]


@pytest.fixture(scope="module")
def questions(data: Path) -> list[Question]:
    return read_questions(data / "musique_train" / "questions.jsonl.gz")


@pytest.fixture(scope="module")
def collection(
    data: Path, minilm: Embedder, questions: list[Question], tmp_path_factory: pytest.TempPathFactory
) -> Index:
    """MuSiQue's small training corpus with GPT-3.5's triples."""
    folder, source = tmp_path_factory.mktemp("musique") / "index", data / "musique_train"
    triples = TriplesFile(source / "triples.gpt-3.5-turbo-1106.jsonl.gz")
    IndexBuilder(folder=folder, embedder=minilm, extractor=triples).build(read_sources([source / "corpus.jsonl.gz"]))
    collection = open_index(folder, embedder=minilm)
    find_gold(questions, collection.passages)
    return collection


def test_graph_methods_beat_their_bases(collection: Index, questions: list[Question]) -> None:
    methods = ("hybrid", "hybrid+naive_ge", "dense", "hipporag2", "blend")
    results = {method: ask_all(method, collection.retriever(method), questions) for method in methods}

    def recall(method: str, k: int) -> float:
        return float(values(f"R@{k}", questions, results[method]).mean())

    assert recall("hybrid+naive_ge", 15) > recall("hybrid", 15) + 0.02
    assert recall("hybrid+naive_ge", 5) >= recall("hybrid", 5)
    assert recall("hipporag2", 15) > recall("dense", 15) + 0.02
    assert recall("blend", 15) > recall("hybrid+naive_ge", 15)
    assert recall("blend", 5) > recall("hybrid", 5) + 0.05
