"""Methods side by side: names become methods, methods are asked, results are kept; and tuning by one's own questions.

An index measures itself how much the default search relies on walks (`index.content.entities`). Questions with
gold passages know better, if there are enough of them: a share is chosen on one half and measured on the other, and the
other way round. Only where that is better than the index's own share beyond chance, the best share over all questions
takes its place.
"""

import hashlib
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from pathlib import Path

import numpy as np
from numpy.typing import NDArray

from triplebeam.answer import Agent
from triplebeam.assemble.context import Context
from triplebeam.assemble.method import Method
from triplebeam.assemble.models import make_embedder, open_source
from triplebeam.assemble.reader import IndexReader
from triplebeam.embed.embedder import Embedder
from triplebeam.errors import BadInputError
from triplebeam.evaluate.ask_all import CountingEmbedder, ask_all
from triplebeam.evaluate.compare import MAX_P_VALUE, Difference, compare_paired
from triplebeam.evaluate.measures import values
from triplebeam.evaluate.questions import Question, find_gold, read_questions
from triplebeam.evaluate.run import Evaluation, QuestionResult, Run, RunFile, run_key
from triplebeam.generate.accounting import compute_cost
from triplebeam.generate.language_model import LanguageModel, Usage
from triplebeam.index.folder.snapshot import Snapshot
from triplebeam.index.location import Location
from triplebeam.index.source import Source
from triplebeam.retrieve.blend.blend import Blend
from triplebeam.retrieve.retriever import Retriever, retrieve_many
from triplebeam.settings import Settings
from triplebeam.system.work import Progress, ignore_progress
from triplebeam.where import parse


@dataclass(frozen=True, kw_only=True)
class Corpus:
    """Methods to compare on the questions of one index."""

    name: str
    index: Location
    questions: Path
    methods: tuple[str, ...]
    query_entities: Path | None = None
    where: str | None = None
    """A filter: only the passages for which it holds are searched."""


@dataclass(frozen=True, kw_only=True)
class Evaluator:
    """Compares methods on the questions of one corpus.

    Every name is read and every gold passage looked up before the first question is asked: a typo costs nothing.
    """

    settings: Settings
    seeds: Sequence[int] = ()
    limit: int | None = None
    again: bool = False
    """Measure again what was measured before."""
    parallel: int = 1
    """Questions that are asked at once of a method that calls a model."""
    always_answer: bool = False
    """Whether the last reading of every agent has to answer."""
    embedder: Embedder | None = None
    model: LanguageModel | None = None
    """Without a name, such as your own; the index's and the settings' unless given."""
    progress: Progress = ignore_progress

    def evaluate(self, corpus: Corpus) -> Evaluation:
        """All methods on all questions."""
        methods = [Method.parse(method) for method in corpus.methods]
        for method in methods:
            if method.run:
                raise BadInputError(
                    f"{method.text!r} is a run of another system: compare it in `triplebeam research experiment`."
                )
        opened = self.open(corpus, read_questions(corpus.questions)[: self.limit])
        runs = self.run_all(opened, methods)
        return Evaluation(
            title=corpus.name,
            questions=opened.questions,
            runs=[run for method in methods for run in runs[method]],
            triples_of_gold=opened.count_triples_of_gold(),
        )

    def open(self, corpus: Corpus, questions: Sequence[Question]) -> "OpenedCorpus":
        """Open the index, filter it where the corpus says so, and look up the gold passages of the questions."""
        source = open_source(corpus.index)
        questions = find_gold(questions, source.passages)
        if corpus.where is not None:
            source, questions = self._visible(corpus.where, source, questions)
        name = self.settings.embedder or source.manifest.embedder.name
        counting = CountingEmbedder(self.embedder or make_embedder(name, self.settings, self.progress))
        context = Context(
            source,
            self.settings,
            counting,
            self.model,
            query_entities=corpus.query_entities,
            always_answer=self.always_answer,
            gold={each.question: each.gold for each in questions if each.gold},
        )
        return OpenedCorpus(context, counting, questions)

    def run_all(self, opened: "OpenedCorpus", methods: Sequence[Method]) -> Mapping[Method, list[Run]]:
        """Ask every method every question, with every seed. What the index lacks is said before the first question."""
        for method in methods:
            for seed in self._seeds_of(method):
                opened.build(method, seed)
        return {method: [self._run(opened, method, seed) for seed in self._seeds_of(method)] for method in methods}

    def _visible(self, where: str, source: Source, questions: Sequence[Question]) -> tuple[Source, list[Question]]:
        """Return the view of a filter, and the questions that can be answered from it."""
        visible = Context(source, self.settings, self.embedder).view(parse(where)).source
        kept = [question for question in questions if all(each in visible.passages for each in question.gold)]
        if not kept:
            raise BadInputError(f"no question has all of its gold passages among those that match {where!r}.")
        return visible, kept

    def _seeds_of(self, method: Method) -> Sequence[int | None]:
        """Only what calls a model is sampled."""
        return list(dict.fromkeys(self.seeds)) if self.seeds and method.uses_model else [None]

    def _run(self, opened: "OpenedCorpus", method: Method, seed: int | None) -> Run:
        folder = self.settings.results or self.settings.home / "runs"
        path = folder / f"{opened.key(method, seed)}.jsonl"
        if self.again:
            path.unlink(missing_ok=True)
        results = ask_all(
            method.text,
            opened.build(method, seed),
            opened.questions,
            kept=RunFile(path),
            encoded=lambda: opened.counting.encoded,
            warming=not method.uses_model,
            parallel=self.parallel if method.uses_model else 1,
            progress=self.progress,
        )
        name = f"{method} (seed {seed})" if len(self._seeds_of(method)) > 1 else method.text
        # Agents do more than search, and the bound ``gold`` does not search at all.
        searches = not method.is_agent and method.parts[0].row.name != "gold"
        graph = method.uses_graph if searches else None
        return Run(method=name, results=results, seed=seed, dollars=self._dollars(results), graph=graph)

    def _dollars(self, results: Sequence[QuestionResult]) -> float | None:
        """Return what the calls cost, or would have cost where they were had from the cache."""
        total = sum((result.usage for result in results), Usage()).mark_cached()
        if not total.cached_calls:
            return None
        paid = Usage(tokens_in=total.cached_tokens_in, tokens_out=total.cached_tokens_out)
        return compute_cost(paid, self.settings.model or "", self.settings.prices)


