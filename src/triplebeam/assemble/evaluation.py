"""From an experiment to its evaluation: names become methods, methods are asked, results are kept."""

import hashlib
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from pathlib import Path

from triplebeam.answer import Agent
from triplebeam.assemble.context import Context
from triplebeam.assemble.method import Method
from triplebeam.assemble.models import make_embedder
from triplebeam.embed.embedder import Embedder
from triplebeam.errors import BadInputError
from triplebeam.evaluate.ask_all import CountingEmbedder, ask_all
from triplebeam.evaluate.experiment import Corpus, Experiment
from triplebeam.evaluate.judge import judge
from triplebeam.evaluate.questions import Question, find_gold, read_questions
from triplebeam.evaluate.run import Evaluation, QuestionResult, Run
from triplebeam.evaluate.run_file import RunFile, run_key
from triplebeam.evaluate.trec import in_run, read_run
from triplebeam.generate.accounting import account, price
from triplebeam.generate.language_model import LanguageModel, Usage
from triplebeam.index.snapshot import Snapshot
from triplebeam.index.token_vectors import published_tokens
from triplebeam.index.triple_graph import TripleGraph
from triplebeam.progress import Progress, silent
from triplebeam.retrieve.retriever import Retriever
from triplebeam.settings import Settings
from triplebeam.where import parse


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
    embedder: Embedder | None = None
    model: LanguageModel | None = None
    """Without a name, such as your own; the index's and the settings' unless given."""
    judge: LanguageModel | None = None
    """Judges answers; the settings' unless given."""
    progress: Progress = silent

    def evaluate(self, experiment: Experiment, corpus: Corpus) -> Evaluation:
        """All methods on all questions."""
        questions = read_questions(corpus.questions)[: self.limit]
        methods = [Method.parse(method) for method in corpus.methods]  # a typo costs nothing
        given = {method: read_run(method.run) for method in methods if method.run}
        everyone = len(questions)
        questions = [question for question in questions if all(in_run(question, run) for run in given.values())]
        if not questions:
            raise BadInputError(
                f"no question of {corpus.questions} is in all of the runs {', '.join(map(str, given))}."
            )
        snapshot = Snapshot.open(corpus.index)
        experiment.index_settings.check(
            corpus.index,
            triples_in_context=snapshot.manifest.embedder.triples_in_context,
            keyword_passages=snapshot.manifest.keyword_passages,
        )
        questions = find_gold(questions, snapshot.passages)
        if corpus.where is not None:
            snapshot, questions = self._visible(corpus.where, snapshot, questions)
        opened = self._open(experiment, corpus, snapshot, questions)
        computed = [(method, seed) for method in methods if not method.run for seed in self._seeds_of(method)]
        for method, seed in computed:
            opened.build(method, seed)  # nor does what the index lacks
        runs = {
            (method, seed): self._run(opened, method, seed, questions, many=len(self._seeds_of(method)) > 1)
            for method, seed in computed
        }
        ordered = [
            _given_run(method, given[method], questions) if method in given else runs[method, seed]
            for method in methods
            for seed in ([None] if method.run else self._seeds_of(method))
        ]
        if experiment.judge:
            ordered = [self._judged(opened, run, questions) for run in ordered]
        return Evaluation(
            title=" · ".join(filter(None, [experiment.title, corpus.name])),
            questions=questions,
            runs=ordered,
            facts=_facts(opened, corpus, experiment, methods, len(questions), everyone),
            triples_of_gold=_triples_of_gold(opened.context.triples, questions),
        )

    def _visible(
        self, where: str, snapshot: Snapshot, questions: Sequence[Question]
    ) -> tuple[Snapshot, list[Question]]:
        """The view of a filter, and the questions that can be answered from it."""
        visible = Context(snapshot, self.settings, self.embedder).view(parse(where)).snapshot
        kept = [question for question in questions if all(each in visible.passages for each in question.gold)]
        if not kept:
            raise BadInputError(f"no question has all of its gold passages among those that match {where!r}.")
        return visible, kept

    def _open(
        self, experiment: Experiment, corpus: Corpus, snapshot: Snapshot, questions: Sequence[Question]
    ) -> "_Opened":
        name = self.settings.embedder or snapshot.manifest.embedder.name
        counting = CountingEmbedder(self.embedder or make_embedder(name, self.settings, self.progress))
        gold = {each.question: each.gold for each in questions if each.gold}
        context = Context(
            snapshot,
            self.settings,
            counting,
            self.model,
            given_judge=self.judge,
            query_entities=corpus.query_entities,
            always_answer=experiment.always_answer,
            gold=gold,
        )
        return _Opened(context, counting)

    def _seeds_of(self, method: Method) -> Sequence[int | None]:
        """Only what calls a model is sampled."""
        return list(dict.fromkeys(self.seeds)) if self.seeds and method.uses_model else [None]

    def _run(
        self, opened: "_Opened", method: Method, seed: int | None, questions: Sequence[Question], many: bool
    ) -> Run:
        folder = self.settings.results or self.settings.home / "runs"
        path = folder / f"{opened.key(method, seed)}.jsonl"
        if self.again:
            path.unlink(missing_ok=True)
        results = ask_all(
            method.text,
            opened.build(method, seed),
            questions,
            kept=RunFile(path),
            encoded=lambda: opened.counting.encoded,
            warming=not method.uses_model,
            parallel=self.parallel if method.uses_model else 1,
            progress=self.progress,
        )
        name = f"{method} (seed {seed})" if many else method.text
        return Run(
            method=name, results=results, seed=seed, dollars=self._dollars(results), graph=_searches_graph(method)
        )

    def _judged(self, opened: "_Opened", run: Run, questions: Sequence[Question]) -> Run:
        """With the judge's opinion of every answer; what that costs is not the method's cost."""
        if all(result.answer is None for result in run.results):
            return run
        with account():
            verdicts = judge(opened.context.judge, questions, run.results, self.progress)
        results = [replace(each, judged=verdict) for each, verdict in zip(run.results, verdicts, strict=True)]
        return replace(run, results=results)

    def _dollars(self, results: Sequence[QuestionResult]) -> float | None:
        """What the calls cost, or would have cost where they were had from the cache."""
        total = sum((result.usage for result in results), Usage()).as_cached()
        if not total.cached_calls:
            return None
        paid = Usage(tokens_in=total.cached_tokens_in, tokens_out=total.cached_tokens_out)
        return price(paid, self.settings.model or "", self.settings.prices)


