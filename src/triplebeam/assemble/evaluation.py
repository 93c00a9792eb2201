"""From an experiment to its evaluation: names become methods, methods are asked, results are kept."""

import hashlib
import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from pathlib import Path

from triplebeam.assemble.collection import Collection, open_collection
from triplebeam.assemble.method_names import is_agent, retriever_parts, uses_graph, uses_model
from triplebeam.assemble.models import make_embedder
from triplebeam.embed.embedder import Embedder
from triplebeam.errors import BadInputError
from triplebeam.evaluate.ask_all import CountingEmbedder, Method, ask_all
from triplebeam.evaluate.experiment import Corpus, Experiment
from triplebeam.evaluate.judge import judge
from triplebeam.evaluate.questions import Question, check_gold, read_questions
from triplebeam.evaluate.run import Evaluation, QuestionResult, Run
from triplebeam.evaluate.run_file import RunFile, run_key
from triplebeam.evaluate.trec import in_run, read_run
from triplebeam.generate.accounting import account
from triplebeam.generate.language_model import LanguageModel, Usage
from triplebeam.generate.prices import price
from triplebeam.index.token_vectors import published_tokens
from triplebeam.progress import Progress, silent
from triplebeam.settings import Settings

#: In front of a file's name: another system's run, read and not computed.
GIVEN_RUN = "run:"


@dataclass(frozen=True, kw_only=True)
class Evaluator:
    """Compares methods on the questions of one corpus.

    Every name is read and every gold passage looked up before the first question is asked: a typo costs nothing.
    """

    settings: Settings
    seeds: Sequence[int] = ()
    limit: int | None = None
    again: bool = False
    """Measure anew what was measured before."""
    embedder: Embedder | None = None
    model: LanguageModel | None = None
    """Without a name, such as your own; the index's and the settings' unless given."""
    progress: Progress = silent

    def evaluate(self, experiment: Experiment, corpus: Corpus) -> Evaluation:
        """All methods on all questions."""
        questions = read_questions(corpus.questions)[: self.limit]
        given = {method: read_run(Path(method.removeprefix(GIVEN_RUN))) for method in _given(corpus.methods)}
        everyone = len(questions)
        questions = [question for question in questions if all(in_run(question, run) for run in given.values())]
        if not questions:
            raise BadInputError(f"no question of {corpus.questions} is in all of the runs {', '.join(given)}.")
        opened = self._open(corpus, questions)
        computed = [
            (method, seed) for method in corpus.methods if method not in given for seed in self._seeds_of(method)
        ]
        for method, seed in computed:
            opened.method(method, seed)  # a typo costs nothing
        runs = {
            (method, seed): self._run(opened, method, seed, questions, many=len(self._seeds_of(method)) > 1)
            for method, seed in computed
        }
        ordered = [
            _given_run(method, given[method], questions) if method in given else runs[method, seed]
            for method in corpus.methods
            for seed in ([None] if method in given else self._seeds_of(method))
        ]
        if experiment.judge:
            ordered = [self._judged(opened, run, questions) for run in ordered]
        return Evaluation(
            title=" · ".join(filter(None, [experiment.title, corpus.name])),
            questions=questions,
            runs=ordered,
            facts=_facts(opened, corpus, experiment, len(questions), everyone),
            triples_of_gold=_triples_of_gold(opened.collection, questions),
        )

    def _open(self, corpus: Corpus, questions: Sequence[Question]) -> "_Opened":
        plain = open_collection(
            corpus.index, settings=self.settings, model=self.model, query_entities=corpus.query_entities
        )
        check_gold(questions, plain.passages)
        name = self.settings.embedder or plain.index.manifest.embedder.name
        counting = CountingEmbedder(self.embedder or make_embedder(name, self.settings, self.progress))
        gold = {text: each.gold for each in questions if each.gold for text in (each.question, each.asked)}
        return _Opened(replace(plain, given_embedder=counting, gold=gold), counting)

    def _seeds_of(self, method: str) -> Sequence[int | None]:
        """Only what calls a model is sampled."""
        return list(dict.fromkeys(self.seeds)) if self.seeds and uses_model(method) else [None]

    def _run(self, opened: "_Opened", method: str, seed: int | None, questions: Sequence[Question], many: bool) -> Run:
        folder = self.settings.results or self.settings.home / "runs"
        path = folder / f"{opened.key(method, seed)}.jsonl"
        if self.again:
            path.unlink(missing_ok=True)
        results = ask_all(
            method,
            opened.method(method, seed),
            questions,
            kept=RunFile(path),
            encoded=lambda: opened.counting.encoded,
            warming=not uses_model(method),
            progress=self.progress,
        )
        name = f"{method} (seed {seed})" if many else method
        return Run(
            method=name, results=results, seed=seed, dollars=self._dollars(results), graph=_searches_graph(method)
        )

    def _judged(self, opened: "_Opened", run: Run, questions: Sequence[Question]) -> Run:
        """With the model's opinion of every answer; what that costs is not the method's cost."""
        if all(result.answer is None for result in run.results):
            return run
        with account():
            verdicts = judge(opened.collection.model, questions, run.results, self.progress)
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

    collection: Collection
    counting: CountingEmbedder

    def method(self, name: str, seed: int | None) -> Method:
        """Each has a collection of its own: none is spared an encoding by the one before it."""
        settings = self.collection.settings.model_copy(update={"seed": seed})
        collection = replace(self.collection, settings=settings)
        return collection.agent(name) if is_agent(name) else collection.retriever(name)

    def key(self, method: str, seed: int | None) -> str:
        """Everything a result depends on."""
        settings = self.collection.settings
        return run_key(
            {
                **self._beside_the_index(method),
                "method": method,
                "seed": seed,
                "index": self.collection.index.manifest.model_dump(mode="json"),
                "embedder": self.counting.fingerprint,
                "models": [(each.model, each.base_url) for each in map(settings.endpoint, ("answering", "reading"))],
                "given_model": self.collection.given_model.name if self.collection.given_model else None,
                "max_tokens": settings.max_tokens,
                "parameters": settings.parameters,
            }
        )

    def _beside_the_index(self, method: str) -> dict[str, object]:
        """What a method reads that the index does not hold."""
        collection, read = self.collection, dict[str, object]()
        if "entities=given" in method and collection.query_entities:
            read["entities"] = _digest(collection.query_entities)
        if "late_interaction" in method and (tokens := published_tokens(collection.index.folder)):
            read["token vectors"] = tokens.model_dump(mode="json")
        for path in re.findall(r"weights=([^],]+)", method):
            read[f"weights {path}"] = _digest(Path(path))
        if "gold" in method:
            read["gold"] = collection.gold
        return read


