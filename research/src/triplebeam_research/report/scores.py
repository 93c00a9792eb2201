"""An evaluation measured once: every measure of every run, a name for each run, and which run leads."""

from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass
from functools import cached_property

import numpy as np

from triplebeam.evaluate.measures import MEASURES, Values, measure_run
from triplebeam.evaluate.run import Evaluation, Run

#: The first of these that applies decides which method is best.
LEADING = ("R@5", "Accuracy", "F1", "EM")


@dataclass(frozen=True)
class Scores:
    """The values of an evaluation, one per question, NaN where a measure does not apply to a question."""

    evaluation: Evaluation

    @cached_property
    def values(self) -> dict[str, list[Values | None]]:
        """For each measure that applies to any run: one array per run, None where it does not apply to that run."""
        table = {name: [measure_run(name, self.evaluation, run) for run in self.evaluation.runs] for name in MEASURES}
        return {name: row for name, row in table.items() if any(values is not None for values in row)}

    @cached_property
    def labels(self) -> list[str]:
        """A name for each run: its method, with the seed or a number where a method was run more than once."""
        methods = Counter(run.method for run in self.evaluation.runs)
        named = [_with_seed(run) if methods[run.method] > 1 else run.method for run in self.evaluation.runs]
        return [
            f"{name} #{named[: place + 1].count(name)}" if named.count(name) > 1 else name
            for place, name in enumerate(named)
        ]

    @cached_property
    def row_labels(self) -> list[str]:
        """The labels, the baseline named as such."""
        several = len(self.labels) > 1
        return [f"{label} (baseline)" if several and place == 0 else label for place, label in enumerate(self.labels)]

    @cached_property
    def leading(self) -> str | None:
        """The measure methods are compared by."""
        return next((name for name in LEADING if name in self.values), None)

    @cached_property
    def best(self) -> int | None:
        """The run with the highest mean of the leading measure; of equals, the first."""
        return None if self.leading is None else int(np.nanargmax(self.means(self.leading)))

    def means(self, measure: str, places: Sequence[int] | None = None) -> list[float]:
        """Return the mean of each run over the questions at these places (all, if None); NaN where there is none."""
        return [mean(values, places) for values in self.values[measure]]


def mean(values: Values | None, places: Sequence[int] | None = None) -> float:
    """Average what is not NaN, at these places; NaN where nothing is left."""
    if values is None:
        return float("nan")
    known = drop_nan(values if places is None else values[list(places)])
    return float(known.mean()) if known.size else float("nan")


def drop_nan(values: Values) -> Values:
    """Return the values of the questions a measure applies to."""
    return values[~np.isnan(values)]


def _with_seed(run: Run) -> str:
    return run.method if run.seed is None else f"{run.method}, seed {run.seed}"
