"""What agents do step by step: recall and tokens after each, and how many they take (GeAR's Figures 2, 4 and 5)."""

from collections.abc import Callable, Mapping, Sequence
from functools import partial

import numpy as np

from triplebeam.evaluate import breakdown
from triplebeam.evaluate.numbers import count, percent
from triplebeam.evaluate.report.document import Cell, Column, Figure, Missing, Table
from triplebeam.evaluate.report.plots import Series, share_plot, step_plot
from triplebeam.evaluate.report.scores import Scores

_DEPTH = 15
"""Recall is that at 15, as in GeAR's figures."""


def step_figures(scores: Scores) -> list[Figure | Missing]:
    """Recall and tokens after each step of the agents, and how many steps they take."""
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
        _tokens_figure(scores, spent)
        if any(map(any, spent.values()))
        else Missing("Figure of tokens over steps", "the steps' tokens were not counted.")
    )
    figures.append(_steps_taken_figure(scores, agents))
    return figures


def _recall_figure(scores: Scores, recalls: dict[int, list[float]]) -> Figure:
    caption = f"R@{_DEPTH} after each step"
    means = scores.means(f"R@{_DEPTH}")
    single = [place for place in range(len(means)) if place not in recalls and not np.isnan(means[place])]
    best = max(single, key=lambda place: means[place], default=None)
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
        numbers=_by_step(caption, {scores.labels[place]: values for place, values in recalls.items()}, percent),
    )


def _tokens_figure(scores: Scores, spent: dict[int, list[int]]) -> Figure:
    caption = "Tokens up to each step"
    return Figure(
        caption=caption,
        reading="All tokens the model read and wrote for all questions up to that step: a line that flattens"
        " belongs to an agent that stops by itself.",
        draw=partial(step_plot, agents=_series(scores, spent), level=None, value_name="Tokens, all questions"),
        numbers=_by_step(caption, {scores.labels[place]: values for place, values in spent.items()}, count),
    )


def _series(scores: Scores, values: Mapping[int, Sequence[float]]) -> list[Series]:
    return [Series(place, scores.labels[place], each) for place, each in values.items()]


def _by_step(caption: str, rows: Mapping[str, Sequence[float]], written: Callable[[float], str]) -> Table:
    steps = max(map(len, rows.values()))
    return Table(
        caption=f"{caption}: the numbers",
        reading="One column per step.",
        columns=(Column("Method", kind="words"), *(Column(f"Step {step}") for step in range(1, steps + 1))),
        rows=tuple((Cell(label), *(Cell(written(value)) for value in values)) for label, values in rows.items()),
    )


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
    return Figure(
        caption=caption,
        reading="Each row divides its questions by the number of steps they took, in per cent: an agent that judges"
        " well takes more steps where there are more hops.",
        draw=partial(share_plot, groups=taken, value_name="Steps taken"),
        numbers=Table(
            caption=f"{caption}: the numbers",
            reading="Numbers of questions.",
            columns=(
                Column("Method", kind="words"),
                Column("Questions", kind="words"),
                *(Column(str(number)) for number in range(1, most + 1)),
            ),
            rows=tuple(
                (Cell(method), Cell(label), *(Cell(str(steps.count(number))) for number in range(1, most + 1)))
                for method, label, steps in rows
            ),
        ),
    )
