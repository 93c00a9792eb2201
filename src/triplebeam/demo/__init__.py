"""The demo: a small corpus is indexed, and plain search and graph expansion answer the same question side by side."""

from collections.abc import Generator
from dataclasses import dataclass, replace
from importlib.resources import files
from pathlib import Path

from triplebeam.answer import Answer, Step
from triplebeam.assemble import (
    DEFAULT_EMBEDDER,
    DEFAULT_METHOD,
    Collection,
    make_embedder,
    make_extractor,
    open_collection,
)
from triplebeam.errors import BadInputError
from triplebeam.generate.recorded import Recorded, read_recordings
from triplebeam.index.build import IndexBuilder
from triplebeam.index.manifest import is_index
from triplebeam.index.opened import Index
from triplebeam.passage import Document
from triplebeam.progress import Progress, silent
from triplebeam.ranking import Ranking
from triplebeam.settings import Settings
from triplebeam.testing.toy import Question, passages, questions

PLAIN = "hybrid"
GRAPH = DEFAULT_METHOD
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
        return sum(id_ in ranking.ids[:K] for id_ in self.question.gold) / len(self.question.gold)


def build(folder: Path, settings: Settings, progress: Progress = silent) -> Collection:
    """Index the toy corpus: triples by the local extractor, vectors by the default embedder."""
    _check_free(folder)
    embedder = make_embedder(DEFAULT_EMBEDDER, settings, progress)
    builder = IndexBuilder(
        folder=folder, embedder=embedder, extractor=make_extractor("local", None, settings, progress), progress=progress
    )
    builder.build(Document(id=p.id, title=p.title, text=p.text, is_passage=True) for p in passages())
    return open_collection(folder, embedder=embedder, settings=settings)


def _check_free(folder: Path) -> None:
    """The demo must not mix its corpus into an index of the user's own."""
    if is_index(folder):
        known = Index.open(folder).passages
        if len(known) != len(passages()) or not all(passage.id in known for passage in passages()):
            raise BadInputError(f"{folder} is an index with other documents: name another folder for the demo's index.")


def compare(collection: Collection) -> list[Comparison]:
    """Every question of the toy corpus, asked both ways."""
    plain, graph = collection.retriever(PLAIN), collection.retriever(GRAPH)
    return [Comparison(q, plain.retrieve(q.question, K), graph.retrieve(q.question, K)) for q in questions()]


def asked_through_agent(collection: Collection) -> tuple[str, Generator[Step, None, Answer]]:
    """Whose words the agent uses, and its steps: a model's where one is configured, else recorded ones."""
    question = next(each.question for each in questions() if each.id == SHOWN)
    if collection.settings.model:
        return f"the model {collection.settings.model}", collection.agent("gear").steps(question)
    recordings = read_recordings(files(__name__).joinpath("completions.json").read_text("utf-8"))
    recorded = replace(collection, given_model=Recorded(recordings))
    return "completions recorded with the demo", recorded.agent("gear").steps(question)
