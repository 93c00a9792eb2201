"""Eq. 3 and 5: losses against their transcription, derivatives against finite differences, the printed gradients
against the printed equations.
"""

from itertools import pairwise
from statistics import fmean

import numpy as np
import pytest
from hypothesis import assume, given, settings
from hypothesis import strategies as st
from numpy.typing import NDArray

from oracles import gnn_ret as oracle
from small_graphs import Problem, graph_of, problems
from trials import examples
from triplebeam.methods.gnn_ret.propagate import Message, MessagePassing
from triplebeam_research.training.objective import HingeObjective, TrainingStep, assign_labels, training_steps
from triplebeam_research.training.printed import compute_printed_gradient

MESSAGES = {"min": min, "mean": fmean}
SMALL = 1e-6
#: Of a step of differentiation, many.
FAR = 1e-4


def objective(problem: Problem, threshold: float, message: Message = "min") -> HingeObjective:
    passing = MessagePassing(graph=problem.graph, relevant=problem.relevant, message=message)
    return HingeObjective(passing=passing, threshold=threshold, competitors=problem.competitors)


def loss(problem: Problem, values: NDArray[np.float64], threshold: float, message: Message = "min") -> float:
    *alpha, beta = values.tolist()
    return oracle.rgnn_loss(
        problem.distances,
        problem.neighbours,
        problem.targets,
        alpha,
        beta,
        problem.relevant,
        problem.competitors,
        threshold,
        MESSAGES[message],
    )


def far_from_ties(problem: Problem, threshold: float, message: Message) -> bool:
    """No two distances of a layer are close, and no step's loss is close to the hinge."""
    forward = objective(problem, threshold, message).forward(problem.steps, problem.alpha, problem.beta)
    hidden = [np.sort(layer) for step in forward for layer in (*step.propagated.hidden, step.integrated)]
    above = objective(problem, threshold + FAR, message).forward(problem.steps, problem.alpha, problem.beta)
    below = objective(problem, threshold - FAR, message).forward(problem.steps, problem.alpha, problem.beta)
    bent = [(a.loss > 0) != (b.loss > 0) for a, b in zip(above, below, strict=True)]
    return not any(bent) and all(b - a > FAR for layer in hidden for a, b in pairwise(layer))


@settings(max_examples=examples(200), deadline=None)
@given(problems(), st.sampled_from([0.01, 0.5, 2.0]), st.sampled_from(["min", "mean"]))
def test_loss_and_derivatives(problem: Problem, threshold: float, message: Message) -> None:
    values = np.array([*problem.alpha, problem.beta])
    result = objective(problem, threshold, message).compute_exact(problem.steps, problem.alpha, problem.beta)
    assert result.loss == pytest.approx(loss(problem, values, threshold, message))

    assume(far_from_ties(problem, threshold, message))
    for place, derivative in enumerate(result.gradient):
        change = np.zeros_like(values)
        change[place] = SMALL
        rise = loss(problem, values + change, threshold, message) - loss(problem, values - change, threshold, message)
        assert derivative == pytest.approx(rise / (2 * SMALL), abs=1e-6)


@settings(max_examples=examples(200), deadline=None)
@given(problems(), st.sampled_from([0.01, 0.5, 2.0]))
def test_printed_gradients_are_as_printed(problem: Problem, threshold: float) -> None:
    result = compute_printed_gradient(objective(problem, threshold), problem.steps, problem.alpha, problem.beta)
    values = np.array([*problem.alpha, problem.beta])
    assert result.loss == pytest.approx(loss(problem, values, threshold))
    expected = oracle.printed_gradient(
        problem.distances,
        problem.neighbours,
        problem.targets,
        problem.alpha,
        problem.beta,
        problem.relevant,
        problem.competitors,
        threshold,
    )
    assert result.gradient == pytest.approx(expected)


def test_printed_and_exact_differ_by_the_means() -> None:
    """One layer, all competitors receive: the printed gradient has sums where the loss has means."""
    graph = graph_of(4, [], [(0, 1), (0, 2), (0, 3), (1, 2)])
    steps = [TrainingStep(distances=np.array([0.1, 0.5, 0.6, 0.7]), targets=np.array([3]))]
    hinge = HingeObjective(passing=MessagePassing(graph=graph, relevant=2), threshold=1.0, competitors=4)
    exact, printed = hinge.compute_exact(steps, [0.5], 1.0), compute_printed_gradient(hinge, steps, [0.5], 1.0)
    own_less_message = np.array([0.1 - 0.5, 0.5 - 0.1, 0.6 - 0.1, 0.7 - 0.1])
    assert exact.gradient[0] == pytest.approx(own_less_message[3] - own_less_message[:3].mean())
    assert printed.gradient[0] == pytest.approx(own_less_message[3] - own_less_message[:3].sum())


def test_a_step_with_nothing_to_compare_adds_nothing() -> None:
    hinge = HingeObjective(passing=MessagePassing(graph=graph_of(2, [], [(0, 1)])), threshold=5.0, competitors=2)
    for targets in ([], [0, 1]):
        steps = [TrainingStep(distances=np.array([0.1, 0.9]), targets=np.array(targets, np.int64))]
        result = hinge.compute_exact(steps, [0.5], 1.0)
        assert (result.loss, result.gradient.tolist()) == (0.0, [0.0, 0.0])


@settings(max_examples=examples(100), deadline=None)
@given(st.data(), st.integers(1, 4), st.sets(st.integers(0, 7), max_size=5))
def test_labels_are_appendix_bs(data: st.DataObject, count: int, supporting: set[int]) -> None:
    row = st.lists(st.integers(0, 4).map(float), min_size=8, max_size=8)
    distances = data.draw(st.lists(row, min_size=count, max_size=count))
    expected = oracle.labels(distances, supporting)
    assert assign_labels([np.array(d) for d in distances], sorted(supporting, reverse=True)) == expected


def test_label_sets_are_table_2s() -> None:
    distances = [np.array([0.9, 0.2, 0.5]), np.array([0.8, 0.1, 0.4]), np.array([0.1, 0.2, 0.3])]
    assert assign_labels(distances, [0, 1, 2]) == [1, 2, 0]  # 1 is nearest to the second too, but taken

    def targets(*arguments: object) -> list[list[int]]:
        steps = training_steps(distances, [0, 1, 2], *arguments)  # type: ignore[arg-type]
        return [step.targets.tolist() for step in steps]

    assert targets("all") == [[0, 1, 2]] * 3
    assert targets("current") == [[1], [2], [0]]
    assert targets() == targets("current_and_later") == [[0, 1, 2], [0, 2], [0]]
    assert targets("current", [2, 1, None]) == [[2], [1], []]
