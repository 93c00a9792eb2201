"""Training on made-up problems, its stopping rules, and the file of weights.

Eq. 3 and 5: losses against their transcription, derivatives against finite differences, printed gradients as printed.
"""

from itertools import pairwise
from pathlib import Path
from statistics import fmean

import numpy as np
import pytest
from hypothesis import assume, given, settings
from hypothesis import strategies as st
from numpy.typing import NDArray

from oracles import gnn_ret as oracle
from small_graphs import Problem, graph_of, problems
from trials import examples
from triplebeam.errors import BadInputError
from triplebeam.index.folder.passage_graph import PassageGraph
from triplebeam.methods.gnn_ret.propagate import Message, MessagePassing
from triplebeam.methods.gnn_ret.weights import GNN_RET, RGNN_RET, Gradient, TrainedOn, TrainingSettings, read_weights
from triplebeam_research.training.descent import AT_BORDER, LAST_STEP, RISING_LOSS, SMALL_GRADIENT, train
from triplebeam_research.training.objective import (
    HingeObjective,
    LossAndGradient,
    TrainingStep,
    assign_labels,
    training_steps,
)
from triplebeam_research.training.printed import compute_printed_gradient
from triplebeam_research.training.trainer import describe_training, write_weights


def step(distances: list[float], *targets: int) -> TrainingStep:
    return TrainingStep(distances=np.array(distances), targets=np.array(targets, np.int64))


@pytest.fixture
def star() -> PassageGraph:
    """0 is next to 1, the passage to find; 2 to 9 stand alone."""
    return graph_of(10, [], [(0, 1)])


FAR_TARGET = [0.1, 0.9, 0.3, 0.35, 0.4, 0.45, 0.5, 0.55, 0.6, 0.65]


@pytest.mark.parametrize("gradient", ["exact", "printed"])
def test_a_target_next_to_a_near_passage_teaches_to_listen(star: PassageGraph, gradient: Gradient) -> None:
    """At α = 1 nobody listens; the target is found by its neighbour's distance."""
    settings = TrainingSettings(alpha=(1.0,), rate=0.1, relevant=1, gradient=gradient)
    result = train(star, [[step(FAR_TARGET, 1)]], settings)
    assert result.alpha[0] < 0.5
    assert result.loss < result.losses[0]
    assert result.beta is None
    assert result.ending == SMALL_GRADIENT


def test_what_lowers_the_loss_is_learned() -> None:
    # The target is near by itself; what its rivals are sent only brings them nearer: ignore the neighbours.
    graph = graph_of(6, [], [(0, 2), (0, 3), (0, 4), (0, 5)])
    result = train(graph, [[step([0.1, 0.2, 0.3, 0.31, 0.32, 0.33], 1)]], TrainingSettings(relevant=1, threshold=0.1))
    assert result.alpha[0] > GNN_RET.alpha[0]
    assert result.losses[-1] < result.losses[0]
    # The second sub-question is misleading and the first is not, so β falls from 1: remember.
    first, second = [0.1, 0.2, 0.8, 0.8, 0.8], [0.8, 0.8, 0.5, 0.3, 0.4]
    result = train(graph_of(5, [], []), [[step(first, 0, 1), step(second, 1)]], RGNN_RET)
    assert result.beta < 0.7
    assert result.loss < result.losses[0]
    # Layers are trained each.
    chain, distances = graph_of(10, [], [(0, 1), (1, 2)]), [0.1, 0.8, 0.9, 0.3, 0.35, 0.4, 0.45, 0.5, 0.55, 0.6]
    result = train(chain, [[step(distances, 1, 2)]], TrainingSettings(alpha=(0.9, 0.9), relevant=2, rate=0.1))
    assert result.loss < result.losses[0]
    assert len(result.alpha) == 2


