"""From an experiment to its evaluation: runs of other systems beside ours, a judge, and what was compared on."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from pathlib import Path

from triplebeam.assemble.evaluation import Corpus, Evaluator, OpenedCorpus
from triplebeam.assemble.method import Method
from triplebeam.assemble.models import make_model
from triplebeam.errors import BadInputError
from triplebeam.evaluate.questions import Question, read_questions
from triplebeam.evaluate.recommend import can_recommend, recommend
from triplebeam.evaluate.run import Evaluation, QuestionResult, Run
from triplebeam.generate.accounting import account
from triplebeam.generate.language_model import LanguageModel
from triplebeam.index.stores import open_source
from triplebeam_research.experiments.experiment import Experiment
from triplebeam_research.experiments.grading import check_graphs, judge
from triplebeam_research.experiments.output import find_in_run, read_run


@dataclass(frozen=True, kw_only=True)
class ExperimentEvaluator(Evaluator):
    """Compares the methods of an experiment on the questions of one corpus."""

    judge: LanguageModel | None = None
    """Judges answers; the settings' unless given."""

    def compare(self, experiment: Experiment, corpus: Corpus) -> Evaluation:
        """Run all methods on all questions."""
        questions = read_questions(corpus.questions)[: self.limit]
        methods = [Method.parse(method) for method in corpus.methods]  # a typo costs nothing
        given = {method: read_run(method.run) for method in methods if method.run}
        everyone = len(questions)
        questions = [question for question in questions if all(find_in_run(question, run) for run in given.values())]
        if not questions:
            raise BadInputError(
                f"no question of {corpus.questions} is in all of the runs {', '.join(map(str, given))}."
            )
        manifest = open_source(corpus.index).manifest
        experiment.index_settings.check(
            corpus.index.state,
            triples_in_context=manifest.embedder.triples_in_context,
            keyword_passages=manifest.keyword_passages,
        )
        opened = replace(self, always_answer=experiment.always_answer).open(corpus, questions)
        computed = self.run_all(opened, [method for method in methods if not method.run])
        ordered = [
            run
            for method in methods
            for run in (
                [_read_given_run(method, given[method], opened.questions)] if method in given else computed[method]
            )
        ]
        ordered = [replace(run, results=check_graphs(opened.questions, run.results)) for run in ordered]
        if experiment.judge:
            ordered = [self._judge_run(opened, run) for run in ordered]
        return _with_advice(
            Evaluation(
                title=" · ".join(filter(None, [experiment.title, corpus.name])),
                questions=opened.questions,
                runs=ordered,
                facts=self._facts(opened, corpus, experiment, methods, everyone),
                triples_of_gold=opened.count_triples_of_gold(),
            )
        )

    def judge_of(self, opened: OpenedCorpus) -> LanguageModel:
        """Return the language model that judges answers: the one under test, unless another is configured or given."""
        if self.judge:
            return self.judge
        if self.model or self.settings.endpoint("judge") == self.settings.endpoint("answering"):
            return opened.context.model
        return make_model(self.settings, "judge")

    def _judge_run(self, opened: OpenedCorpus, run: Run) -> Run:
        """Add the judge's opinion of every answer; what that costs is not the method's cost."""
        if all(result.answer is None for result in run.results):
            return run
        with account():
            verdicts = judge(self.judge_of(opened), opened.questions, run.results, self.progress)
        results = [replace(each, judged=verdict) for each, verdict in zip(run.results, verdicts, strict=True)]
        return replace(run, results=results)

    def _facts(
        self, opened: OpenedCorpus, corpus: Corpus, experiment: Experiment, methods: Sequence[Method], everyone: int
    ) -> dict[str, str]:
        manifest, settings, asked = opened.context.snapshot.manifest, self.settings, len(opened.questions)
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
            name = self.judge_of(opened).name
            facts["judge"] = f"{name}, the model under test" if name == opened.context.model.name else name
        return facts


def _read_given_run(method: Method, run: Mapping[str, tuple[str, ...]], questions: Sequence[Question]) -> Run:
    results = [find_in_run(question, run) or QuestionResult(question_id=question.id) for question in questions]
    name = Path(str(method.run)).name.removesuffix(".gz").removesuffix(".jsonl").removesuffix(".trec")
    return Run(method=f"{name} (given)", results=results)


def _with_advice(evaluation: Evaluation) -> Evaluation:
    """Add a word on whether a graph is needed, where methods with and without one were measured."""
    if not can_recommend(evaluation) or not evaluation.triples_of_gold:
        return evaluation
    return replace(evaluation, advice=f"Do I need a graph? {recommend(evaluation)}")
