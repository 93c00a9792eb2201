"""The demo: a small corpus is indexed, and plain search and graph expansion answer the same question side by side."""

import json
from collections.abc import Sequence
from dataclasses import dataclass, field
from importlib.resources import files
from pathlib import Path
from typing import Any

from triplebeam.answer import Run
from triplebeam.assemble import DEFAULT_METHOD, Context, Index, IndexReader, context_of, open_index
from triplebeam.assemble.indexing import index_builder
from triplebeam.errors import BadInputError, EndpointError
from triplebeam.generate.language_model import Completion, Prompt, Usage
from triplebeam.index.folder.manifest import is_index
from triplebeam.index.folder.snapshot import Snapshot
from triplebeam.index.location import parse_location
from triplebeam.passage import Document
from triplebeam.ranking import Ranking
from triplebeam.settings import Settings
from triplebeam.system.work import Progress, ignore_progress
from triplebeam.testing.toy import Question, passages, questions


@dataclass(frozen=True)
class Recording:
    """A reply, the template it answered, and texts that the prompt must show for the reply to make sense."""

    template: str
    shows: tuple[str, ...]
    reply: str
    tokens_in: int = 0
    tokens_out: int = 0

    def fits(self, prompt: Prompt) -> bool:
        """Was it made for such a prompt?"""
        return prompt.template == self.template and all(text in prompt.user for text in self.shows)


def read_recordings(content: str) -> list[Recording]:
    """Read recordings from JSON: a list of objects with the fields above, the reply being an object."""
    rows: list[dict[str, Any]] = json.loads(content)
    return [Recording(**{**row, "shows": tuple(row["shows"]), "reply": json.dumps(row["reply"])}) for row in rows]


@dataclass(frozen=True)
class Recorded:
    """Replies from recordings; a prompt that none fits is an error, never a guess. Its replies count as cached."""

    recordings: Sequence[Recording] = field(repr=False)
    name: str = "recorded"

    def complete(self, prompts: Sequence[Prompt]) -> list[Completion]:
        """Return the first recording that fits each prompt."""
        return [self._completion(prompt) for prompt in prompts]

    def _completion(self, prompt: Prompt) -> Completion:
        found = next((recording for recording in self.recordings if recording.fits(prompt)), None)
        if found is None:
            raise EndpointError(
                f"no recorded completion fits this {prompt.template!r} prompt: configure a model to go on from here."
            )
        paid = Usage(calls=1, tokens_in=found.tokens_in, tokens_out=found.tokens_out)
        return Completion(text=found.reply, usage=paid.mark_cached())


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
        """Return the share of the passages the question needs."""
        return sum(id_ in ranking.ids[:K] for id_ in self.question.gold) / len(self.question.gold)


def build(folder: Path, settings: Settings, progress: Progress = ignore_progress) -> Index:
    """Index the toy corpus: triples by the local extractor, vectors by the default embedder."""
    _check_free(folder)
    builder = index_builder(parse_location(folder, settings.state), settings, progress=progress)
    builder.build(Document(id=p.id, title=p.title, text=p.text, is_passage=True) for p in passages())
    return open_index(folder, embedder=builder.embedder, settings=settings)


def _check_free(folder: Path) -> None:
    """Check that the demo does not mix its corpus into an index of the user's own."""
    if is_index(folder):
        known = Snapshot.open(folder).passages
        if len(known) != len(passages()) or not all(passage.id in known for passage in passages()):
            raise BadInputError(f"{folder} is an index with other documents: name another folder for the demo's index.")


def compare(collection: Index) -> list[Comparison]:
    """Every question of the toy corpus, asked both ways."""
    plain, graph = collection.retriever(PLAIN), collection.retriever(GRAPH)
    return [Comparison(q, plain.retrieve(q.question, K), graph.retrieve(q.question, K)) for q in questions()]


def asked_through_agent(collection: Index) -> tuple[str, Run]:
    """Whose words the agent uses, and its run: a model's where one is configured, else recorded ones."""
    question = next(each.question for each in questions() if each.id == SHOWN)
    if collection.settings.model:
        return f"the model {collection.settings.model}", collection.agent("agent").run(question)
    recordings = read_recordings(files(__name__).joinpath("completions.json").read_text("utf-8"))
    context = context_of(collection)
    recorded = IndexReader(Context(context.source, context.settings, context.given_embedder, Recorded(recordings)))
    return "completions recorded with the demo", recorded.agent("agent").run(question)
