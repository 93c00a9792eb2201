"""Which supporting passage belongs to which sub-question (appendix B), and what each step is to find (section 3.3).

Datasets name the passages that support a question, seldom the one that supports a sub-question. So each sub-question in
turn takes the nearest to it of those that are left. Ours where the paper is silent: a sub-question for which none is
left has no label, and a passage that no sub-question took is no sub-question's label.
"""

from collections.abc import Sequence
from typing import Literal, TypeAlias

import numpy as np
from numpy.typing import NDArray

from triplebeam.methods.gnn_ret.objective import TrainingStep
from triplebeam.methods.gnn_ret.propagate import Distances

#: The label sets of Table 2: Y, Y^t and Y^t+ (the paper's choice).
Targets: TypeAlias = Literal["all", "current", "current_and_later"]


def assign_labels(distances: Sequence[Distances], supporting: Sequence[int]) -> list[int | None]:
    """One row per sub-question, from the rows that support the whole question; ties by row."""
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
    """A question's steps for `HingeObjective`. ``labels`` are for datasets that know them, as MuSiQue does.

    With one row of distances and ``targets="all"`` this is an example for GNN-Ret.
    """
    known = assign_labels(distances, supporting) if labels is None else labels
    return [
        TrainingStep(distances=to_sub_question, targets=_rows(_wanted(known, number, supporting, targets)))
        for number, to_sub_question in enumerate(distances)
    ]


def _wanted(
    labels: Sequence[int | None], number: int, supporting: Sequence[int], targets: Targets
) -> Sequence[int | None]:
    return {"all": supporting, "current": labels[number : number + 1], "current_and_later": labels[number:]}[targets]


def _rows(wanted: Sequence[int | None]) -> NDArray[np.int64]:
    return np.array(sorted({row for row in wanted if row is not None}), np.int64)