@dataclass(frozen=True)
class OpenedCorpus:
    """An index with its questions, and its methods by name and seed."""

    context: Context
    counting: CountingEmbedder
    questions: Sequence[Question] = ()

    def build(self, method: Method, seed: int | None) -> Retriever | Agent:
        """Each has a context of its own: none is spared an encoding by the one before it."""
        settings = self.context.settings.model_copy(update={"seed": seed})
        return method.build(replace(self.context, settings=settings))

    def key(self, method: Method, seed: int | None) -> str:
        """Everything a result depends on."""
        settings, given, source = self.context.settings, self.context.given_model, self.context.source
        packages = {part.row.build.__module__.partition(".")[0] for part in method.every_part()}
        return run_key(
            {
                **self._beside_the_index(method),
                "method": method.text,
                **({"always_answer": True} if self.context.always_answer and method.is_agent else {}),
                "seed": seed,
                "index": source.manifest.model_dump(mode="json"),
                "rows": source.rows.tolist() if isinstance(source, Snapshot) else list(map(str, self.context.filters)),
                "embedder": self.counting.fingerprint,
                "models": [(each.model, each.base_url) for each in map(settings.endpoint, ("answering", "reading"))],
                "given_model": given.name if given else None,
                "max_tokens": settings.max_tokens,
                "parameters": settings.parameters,
            },
            sorted(packages),
        )

    def count_triples_of_gold(self) -> dict[str, float]:
        """GeAR's triple density: the mean number of triples of a question's gold passages."""
        triples = self.context.triples
        if not len(triples):
            return {}
        return {
            question.id: len(triples.triples_of(question.gold)) / len(question.gold)
            for question in self.questions
            if question.gold
        }

    def _beside_the_index(self, method: Method) -> dict[str, object]:
        """Return what a method reads that the index does not hold."""
        context, read = self.context, dict[str, object]()
        for part in method.every_part():
            if part.values.get("entities") == "given" and context.query_entities:
                read["entities"] = _digest(context.query_entities)
            if part.row.name == "gold":
                read["gold"] = context.gold
            for path in part.values.values():
                if isinstance(path, Path):
                    read[f"weights {path}"] = _digest(path)
        return read


def _digest(path: Path) -> str:
    try:
        return hashlib.sha256(path.read_bytes()).hexdigest()
    except OSError as error:
        raise BadInputError(f"{path} cannot be read ({error.strerror}): name a readable file.") from error


SHARES = (0.0, 0.25, 0.5, 0.75, 1.0)
_MEASURES = ("R@5", "R@10")
_DEPTH = 10


@dataclass(frozen=True)
class Tuning:
    """What was measured."""

    own: float
    """The share that the index measured itself."""
    recall: Mapping[float, float]
    """By share: the mean of R@5 and R@10 over all questions."""
    difference: Difference
    """Of shares chosen on the other half of the questions, against the index's own."""

    @property
    def chosen(self) -> float | None:
        """The share to use instead of the index's own; None: none is better beyond chance."""
        better = self.difference.mean > 0 and self.difference.p_value < MAX_P_VALUE
        return max(self.recall, key=self.recall.__getitem__) if better else None


def measure_shares(index: IndexReader, questions: Sequence[Question]) -> Tuning:
    """Measure the default search with every share, on the questions that have gold passages."""
    asked = [question for question in find_gold(questions, index.passages) if question.gold]
    if len(asked) < 2:
        raise BadInputError(f"{len(asked)} questions have gold passages: tuning needs two or more, better a hundred.")
    own = index.status.ownership.share
    recall = {share: _recall(index, share, asked) for share in sorted({*SHARES, own})}
    return Tuning(
        own,
        {share: float(each.mean()) for share, each in recall.items()},
        compare_paired(recall[own], _cross_checked(recall)),
    )


def _recall(index: IndexReader, share: float, questions: Sequence[Question]) -> NDArray[np.float64]:
    blend = index.retriever("blend")
    assert isinstance(blend, Blend)
    found = retrieve_many(replace(blend, share=share), [question.question for question in questions], _DEPTH)
    results = [
        QuestionResult(question_id=question.id, passage_ids=tuple(ranking.ids))
        for question, ranking in zip(questions, found, strict=True)
    ]
    both = [values(measure, questions, results) for measure in _MEASURES]
    return np.asarray(np.mean(both, axis=0))


def _cross_checked(recall: Mapping[float, NDArray[np.float64]]) -> NDArray[np.float64]:
    """Each question's recall with the share that is best on the other half of the questions."""
    by_share = np.array(list(recall.values()))
    checked = np.empty(by_share.shape[1])
    for half in (0, 1):
        best = by_share[:, 1 - half :: 2].mean(axis=1).argmax()
        checked[half::2] = by_share[best, half::2]
    return checked
