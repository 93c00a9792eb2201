"""The gradients as appendix A prints them (Eq. 9-12, 16-21), which are not the derivatives of the losses.

Where they differ from the exact ones, in the order of the equations:

- Eq. 9, 16: at the last layer only passages that are competitors *and* received a message count, so a target outside
  the O nearest, or one whose message came at an earlier layer, has no say.
- Eq. 10, 17: ±1 where the means of Eq. 6, 7, 13 and 14 give 1/|S_Y| and 1/|S_O/Y|. The many competitors outweigh the
  few targets, so the descent raises α whatever the loss: with one layer, on MuSiQue, it ends at 1, where no
  neighbour's message counts.
- Eq. 12: a sender's slope takes -α where the derivative of Eq. 2 by the message is 1 - α, and passages that receive
  nothing at a layer do not hand their slope down, though they hand their distance up.
- Eq. 18-21: the 1/T of the loss comes back in Eq. 20 for β, never for α; Eq. 20 divides by the number of all passages;
  Eq. 21 multiplies by β at the first step as well, where Eq. 4 does not mix.

Read as follows where the print cannot be: in Eq. 12 the second term is the passage's own slope, where it received a
message itself; Eq. 11 holds for the last layer too; in Eq. 17 the targets are those of the loss (Y^t+), not of step t
alone; Eq. 20 begins at t = 2, since there is no step 0; one step is GNN-Ret's case, without β. As the hinge is flat
where a step's loss is 0, so is the step's slope.
"""

from collections.abc import Sequence

import numpy as np
from numpy.typing import NDArray

from triplebeam.methods.gnn_ret.propagate import Messages, Propagated
from triplebeam_research.training.objective import ForwardStep, HingeObjective, LossAndGradient, TrainingStep


def compute_printed_gradient(
    objective: HingeObjective, steps: Sequence[TrainingStep], alpha: Sequence[float], beta: float
) -> LossAndGradient:
    """Compute the loss of Eq. 5, with the printed gradient by α of each layer and, last, by β."""
    forward = objective.forward(steps, alpha, beta)
    gradient = np.zeros(len(alpha) + 1)
    slope = np.zeros(len(steps[0].distances))  # of ℓ by the integrated distances of the step behind
    for number in reversed(range(len(steps))):
        step, done = steps[number], forward[number]
        counted = _select_competitors(done)
        slope = slope * (1 - beta)  # Eq. 18, 19
        if done.loss > 0:
            slope[counted] += np.where(np.isin(counted, step.targets), 1.0, -1.0)  # Eq. 10, 17
        if number:
            change = done.propagated.distances - forward[number - 1].integrated
            gradient[-1] += float(slope @ change) / len(slope) / len(steps)  # Eq. 20
        at_last_layer = np.zeros_like(slope)
        at_last_layer[counted] = slope[counted] * (beta if len(steps) > 1 else 1.0)  # Eq. 21
        gradient[:-1] += _differentiate_by_alpha(done.propagated, alpha, at_last_layer)
    return LossAndGradient(sum(done.loss for done in forward) / len(steps), gradient)


def _select_competitors(done: ForwardStep) -> NDArray[np.int64]:
    """Eq. 9, 16: the competitors that received a message at the last layer."""
    if not done.propagated.messages:
        return np.zeros(0, np.int64)
    return np.intersect1d(done.competitors, done.propagated.messages[-1].receivers)


def _differentiate_by_alpha(
    propagated: Propagated, alpha: Sequence[float], slope: NDArray[np.float64]
) -> NDArray[np.float64]:
    """Eq. 11 and 12, from the last layer to the first."""
    gradient = np.zeros(len(alpha))
    for layer in reversed(range(len(alpha))):
        sent, before = propagated.messages[layer], propagated.hidden[layer]
        gradient[layer] = slope[sent.receivers] @ (before[sent.receivers] - sent.carry(before))
        slope = _propagate_back(sent, alpha[layer], slope)
    return gradient


def _propagate_back(sent: Messages, alpha: float, slope: NDArray[np.float64]) -> NDArray[np.float64]:
    """Eq. 12."""
    down = np.zeros_like(slope)
    down[sent.receivers] = alpha * slope[sent.receivers]
    counts = np.diff(sent.starts, append=len(sent.senders))
    np.subtract.at(down, sent.senders, alpha * np.repeat(slope[sent.receivers] / counts, counts))
    return down
