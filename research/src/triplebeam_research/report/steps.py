"""What agents do step by step: recall and tokens after each, and how many they take (GeAR's Figures 2, 4 and 5)."""

from collections.abc import Callable, Sequence
from functools import partial

import numpy as np

from triplebeam.evaluate.run import Run
from triplebeam.text.phrases import NOTHING, count
from triplebeam_research.report import breakdown
from triplebeam_research.report.plots import Series, share_plot, step_plot
from triplebeam_research.report.tables import Block, Missing, Scores

_RECALL = "R@15"
"""Recall is that at 15, as in GeAR's figures."""


def step_figures(scores: Scores) -> list[Block | Missing]:
    """Plot recall and tokens after each step of the agents, and how many steps they take."""
    runs = scores.evaluation.runs
    agents = [place for place, run in enumerate(runs) if any(len(result.steps) > 1 for result in run.results)]
    if not agents:
        return [Missing("Figures over steps", "no method took more than one step.")]
    steps = max(len(result.steps) for place in agents for result in runs[place].results)
    recall = [_recall_figure(scores, agents, steps)] if _RECALL in scores.values else []
    return [*recall, _tokens_figure(scores, agents, steps), _steps_taken_figure(scores, agents)]


def _recall_figure(scores: Scores, agents: Sequence[int], steps: int) -> Block:
    means, best = scores.means(_RECALL), _find_best_without_steps(scores, agents)
    lines = []
    for place in agents:
        recall = breakdown.recall_by_step(scores.evaluation.questions, scores.evaluation.runs[place], 15, steps)
        lines.append(Series(place, scores.labels[place], [100 * value for value in recall]))
    level = None if best is None else Series(best, scores.labels[best], [100 * means[best]])
    return Block(
        caption=f"{_RECALL} after each step",
        reading="A line shows what an agent would have found had it stopped at that step; questions it finished earlier"
        " keep their recall. The dashed level is the best method that takes no steps.",
        draw=partial(step_plot, agents=lines, level=level, value_name=f"{_RECALL} (%)"),
        columns=_name_columns(steps),
        rows=_make_rows(lines, steps, "{:.1f}".format),
    )


def _find_best_without_steps(scores: Scores, agents: Sequence[int], *, reading: bool = False) -> int | None:
    """Find the best method beside the agents, if need be one that calls a model: SyncGE, in GeAR's figures."""
    means = scores.means(_RECALL) if _RECALL in scores.values else []
    tokens = [breakdown.tokens_by_step(run, 1)[0] for run in scores.evaluation.runs]
    others = [place for place in range(len(means)) if place not in agents and not np.isnan(means[place])]
    return max((place for place in others if tokens[place] or not reading), key=means.__getitem__, default=None)


def _tokens_figure(scores: Scores, agents: Sequence[int], steps: int) -> Block | Missing:
    def make_series(place: int, steps: int) -> Series:
        return Series(place, scores.labels[place], breakdown.tokens_by_step(scores.evaluation.runs[place], steps))

    lines = [make_series(place, steps) for place in agents]
    if not any(any(line.values) for line in lines):
        return Missing("Figure of tokens over steps", "the steps' tokens were not counted.")
    best = _find_best_without_steps(scores, agents, reading=True)
    levels = [] if best is None else [make_series(best, 1)]
    return Block(
        caption="Tokens up to each step",
        reading="All tokens the model read and wrote for all questions up to that step: a line that flattens"
        " belongs to an agent that stops by itself. The dashed level is the best method that reads once.",
        draw=partial(step_plot, agents=lines, level=next(iter(levels), None), value_name="Tokens, all questions"),
        columns=_name_columns(steps),
        rows=_make_rows(lines + levels, steps, count),
    )


def _name_columns(steps: int) -> list[str]:
    return ["Method", *(f"Step {step}" for step in range(1, steps + 1))]


def _make_rows(lines: Sequence[Series], steps: int, write: Callable[[float], str]) -> list[list[str]]:
    return [[label, *map(write, values), *[NOTHING] * (steps - len(values))] for _, label, values in lines]


def _name_steps(runs: Sequence[Run], most: int) -> dict[int, str]:
    """Return ``5``, or ``4+`` where nothing took five steps and some ended undecided after four."""
    results = [result for run in runs for result in run.results]
    decided = {len(result.steps) for result in results if not breakdown.is_undecided(result)}
    over = {len(result.steps) + 1 for result in results if breakdown.is_undecided(result)} - decided
    return {number: f"{number - 1}+" if number in over else str(number) for number in range(1, most + 1)}


def _steps_taken_figure(scores: Scores, agents: Sequence[int]) -> Block:
    questions, runs = scores.evaluation.questions, scores.evaluation.runs
    taken = {}
    for place in agents:
        groups = breakdown.steps_by_hops(questions, runs[place])
        named = {f"{label} (n = {len(steps)})": steps for label, steps in groups.items()}
        taken[scores.labels[place]] = (place, named)
    rows = [(method, label, steps) for method, (_, groups) in taken.items() for label, steps in groups.items()]
    most = max(max(steps) for _, _, steps in rows)
    names = _name_steps([runs[place] for place in agents], most)
    return Block(
        caption="Steps taken, by hops",
        reading="Each row divides its questions by the number of steps they took, in per cent: an agent that judges"
        " well takes more steps where there are more hops. With a + the last step was reached without an answer. The"
        " numbers are those of questions, and their mean; one with a + counts as one step more.",
        draw=partial(share_plot, groups=taken, value_name="Steps taken", names=names),
        columns=("Method", "Questions", *(names[number] for number in range(1, most + 1)), "Mean"),
        rows=[
            (method, label, *(str(steps.count(n)) for n in range(1, most + 1)), f"{np.mean(steps):.2f}")
            for method, label, steps in rows
        ],
    )
