"""The hinge objectives, Eq. 3 (GNN-Ret) and Eq. 5 (RGNN-Ret), with their exact derivatives.

Eq. 3 is Eq. 5 with one step, so there is one function for both; a GNN-Ret example has one step, and no β enters it.

The derivatives are carried forward with the distances: there are only L + 1 parameters, and Eq. 2 and 4 are mixtures,
so the slope of a mixture is the mixture of the slopes plus the difference of what is mixed. Through the minimum of Eq.
1, and through the choices of K and O, the branch taken is the branch derived: exact wherever no two distances tie.

The competitive set, those of the O smallest semantic distances, can be read two ways. Chosen by the integrated
distances, as here, it holds what would be retrieved, and the loss is lowest (α about 0.6 on MuSiQue) close to where
recall is highest (0.5). Chosen by the base's distances it would miss every passage that a message brings nearer; the
loss would then favour the neighbours' distances alone, and when we tried it, training ended at α 0, where recall had
fallen by more than half.

Ours where the paper is silent: a step without targets, or none but targets among its competitors, adds nothing to the
sum, which is divided by all steps.

Datasets name the passages that support a question, seldom the one that supports a sub-question (appendix B). So each
sub-question in turn takes the nearest to it of those that are left. Ours where the paper is silent: a sub-question for
which none is left has no label, and a passage that no sub-question took is no sub-question's label.
"""

from collections.abc import Sequence
from dataclasses import dataclass
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from triplebeam.methods.gnn_ret.propagate import (
    Distances,
    MessagePassing,
    Propagated,
    integrate_steps,
    mix_messages,
    nearest,
)
from triplebeam.methods.gnn_ret.weights import Targets


@dataclass(frozen=True, kw_only=True, eq=False)
class TrainingStep:
    """A sub-question, or the question itself: the base's distances, and the rows that ought to be near."""

    distances: Distances
    targets: NDArray[np.int64]


class LossAndGradient(NamedTuple):
    """A loss, and its derivatives by α of each layer and, last, by β."""

    loss: float
    gradient: NDArray[np.float64]


class ForwardStep(NamedTuple):
    """What a step came to: its own propagation, the distances integrated with all steps before, and its loss."""

    propagated: Propagated
    integrated: Distances
    competitors: NDArray[np.int64]
    """S_O, targets among them."""
    non_targets: NDArray[np.int64]
    """S_O/Y."""
    loss: float


@dataclass(frozen=True, kw_only=True)
class HingeObjective:
    """Targets are to be nearer than their competitors by ``threshold``, on average."""

    passing: MessagePassing
    threshold: float = 0.01
    """r."""
    competitors: int = 25
    """O: 25 for GNN-Ret, 10 for RGNN-Ret."""

    def forward(self, steps: Sequence[TrainingStep], alpha: Sequence[float], beta: float) -> list[ForwardStep]:
        """Eq. 1, 2 and 4 for every step, and the step's share ℓ^t of the loss."""
        done: list[ForwardStep] = []
        for step in steps:
            propagated = self.passing.propagate(step.distances, alpha)
            integrated = integrate_steps(propagated.distances, done[-1].integrated if done else None, beta)
            competitors = nearest(integrated, self.competitors)
            others = np.setdiff1d(competitors, step.targets)
            loss = self._hinge(integrated, step.targets, others)
            done.append(ForwardStep(propagated, integrated, competitors, others, loss))
        return done

    def _hinge(self, distances: Distances, targets: NDArray[np.int64], others: NDArray[np.int64]) -> float:
        if not len(targets) or not len(others):
            return 0.0
        return max(0.0, float(self.threshold + distances[targets].mean() - distances[others].mean()))

    def compute_exact(self, steps: Sequence[TrainingStep], alpha: Sequence[float], beta: float) -> LossAndGradient:
        """Eq. 5 and its derivatives."""
        forward = self.forward(steps, alpha, beta)
        gradient = np.zeros(len(alpha) + 1)
        slopes: NDArray[np.float64] | None = None
        before: Distances | None = None
        for step, done in zip(steps, forward, strict=True):
            current = _slopes(done.propagated, alpha)
            slopes = integrate_steps(current, slopes, beta)
            if before is not None:
                slopes[:, -1] += done.propagated.distances - before
            before = done.integrated
            if done.loss > 0:
                gradient += slopes[step.targets].mean(axis=0) - slopes[done.non_targets].mean(axis=0)
        return LossAndGradient(sum(done.loss for done in forward) / len(steps), gradient / len(steps))


def _slopes(propagated: Propagated, alpha: Sequence[float]) -> NDArray[np.float64]:
    """Compute the derivatives of every integrated distance by each α, and by β, which matters from two steps on."""
    slopes = np.zeros((len(propagated.distances), len(alpha) + 1))
    for layer, (weight, sent) in enumerate(zip(alpha, propagated.messages, strict=True)):
        before = propagated.hidden[layer]
        mixed = mix_messages(slopes, sent, weight)
        mixed[:, layer] += before[sent.receivers] - sent.carry(before)
        slopes[sent.receivers] = mixed
    return slopes


def assign_labels(distances: Sequence[Distances], supporting: Sequence[int]) -> list[int | None]:
    """Assign one row per sub-question, from the rows that support the whole question; ties by row."""
    left = sorted(set(supporting))
    labels: list[int | None] = []
    for to_sub_question in distances:
        label = min(left, key=lambda row: to_sub_question[row], default=None)
        labels.append(label)
        left = [row for row in left if row != label]
    return labels


def training_steps(
    distances: Sequence[Distances],
    supporting: Sequence[int],
    targets: Targets = "current_and_later",
    labels: Sequence[int | None] | None = None,
) -> list[TrainingStep]:
    """Build a question's steps for `HingeObjective`. ``labels`` are for datasets that know them, as MuSiQue does.

    With one row of distances and ``targets="all"`` this is an example for GNN-Ret.
    """
    known = assign_labels(distances, supporting) if labels is None else labels
    steps = []
    for number, to_sub_question in enumerate(distances):
        choices = {"all": supporting, "current": known[number : number + 1], "current_and_later": known[number:]}
        rows = sorted({row for row in choices[targets] if row is not None})
        steps.append(TrainingStep(distances=to_sub_question, targets=np.array(rows, np.int64)))
    return steps
