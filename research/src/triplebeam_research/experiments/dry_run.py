"""What an experiment would cost: every name is read, every method built, and a few questions are asked for free."""

from collections.abc import Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from tempfile import TemporaryDirectory

from triplebeam.assemble.evaluation import Corpus
from triplebeam.assemble.method import Method
from triplebeam.evaluate.questions import read_questions
from triplebeam.evaluate.run import Run
from triplebeam.generate.accounting import compute_cost
from triplebeam.generate.language_model import Usage
from triplebeam_research.experiments.evaluator import ExperimentEvaluator
from triplebeam_research.experiments.experiment import Experiment
from triplebeam_research.experiments.stand_in import StandIn, estimate_judging

#: Questions that are asked for the estimate.
_SAMPLE_QUESTIONS = 3


@dataclass(frozen=True, kw_only=True)
class Planned:
    """A method on all questions, with all seeds: between ``least`` and ``most`` is used."""

    method: str
    questions: int
    seeds: int
    least: Usage
    most: Usage
    dollars: tuple[float, float] | None
    """None where the model's price is not known, or no model is called."""
    seconds: float
    """What searching takes here; the model's time comes on top."""


def plan(evaluator: ExperimentEvaluator, experiment: Experiment, corpus: Corpus) -> list[Planned]:
    """Plan one row per method."""
    questions = len(read_questions(corpus.questions)[: evaluator.limit])
    least, most = (_ask_sample(evaluator, experiment, corpus, StandIn(eager=eager)) for eager in (True, False))
    return [_plan_run(evaluator, experiment, questions, *runs) for runs in zip(least, most, strict=True)]


def _ask_sample(
    evaluator: ExperimentEvaluator, experiment: Experiment, corpus: Corpus, model: StandIn
) -> Sequence[Run]:
    with TemporaryDirectory() as folder:  # what a stand-in replied is not a result
        trial = replace(
            evaluator,
            settings=evaluator.settings.model_copy(update={"results": Path(folder)}),
            model=model,
            seeds=(),
            limit=min(_SAMPLE_QUESTIONS, evaluator.limit or _SAMPLE_QUESTIONS),
            parallel=1,  # a question that waits for others takes longer
        )
        return trial.compare(experiment.model_copy(update={"judge": False}), corpus).runs


def _plan_run(evaluator: ExperimentEvaluator, experiment: Experiment, questions: int, low: Run, high: Run) -> Planned:
    given = low.method.endswith("(given)")
    seeds = len(set(evaluator.seeds)) if evaluator.seeds and not given and Method.parse(low.method).uses_model else 1
    judged = experiment.judge and low.results[0].answer is not None
    least, most = (_scale_usage(run, questions * seeds, judged) for run in (low, high))
    settings = evaluator.settings
    costs = [compute_cost(each, settings.model or "", settings.prices) for each in (least, most) if each.calls]
    dollars = (costs[0], costs[-1]) if costs and costs[0] is not None and costs[-1] is not None else None
    seconds = sum(result.seconds for result in high.results) / len(high.results) * questions * seeds
    return Planned(
        method=low.method,
        questions=questions,
        seeds=seeds,
        least=least,
        most=most,
        dollars=dollars,
        seconds=seconds,
    )


def _scale_usage(run: Run, times: int, judged: bool) -> Usage:
    """Scale the mean usage of a question, and of the judge where there is one."""
    used = sum((result.usage for result in run.results), Usage())
    share = times / len(run.results)
    scaled = Usage(
        calls=round(used.calls * share),
        tokens_in=round(used.tokens_in * share),
        tokens_out=round(used.tokens_out * share),
        estimated=True,
    )
    return scaled + estimate_judging(times) if judged else scaled
