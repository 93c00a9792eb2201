"""Training α and β (appendix B): plain gradient descent over all examples at once.

Followed to the letter: the mean gradient of all examples, rate 1.0, start at α 0.1 (GNN-Ret) or α = β = 1.0 (RGNN-Ret),
r 0.01, K 5, O 25 or 10; the end is a gradient below 0.001, or a loss that rises five times running.

Ours: the gradient is the exact one unless the printed one is asked for (`printed`); α and β are kept between 0 and 1,
and descent ends where every value with a gradient is at such a border and would be pushed over it; a cap on the steps;
and what comes back are the values of the lowest loss that was seen, which after five rises are not the last.
"""

from collections.abc import Sequence
from dataclasses import dataclass, field
from itertools import pairwise

import numpy as np
from numpy.typing import NDArray

from triplebeam.errors import BadInputError
from triplebeam.index.folder.passage_graph import PassageGraph
from triplebeam.methods.gnn_ret.propagate import MessagePassing
from triplebeam.methods.gnn_ret.weights import GNN_RET, TrainingSettings
from triplebeam.system.work import Progress, ignore_progress
from triplebeam_research.training.objective import HingeObjective, LossAndGradient, TrainingStep
from triplebeam_research.training.printed import compute_printed_gradient

SMALL_GRADIENT = "the gradient is small"
AT_BORDER = "every value with a gradient is at 0 or 1 and would go further"
RISING_LOSS = "the loss kept rising"
LAST_STEP = "the last step was reached"


@dataclass(frozen=True, kw_only=True)
class TrainingResult:
    """The values of the lowest loss, and how it was reached."""

    alpha: tuple[float, ...]
    beta: float | None
    loss: float
    losses: tuple[float, ...] = field(repr=False)
    """Before each step and at the end."""
    ending: str


def train(
    graph: PassageGraph,
    examples: Sequence[Sequence[TrainingStep]],
    settings: TrainingSettings = GNN_RET,
    progress: Progress = ignore_progress,
) -> TrainingResult:
    """Descend. An example is a question: one step for GNN-Ret, its sub-questions in order for RGNN-Ret."""
    _check(examples, settings)
    values = np.array([*settings.alpha, 1.0 if settings.beta is None else settings.beta])
    best, ending = values, LAST_STEP
    losses: list[float] = []
    for number in range(settings.max_steps + 1):
        loss, gradient = _average_loss(graph, examples, settings, values)
        best = values if not losses or loss < min(losses) else best
        losses.append(loss)
        progress("train", number, settings.max_steps)
        after = np.clip(values - settings.rate * gradient, 0, 1)
        if stop := _reason_to_stop(gradient, after - values, losses, settings):
            ending = stop
            break
        values = after
    *alpha, beta = best.tolist()
    return TrainingResult(
        alpha=tuple(alpha),
        beta=None if settings.beta is None else beta,
        loss=min(losses),
        losses=tuple(losses),
        ending=ending,
    )


def _average_loss(
    graph: PassageGraph,
    examples: Sequence[Sequence[TrainingStep]],
    settings: TrainingSettings,
    values: NDArray[np.float64],
) -> LossAndGradient:
    """Average the loss of all examples and its gradient."""
    passing = MessagePassing(graph=graph, relevant=settings.relevant, message=settings.message, edges=settings.edges)
    objective = HingeObjective(passing=passing, threshold=settings.threshold, competitors=settings.competitors)
    *alpha, beta = values.tolist()
    results = [
        compute_printed_gradient(objective, steps, alpha, beta)
        if settings.gradient == "printed"
        else objective.compute_exact(steps, alpha, beta)
        for steps in examples
    ]
    gradient = np.mean([result.gradient for result in results], axis=0)
    if settings.beta is None:
        gradient[-1] = 0
    return LossAndGradient(float(np.mean([result.loss for result in results])), gradient)


def _reason_to_stop(
    gradient: NDArray[np.float64], change: NDArray[np.float64], losses: Sequence[float], settings: TrainingSettings
) -> str:
    small = np.abs(gradient) < settings.tolerance
    if small.all():
        return SMALL_GRADIENT
    if not change[~small].any():
        return AT_BORDER
    return RISING_LOSS if _is_rising(losses, settings.rises) else ""


def _is_rising(losses: Sequence[float], rises: int) -> bool:
    last = losses[-rises - 1 :]
    return len(last) > rises and all(before < after for before, after in pairwise(last))


def _check(examples: Sequence[Sequence[TrainingStep]], settings: TrainingSettings) -> None:
    if not examples:
        raise BadInputError("there is nothing to train on: give at least one question with its supporting passages.")
    for number, steps in enumerate(examples, start=1):
        if not any(len(step.targets) for step in steps):
            raise BadInputError(f"training question {number} names no supporting passage: leave it out, or name one.")
    if not all(0 <= value <= 1 for value in (*settings.alpha, settings.beta or 0.0)):
        raise BadInputError(f"alpha {settings.alpha} and beta {settings.beta} must start between 0 and 1.")
