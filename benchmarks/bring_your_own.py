"""What graph expansion adds to five ordinary retrievers, each alone and with +naive_ge.

    python benchmarks/bring_your_own.py INDEX QUESTIONS [--count N] [--results FILE]

Without arguments it indexes the toy corpus into a temporary folder. No language model is called. The figures are those
of the table in docs/bring-your-own-retriever.md.
"""

import argparse
import math
import re
import tempfile
from collections import Counter, defaultdict
from collections.abc import Callable, Iterator
from pathlib import Path

import numpy as np
from langchain_core.documents import Document
from langchain_core.embeddings import Embeddings
from langchain_core.vectorstores import InMemoryVectorStore

from triplebeam import demo
from triplebeam.adapters.langchain import from_langchain
from triplebeam.adapters.retriever import from_function
from triplebeam.assemble import Index, open_index
from triplebeam.evaluate.ask_all import ask_all
from triplebeam.evaluate.questions import Question, find_gold, read_questions
from triplebeam.evaluate.run import Evaluation, Run
from triplebeam.passage import Passage
from triplebeam.retrieve.retriever import Retriever
from triplebeam.settings import read_settings
from triplebeam_research.experiments.output import add_results, render_across

MEASURES = ("R@5", "R@15")


def passages(collection: Index) -> Iterator[Passage]:
    return (collection.passages.at(row) for row in range(len(collection.passages)))


class StoredVectors(Embeddings):
    """The index's embedder for LangChain; passages are not encoded again, their vectors lie in the index."""

    def __init__(self, collection: Index) -> None:
        self._collection = collection
        self._rows = {passage.searchable: row for row, passage in enumerate(passages(collection))}

    def embed_documents(self, texts: list[str]) -> list[list[float]]:
        return self._collection.snapshot.passage_vectors.rows[[self._rows[text] for text in texts]].tolist()

    def embed_query(self, text: str) -> list[float]:
        return self._collection.embedder.embed([text], kind="query")[0].tolist()


def vector_store(collection: Index) -> Retriever:
    """LangChain's own store in memory, as someone would have it already."""
    store = InMemoryVectorStore(StoredVectors(collection))
    store.add_documents([Document(each.searchable, metadata={"id": each.id}) for each in passages(collection)])
    for kept in store.store.values():
        kept["vector"] = np.array(kept["vector"], np.float32)  # a list of numbers is turned into this at every search
    return from_langchain(store.as_retriever(), collection)


def plain_function(collection: Index) -> Retriever:
    """TF-IDF by hand."""
    counts = {passage.id: Counter(re.findall(r"\w+", passage.searchable.lower())) for passage in passages(collection)}
    holders: defaultdict[str, list[str]] = defaultdict(list)
    for passage_id, words in counts.items():
        for word in words:
            holders[word].append(passage_id)

    def search(query: str, k: int) -> list[str]:
        scores: Counter[str] = Counter()
        for word in dict.fromkeys(re.findall(r"\w+", query.lower())):
            rarity = math.log(len(counts) / len(holders[word])) if word in holders else 0.0
            for passage_id in holders.get(word, ()):
                scores[passage_id] += (
                    rarity * (1 + math.log(counts[passage_id][word])) / counts[passage_id].total() ** 0.5
                )
        return sorted(scores, key=lambda passage_id: (-scores[passage_id], passage_id))[:k]

    return from_function(search, collection)


BASES: dict[str, Callable[[Index], Retriever]] = {
    "bm25": lambda collection: collection.retriever("bm25"),
    "dense": lambda collection: collection.retriever("dense"),
    "hybrid": lambda collection: collection.retriever("hybrid"),
    "LangChain vector store": vector_store,
    "plain function (TF-IDF)": plain_function,
}


def compared(collection: Index, questions: list[Question]) -> Evaluation:
    """Each base alone and expanded."""
    runs = []
    for name, make in BASES.items():
        base = make(collection)
        for method, retriever in {name: base, f"{name}+naive_ge": collection.expand(base)}.items():
            runs.append(Run(method=method, results=ask_all(method, retriever, questions)))
    manifest = collection.status
    triples = ", ".join(f"{count:,} by {name}" for name, count in manifest.triples_by_extractor.items())
    facts = {"embedder": manifest.embedder.name, "triples": triples}
    return Evaluation(title="Bring your own retriever", questions=questions, runs=runs, facts=facts)


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("index", nargs="?", type=Path)
    parser.add_argument("questions", nargs="?", type=Path)
    parser.add_argument("--count", type=int, help="how many questions, from the first; all unless given")
    parser.add_argument("--results", type=Path, help="a file to put the figures into, such as benchmarks/results.json")
    arguments = parser.parse_args()
    with tempfile.TemporaryDirectory() as folder:
        index = arguments.index or Path(folder) / "toy.index"
        collection = open_index(index) if arguments.index else demo.build(index, read_settings())
        questions = (
            read_questions(arguments.questions)
            if arguments.questions
            else [Question(id=each.id, question=each.question, gold=each.gold) for each in demo.questions()]
        )[: arguments.count]
        evaluation = compared(collection, find_gold(questions, collection.passages))
        print(render_across([evaluation], [index.name], MEASURES))
        if arguments.results:
            add_results(arguments.results, index, "", evaluation)


if __name__ == "__main__":
    main()
