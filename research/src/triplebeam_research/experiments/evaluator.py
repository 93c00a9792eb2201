"""From an experiment to its evaluation: runs of other systems beside ours, a judge, and what was compared on.

Accuracy as a model sees it: an answer says the same as an accepted one, in whatever words. GNN-Ret (and Iter-RetGen
before it) count an answer as right when a language model says that it matches the gold answer. The paper does not give
its prompt; this one is ours. The verdict is another model's opinion: name the model beside it.

Question graphs: GE-Reasoning's Table 5 compares them with 2WikiMultiHopQA's evidences; how, it does not say. Ours: the
evidences are a graph, too. What only ever is a subject is named in the question; every object is to be found out, and
is a variable, the same one if it is the subject of another evidence. A question graph is right if its triplets and the
evidences pair up, so that variables stand for variables, each for one, and names for names that share a word. Which way
a relation is read, and its words, do not count.
"""

import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from typing import TypeAlias

from pydantic import BaseModel

from triplebeam.assemble.evaluation import Corpus, Evaluator, OpenedCorpus
from triplebeam.assemble.method import Method
from triplebeam.assemble.models import make_model, open_source
from triplebeam.errors import BadInputError
from triplebeam.evaluate.measures import pair_results
from triplebeam.evaluate.questions import Question, read_questions
from triplebeam.evaluate.recommend import can_recommend, recommend
from triplebeam.evaluate.run import Evaluation, QuestionResult, Run
from triplebeam.generate.accounting import UNKNOWN_ORIGIN, account, follow_run, note_warning
from triplebeam.generate.ask import Failed, Reply, ask_many
from triplebeam.generate.language_model import LanguageModel, Prompt
from triplebeam.generate.prompts import Template
from triplebeam.system.work import Progress, ignore_progress
from triplebeam.text.names import entity_key
from triplebeam_research.experiments.experiment import Experiment
from triplebeam_research.experiments.output import find_in_run, read_run
from triplebeam_research.templates import load


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


_BATCH_QUESTIONS = 16


class _Reply(BaseModel):
    correct: bool


def judge(
    model: LanguageModel,
    questions: Sequence[Question],
    results: Sequence[QuestionResult],
    progress: Progress = ignore_progress,
) -> list[float | None]:
    """Return 1 or 0 per question, in order. An empty answer is wrong without a call.

    None where there is nothing to judge (no accepted answers, or the method does not answer) and where the model's
    reply could not be used even after a correction; the latter is remarked on the open account, and a caller finds
    them as the None of a question with answers and an answer. An endpoint that is gone raises EndpointError.
    """
    template, pairs = load("judge"), list(pair_results(questions, results))
    verdicts = [0.0 if question.answers and result.answer is not None else None for question, result in pairs]
    asked = [position for position, (_, result) in enumerate(pairs) if verdicts[position] == 0 and _says(result)]
    for start in range(0, len(asked), _BATCH_QUESTIONS):
        batch = asked[start : start + _BATCH_QUESTIONS]
        with follow_run({UNKNOWN_ORIGIN}):  # answers come from documents, and do not say from which
            replies = ask_many(model, [_prompt(template, *pairs[position]) for position in batch], _Reply)
        for position, reply in zip(batch, replies, strict=True):
            verdicts[position] = _verdict(questions[position], reply)
        progress("judge", start + len(batch), len(asked))
    return verdicts


def _says(result: QuestionResult) -> str:
    """Return the answer in one line, empty where there is none."""
    return _one_line(result.answer or "")


def _prompt(template: Template, question: Question, result: QuestionResult) -> Prompt:
    return template.fill(
        question=_one_line(question.question),
        accepted="\n".join(f"- {_one_line(answer)}" for answer in question.answers),
        answer=_says(result),
    )


def _one_line(text: str) -> str:
    """Put an answer on one line: several lines could pass for a part of the prompt."""
    return " ".join(text.split())


def _verdict(question: Question, reply: Reply[_Reply]) -> float | None:
    if isinstance(reply, Failed):
        if reply.endpoint_gone:
            raise reply.error
        note_warning(f"question {question.id!r} was not judged: {reply.error}")
        return None
    return float(reply.value.correct)


Triplet: TypeAlias = tuple[str, str, str]
_VARIABLE = re.compile(r"(?:.*:\s*)?#\s*\d+")


def check_graphs(questions: Sequence[Question], results: Sequence[QuestionResult]) -> list[QuestionResult]:
    """Put beside each result whether its question graph is right, where there is one and evidences are known."""
    return [
        replace(result, graph_is_right=float(graph_is_right(result.graph, question.evidences)))
        if result.graph is not None and question.evidences
        else result
        for question, result in pair_results(questions, results)
    ]


def graph_is_right(triplets: Sequence[Triplet], evidences: Sequence[Triplet]) -> bool:
    """Return whether the triplets and the evidences pair up."""
    return len(triplets) == len(evidences) and _pair_up(list(triplets), _gold_edges(evidences), {})


def _gold_edges(evidences: Sequence[Triplet]) -> list[tuple[str, str]]:
    """Return the two ends of each evidence; a variable begins with a number sign."""
    found = {entity_key(object_): f"#{place}" for place, (_, _, object_) in reversed(list(enumerate(evidences)))}
    subjects = {entity_key(subject) for subject, _, _ in evidences}
    return [
        (
            found.get(entity_key(subject), subject),
            found[key] if (key := entity_key(object_)) in subjects else f"#{place}",
        )
        for place, (subject, _, object_) in enumerate(evidences)
    ]


def _pair_up(triplets: list[Triplet], edges: list[tuple[str, str]], stand_for: Mapping[str, str]) -> bool:
    """Return whether there is an edge for each triplet, with each variable standing for one, as far as is known."""
    if not triplets:
        return True
    (head, _, tail), *others = triplets
    for place, (one, two) in enumerate(edges):
        for ends in ((one, two), (two, one)):
            known = _bind_variable(ends[1], tail, _bind_variable(ends[0], head, stand_for))
            if known is not None and _pair_up(others, edges[:place] + edges[place + 1 :], known):
                return True
    return False


def _bind_variable(gold: str, node: str, stand_for: Mapping[str, str] | None) -> Mapping[str, str] | None:
    """Bind variables if this node is that of the evidences; None where it cannot be."""
    if stand_for is None:
        return None
    if not _VARIABLE.fullmatch(node):
        alike = set(entity_key(gold).split()) & set(entity_key(node).split())
        return stand_for if alike and not gold.startswith("#") else None
    number = node.rpartition("#")[2].strip()
    if not gold.startswith("#") or stand_for.get(number, gold) != gold:
        return None
    taken = number not in stand_for and gold in stand_for.values()
    return None if taken else {**stand_for, number: gold}
