"""The demo: a small corpus is indexed, and plain search and graph expansion answer the same question side by side."""

from dataclasses import dataclass
from pathlib import Path

from triplebeam.assemble import Collection, make_embedder, make_extractor, open_collection
from triplebeam.evaluate.bench import recall
from triplebeam.index.build import IndexBuilder
from triplebeam.passage import Document
from triplebeam.progress import Progress, silent
from triplebeam.ranking import Ranking
from triplebeam.settings import Settings
from triplebeam.testing.toy import Question, passages, questions

PLAIN = "hybrid"
GRAPH = "hybrid+naive_ge"
K = 5
SHOWN = "uranus-birthplace"


@dataclass(frozen=True)
class Comparison:
    """One question, asked both ways."""

    question: Question
    plain: Ranking
    graph: Ranking

    @property
    def only_graph(self) -> list[str]:
        """Passages the question needs that only the graph found."""
        return [id_ for id_ in self.question.gold if id_ in self.graph.ids and id_ not in self.plain.ids]

    def recall(self, ranking: Ranking) -> float:
        """The share of the passages the question needs."""
        return recall(ranking, self.question.gold, K)


def build(folder: Path, settings: Settings, progress: Progress = silent) -> Collection:
    """Index the toy corpus: triples by the local extractor, vectors by the default embedder."""
    embedder = make_embedder("minilm", settings, progress)
    builder = IndexBuilder(
        folder=folder, embedder=embedder, extractor=make_extractor("local", None, settings, progress), progress=progress
    )
    builder.build(Document(id=p.id, title=p.title, text=p.text, is_passage=True) for p in passages())
    return open_collection(folder, embedder=embedder, settings=settings)


def compare(collection: Collection) -> list[Comparison]:
    """Every question of the toy corpus, asked both ways."""
    plain, graph = collection.retriever(PLAIN), collection.retriever(GRAPH)
    return [Comparison(q, plain.retrieve(q.question, K), graph.retrieve(q.question, K)) for q in questions()]