def _digest(path: Path) -> str:
    try:
        return hashlib.sha256(path.read_bytes()).hexdigest()
    except OSError as error:
        raise BadInputError(f"{path} cannot be read: {error.strerror}.") from error


def _searches_graph(method: str) -> bool | None:
    """None for agents, which do more than search, and for the bound ``gold``, which does not search at all."""
    if is_agent(method) or retriever_parts(method, method)[0].name == "gold":
        return None
    return uses_graph(method)


def _given(methods: Sequence[str]) -> list[str]:
    return [method for method in methods if method.startswith(GIVEN_RUN)]


def _given_run(method: str, run: Mapping[str, tuple[str, ...]], questions: Sequence[Question]) -> Run:
    results = [in_run(question, run) or QuestionResult(question_id=question.id) for question in questions]
    name = Path(method.removeprefix(GIVEN_RUN)).name.removesuffix(".gz").removesuffix(".jsonl").removesuffix(".trec")
    return Run(method=f"{name} (given)", results=results)


def _facts(opened: _Opened, corpus: Corpus, experiment: Experiment, asked: int, everyone: int) -> dict[str, str]:
    collection = opened.collection
    counts, by_extractor = collection.index.manifest.counts, collection.index.manifest.triples_by_extractor
    extractors = ", ".join(f"{count:,} by {name}" for name, count in by_extractor.items())
    given = f" (of {everyone}: those that every given run holds)" if asked < everyone else ""
    facts = {
        "index": str(corpus.index),
        "passages": f"{counts['passages']:,}",
        "triples": experiment.triples or extractors or "none",
        "questions": f"{asked:,}{given}, from {corpus.questions.name}",
        "embedder": collection.index.manifest.embedder.name,
    }
    if (
        any(uses_model(method) for method in corpus.methods if not method.startswith(GIVEN_RUN))
        and collection.settings.model
    ):
        facts["model"] = collection.settings.model
    return facts


def _triples_of_gold(collection: Collection, questions: Sequence[Question]) -> dict[str, float]:
    """GeAR's triple density: the mean number of triples of a question's gold passages."""
    if not len(collection.triples):
        return {}
    return {
        question.id: len(collection.triples.triples_of(question.gold)) / len(question.gold)
        for question in questions
        if question.gold
    }
