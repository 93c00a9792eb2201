"""A run in a few numbers."""

from collections.abc import Sequence

import numpy as np
from numpy.typing import NDArray

from triplebeam.evaluate import measures
from triplebeam.evaluate.run import Evaluation, Run

#: Measured where they apply, in the order they are shown.
MEASURES = ("R@2", "R@5", "R@10", "R@15", "All@5", "nDCG@10", "MRR", "EM", "F1", "Accuracy", "Judged", "Graph")
OF_ANSWERS = ("EM", "F1", "Accuracy", "Judged", "Graph")
Values = NDArray[np.float64]


def summary(evaluation: Evaluation, run: Run) -> dict[str, float | int | None]:
    """Summarize a run in a few numbers; measures as shares, time in milliseconds."""
    seconds = [result.seconds for result in run.results]
    return {
        **{name: round(float(np.nanmean(found)), 4) for name, found in measure_all(evaluation, run).items()},
        "ms_p50": _percentile(seconds, 50),
        "ms_mean": round(1000 * float(np.mean(seconds)), 2) if any(seconds) else None,
        "ms_p95": _percentile(seconds, 95),
        "encodings": round(float(np.mean([result.encodings for result in run.results])), 1),
        "calls": round(float(np.mean([result.usage.all_calls for result in run.results])), 2),
        "tokens": round(float(np.mean([result.usage.all_tokens for result in run.results])), 1),
        "dollars": None if run.dollars is None else round(run.dollars / len(run.results), 6),
        "questions": len(run.results),
    }


def measure_all(evaluation: Evaluation, run: Run) -> dict[str, Values]:
    """Return each measure that applies, question by question."""
    found = {name: measure_run(name, evaluation, run) for name in MEASURES}
    return {name: values for name, values in found.items() if values is not None}


def _percentile(seconds: Sequence[float], share: int) -> float | None:
    """Return a percentile in milliseconds; None where nothing was timed, as in another system's run."""
    return round(1000 * float(np.percentile(seconds, share)), 2) if any(seconds) else None


def measure_run(measure: str, evaluation: Evaluation, run: Run) -> Values | None:
    """Return one value per question; None where the measure does not apply to the run."""
    # A method that only answers has no recall: 0 would be unfair.
    if measure not in OF_ANSWERS and _has_only_answers(run):
        return None
    values = measures.values(measure, evaluation.questions, run.results)
    return None if np.isnan(values).all() else values


def _has_only_answers(run: Run) -> bool:
    return not any(result.passage_ids for result in run.results) and any(
        result.answer is not None for result in run.results
    )
