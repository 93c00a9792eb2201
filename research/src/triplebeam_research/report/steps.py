"""What agents do step by step: recall and tokens after each, and how many they take (GeAR's Figures 2, 4 and 5)."""

from collections.abc import Callable, Mapping, Sequence
from functools import partial

import numpy as np

from triplebeam.evaluate.numbers import NOTHING, count, percent
from triplebeam.evaluate.run import Run
from triplebeam_research.report import breakdown
from triplebeam_research.report.document import Column, Figure, Missing, Table
from triplebeam_research.report.plots import Series, share_plot, step_plot
from triplebeam_research.report.scores import Scores

_DEPTH = 15
"""Recall is that at 15, as in GeAR's figures."""


def step_figures(scores: Scores) -> list[Figure | Missing]:
    """Plot recall and tokens after each step of the agents, and how many steps they take."""
    runs, questions = scores.evaluation.runs, scores.evaluation.questions
    agents = [place for place, run in enumerate(runs) if any(len(result.steps) > 1 for result in run.results)]
    if not agents:
        return [Missing("Figures over steps", "no method took more than one step.")]
    steps = max(len(result.steps) for place in agents for result in runs[place].results)
    figures: list[Figure | Missing] = []
    if f"R@{_DEPTH}" in scores.values:
        recalls = {place: breakdown.recall_by_step(questions, runs[place], _DEPTH, steps) for place in agents}
        figures.append(_recall_figure(scores, recalls))
    spent = {place: breakdown.tokens_by_step(runs[place], steps) for place in agents}
    figures.append(
        _tokens_figure(scores, spent, _find_best_without_steps(scores, agents, reading=True))
        if any(map(any, spent.values()))
        else Missing("Figure of tokens over steps", "the steps' tokens were not counted.")
    )
    figures.append(_steps_taken_figure(scores, agents))
    return figures


def _recall_figure(scores: Scores, recalls: dict[int, list[float]]) -> Figure:
    caption = f"R@{_DEPTH} after each step"
    means = scores.means(f"R@{_DEPTH}")
    best = _find_best_without_steps(scores, list(recalls))
    return Figure(
        caption=caption,
        reading="A line shows what an agent would have found had it stopped at that step; questions it finished earlier"
        " keep their recall. The dashed level is the best method that takes no steps.",
        draw=partial(
            step_plot,
            agents=_series(scores, {place: [100 * value for value in values] for place, values in recalls.items()}),
            level=None if best is None else Series(best, scores.labels[best], [100 * means[best]]),
            value_name=f"R@{_DEPTH} (%)",
        ),
        numbers=_make_step_table(caption, {scores.labels[place]: values for place, values in recalls.items()}, percent),
    )


def _find_best_without_steps(scores: Scores, agents: Sequence[int], *, reading: bool = False) -> int | None:
    """Find the best method beside the agents, if need be one that calls a model: SyncGE, in GeAR's figures."""
    means = scores.means(f"R@{_DEPTH}") if f"R@{_DEPTH}" in scores.values else []
    tokens = [breakdown.tokens_by_step(run, 1)[0] for run in scores.evaluation.runs]
    others = [place for place in range(len(means)) if place not in agents and not np.isnan(means[place])]
    return max((place for place in others if tokens[place] or not reading), key=means.__getitem__, default=None)


def _tokens_figure(scores: Scores, spent: dict[int, list[int]], single: int | None) -> Figure:
    caption = "Tokens up to each step"
    rows = {scores.labels[place]: values for place, values in spent.items()}
    level = None
    if single is not None:
        level = Series(single, scores.labels[single], breakdown.tokens_by_step(scores.evaluation.runs[single], 1))
        rows[level.label] = [int(value) for value in level.values]
    return Figure(
        caption=caption,
        reading="All tokens the model read and wrote for all questions up to that step: a line that flattens"
        " belongs to an agent that stops by itself. The dashed level is the best method that reads once.",
        draw=partial(step_plot, agents=_series(scores, spent), level=level, value_name="Tokens, all questions"),
        numbers=_make_step_table(caption, rows, count),
    )


def _series(scores: Scores, values: Mapping[int, Sequence[float]]) -> list[Series]:
    return [Series(place, scores.labels[place], each) for place, each in values.items()]


def _make_step_table(caption: str, rows: Mapping[str, Sequence[float]], written: Callable[[float], str]) -> Table:
    steps = max(map(len, rows.values()))
    return Table(
        caption=f"{caption}: the numbers",
        reading="One column per step.",
        columns=(Column("Method", kind="words"), *(Column(f"Step {step}") for step in range(1, steps + 1))),
        rows=[(label, *map(written, values), *[NOTHING] * (steps - len(values))) for label, values in rows.items()],
    )


def _names_of_steps(runs: Sequence[Run], most: int) -> dict[int, str]:
    """Return ``5``, or ``4+`` where nothing took five steps and some ended undecided after four."""
    results = [result for run in runs for result in run.results]
    decided = {len(result.steps) for result in results if not breakdown.is_undecided(result)}
    over = {len(result.steps) + 1 for result in results if breakdown.is_undecided(result)} - decided
    return {number: f"{number - 1}+" if number in over else str(number) for number in range(1, most + 1)}


def _steps_taken_figure(scores: Scores, agents: Sequence[int]) -> Figure:
    caption = "Steps taken, by hops"
    taken = {
        scores.labels[place]: (
            place,
            {
                f"{label} (n = {len(steps)})": steps
                for label, steps in breakdown.steps_by_hops(
                    scores.evaluation.questions, scores.evaluation.runs[place]
                ).items()
                if steps
            },
        )
        for place in agents
    }
    rows = [(method, label, steps) for method, (_, groups) in taken.items() for label, steps in groups.items()]
    most = max(max(steps) for _, _, steps in rows)
    names = _names_of_steps([scores.evaluation.runs[place] for place in agents], most)
    return Figure(
        caption=caption,
        reading="Each row divides its questions by the number of steps they took, in per cent: an agent that judges"
        " well takes more steps where there are more hops. With a + the last step was reached without an answer.",
        draw=partial(share_plot, groups=taken, value_name="Steps taken", names=names),
        numbers=Table(
            caption=f"{caption}: the numbers",
            reading="Numbers of questions, and their mean; one with a + counts as one step more.",
            columns=(
                Column("Method", kind="words"),
                Column("Questions", kind="words"),
                *(Column(names[number]) for number in range(1, most + 1)),
                Column("Mean"),
            ),
            rows=[
                (method, label, *(str(steps.count(n)) for n in range(1, most + 1)), f"{np.mean(steps):.2f}")
                for method, label, steps in rows
            ],
        ),
    )