def test_it_stops_when_the_loss_is_flat_at_the_border_or_at_the_last_step(star: PassageGraph) -> None:
    result = train(star, [[step([0.1, 0.2, *[0.9] * 8], 1)]])
    assert (result.losses, result.alpha, result.ending) == ((0.0,), (0.1,), SMALL_GRADIENT)
    # Nothing is nearer than α = 0 allows, and the gradient is not small there.
    result = train(star, [[step([0.5, 0.9, *[0.2] * 8], 1)]], TrainingSettings(alpha=(0.4,), relevant=10))
    assert (result.alpha, result.ending) == ((0.0,), AT_BORDER)
    assert len(result.losses) < 10
    seen: list[tuple[str, int, int]] = []
    settings = TrainingSettings(alpha=(1.0,), rate=0.01, relevant=1, max_steps=3)
    result = train(star, [[step(FAR_TARGET, 1)]], settings, lambda *args: seen.append(args))
    assert (result.ending, len(result.losses), seen[-1]) == (LAST_STEP, 4, ("train", 3, 3))


def test_it_stops_when_the_loss_keeps_rising(star: PassageGraph, monkeypatch: pytest.MonkeyPatch) -> None:
    heights = iter([0.5, 0.4, 0.3, 0.35, 0.36, 0.37, 0.38, 0.39, 0.2])

    def rise(*arguments: object) -> LossAndGradient:
        return LossAndGradient(next(heights), np.array([-0.05, 0.0]))

    monkeypatch.setattr(HingeObjective, "compute_exact", rise)
    result = train(star, [[step(FAR_TARGET, 1)]])
    assert result.losses[-1] == 0.39
    assert result.ending == RISING_LOSS
    assert (result.loss, result.alpha) == (0.3, (pytest.approx(0.2),))


@pytest.mark.parametrize(
    ("steps", "alpha", "message"),
    [
        ([], 0.5, "nothing to train on"),
        ([[step(FAR_TARGET, 1)], [step(FAR_TARGET)]], 0.5, "question 2 names no supporting passage"),
        ([[step(FAR_TARGET, 1)]], 1.5, "between 0 and 1"),
    ],
)
def test_nothing_to_train_on(star: PassageGraph, steps: list[list[TrainingStep]], alpha: float, message: str) -> None:
    with pytest.raises(BadInputError, match=message):
        train(star, steps, TrainingSettings(alpha=(alpha,)))


TRAINED_ON = TrainedOn(questions="train.jsonl", question_count=1, passage_count=10, embedder="words")


def test_weights_are_read_as_written(star: PassageGraph, tmp_path: Path) -> None:
    for chosen in (GNN_RET, RGNN_RET):
        weights = describe_training(train(star, [[step(FAR_TARGET, 1)]], chosen), chosen, TRAINED_ON)
        write_weights(tmp_path / "weights.json", weights)
        assert read_weights(tmp_path / "weights.json") == weights
        assert weights.method == ("gnn_ret" if chosen is GNN_RET else "rgnn_ret")
    with pytest.raises(BadInputError, match=r"none\.json cannot be read"):
        read_weights(tmp_path / "none.json")
    with pytest.raises(BadInputError, match="cannot be written"):
        write_weights(tmp_path / "no" / "folder.json", weights)


@pytest.mark.parametrize(
    ("change", "message"),
    [
        (('"alpha": [', '"alpha": [7.0,'), r"alpha\.0: Input should be less than or equal to 1"),
        (('"format": 1', '"format": 2'), r"format: Input should be 1"),
        (('"method"', '"methods"'), "method"),
        (("{", ""), "the file: Invalid JSON"),
    ],
)
def test_other_files_are_refused(star: PassageGraph, tmp_path: Path, change: tuple[str, str], message: str) -> None:
    path = tmp_path / "weights.json"
    write_weights(path, describe_training(train(star, [[step(FAR_TARGET, 1)]]), GNN_RET, TRAINED_ON))
    path.write_text(path.read_text(encoding="utf-8").replace(*change, 1), encoding="utf-8")
    with pytest.raises(BadInputError, match=message):
        read_weights(path)


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
        *(problem.distances, problem.neighbours, problem.targets, alpha, beta),
        *(problem.relevant, problem.competitors, threshold, MESSAGES[message]),
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
        *(problem.distances, problem.neighbours, problem.targets, problem.alpha, problem.beta),
        *(problem.relevant, problem.competitors, threshold),
    )
    assert result.gradient == pytest.approx(expected)


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