@dataclass(frozen=True)
class _Opened:
    """An index, and its methods by name and seed."""

    context: Context
    counting: CountingEmbedder

    def build(self, method: Method, seed: int | None) -> Retriever | Agent:
        """Each has a context of its own: none is spared an encoding by the one before it."""
        settings = self.context.settings.model_copy(update={"seed": seed})
        return method.build(replace(self.context, settings=settings))

    def key(self, method: Method, seed: int | None) -> str:
        """Everything a result depends on."""
        settings, given = self.context.settings, self.context.given_model
        return run_key(
            {
                **self._beside_the_index(method),
                "method": method.text,
                **({"always_answer": True} if self.context.always_answer and method.is_agent else {}),
                "seed": seed,
                "index": self.context.snapshot.manifest.model_dump(mode="json"),
                "rows": self.context.snapshot.rows.tolist(),
                "embedder": self.counting.fingerprint,
                "models": [(each.model, each.base_url) for each in map(settings.endpoint, ("answering", "reading"))],
                "given_model": given.name if given else None,
                "max_tokens": settings.max_tokens,
                "parameters": settings.parameters,
            }
        )

    def _beside_the_index(self, method: Method) -> dict[str, object]:
        """What a method reads that the index does not hold."""
        context, read = self.context, dict[str, object]()
        for part in method.every_part():
            if part.values.get("entities") == "given" and context.query_entities:
                read["entities"] = _digest(context.query_entities)
            if part.row.name == "late_interaction" and (tokens := published_tokens(context.snapshot.folder)):
                read["token vectors"] = tokens.model_dump(mode="json")
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
        raise BadInputError(f"{path} cannot be read: {error.strerror}.") from error


def _searches_graph(method: Method) -> bool | None:
    """None for agents, which do more than search, and for the bound ``gold``, which does not search at all."""
    if method.is_agent or method.parts[0].row.name == "gold":
        return None
    return method.uses_graph


def _given_run(method: Method, run: Mapping[str, tuple[str, ...]], questions: Sequence[Question]) -> Run:
    results = [in_run(question, run) or QuestionResult(question_id=question.id) for question in questions]
    name = Path(str(method.run)).name.removesuffix(".gz").removesuffix(".jsonl").removesuffix(".trec")
    return Run(method=f"{name} (given)", results=results)


def _facts(
    opened: _Opened, corpus: Corpus, experiment: Experiment, methods: Sequence[Method], asked: int, everyone: int
) -> dict[str, str]:
    manifest, settings = opened.context.snapshot.manifest, opened.context.settings
    extractors = ", ".join(f"{count:,} by {name}" for name, count in manifest.triples_by_extractor.items())
    chosen = "whose gold passages match the filter" if corpus.where is not None else "that every given run holds"
    given = f" (of {everyone}: those {chosen})" if asked < everyone else ""
    facts = {
        "index": str(corpus.index),
        "passages": f"{manifest.counts['passages']:,}",
        "triples": experiment.triples or extractors or "none",
        "questions": f"{asked:,}{given}, from {corpus.questions.name}",
        "embedder": manifest.embedder.name,
        "keyword_passages": str(manifest.keyword_passages),
    }
    if corpus.where is not None:
        facts["filter"] = corpus.where
    with_model = any(method.uses_model for method in methods)
    if with_model and settings.model:
        facts["model"] = settings.model
    if with_model and experiment.judge:
        judge = opened.context.judge.name
        facts["judge"] = f"{judge}, the model under test" if judge == opened.context.model.name else judge
    return facts


def _triples_of_gold(triples: TripleGraph, questions: Sequence[Question]) -> dict[str, float]:
    """GeAR's triple density: the mean number of triples of a question's gold passages."""
    if not len(triples):
        return {}
    return {
        question.id: len(triples.triples_of(question.gold)) / len(question.gold)
        for question in questions
        if question.gold
    }
