"""Training on made-up problems, its stopping rules, and the file of weights."""

from pathlib import Path

import numpy as np
import pytest

from small_graphs import graph_of
from triplebeam.errors import BadInputError
from triplebeam.index.folder.passage_graph import PassageGraph
from triplebeam.methods.gnn_ret import GNN_RET, RGNN_RET, TrainedOn, TrainingSettings, read_weights
from triplebeam.methods.gnn_ret.weights import Gradient
from triplebeam_research.training.descent import AT_BORDER, LAST_STEP, RISING_LOSS, SMALL_GRADIENT, train
from triplebeam_research.training.objective import TrainingStep
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


def test_a_target_among_its_likes_teaches_to_ignore_the_neighbours() -> None:
    """The target is near by itself; what its rivals are sent only brings them nearer."""
    graph = graph_of(6, [], [(0, 2), (0, 3), (0, 4), (0, 5)])
    result = train(graph, [[step([0.1, 0.2, 0.3, 0.31, 0.32, 0.33], 1)]], TrainingSettings(relevant=1, threshold=0.1))
    assert result.alpha[0] > GNN_RET.alpha[0]
    assert result.losses[-1] < result.losses[0]


def test_steps_that_prepare_each_other_teach_to_remember() -> None:
    """The second sub-question is misleading and the first is not, so β falls from 1."""
    first, second = [0.1, 0.2, 0.8, 0.8, 0.8], [0.8, 0.8, 0.5, 0.3, 0.4]
    result = train(graph_of(5, [], []), [[step(first, 0, 1), step(second, 1)]], RGNN_RET)
    assert result.beta is not None
    assert result.beta < 0.7
    assert result.loss < result.losses[0]


def test_layers_are_trained_each(star: PassageGraph) -> None:
    chain = graph_of(10, [], [(0, 1), (1, 2)])
    distances = [0.1, 0.8, 0.9, 0.3, 0.35, 0.4, 0.45, 0.5, 0.55, 0.6]
    result = train(chain, [[step(distances, 1, 2)]], TrainingSettings(alpha=(0.9, 0.9), relevant=2, rate=0.1))
    assert result.loss < result.losses[0]
    assert len(result.alpha) == 2


def test_it_stops_when_the_loss_is_flat(star: PassageGraph) -> None:
    result = train(star, [[step([0.1, 0.2, *[0.9] * 8], 1)]])
    assert result.losses == (0.0,)
    assert (result.alpha, result.ending) == ((0.1,), SMALL_GRADIENT)


def test_it_stops_at_the_border(star: PassageGraph) -> None:
    """Nothing is nearer than α = 0 allows, and the gradient is not small there."""
    far = [0.5, 0.9, *[0.2] * 8]
    result = train(star, [[step(far, 1)]], TrainingSettings(alpha=(0.4,), relevant=10))
    assert result.alpha == (0.0,)
    assert result.ending == AT_BORDER
    assert len(result.losses) < 10


def test_it_stops_when_the_loss_keeps_rising_and_gives_the_best_values(
    star: PassageGraph, monkeypatch: pytest.MonkeyPatch
) -> None:
    from triplebeam_research.training import objective

    heights = iter([0.5, 0.4, 0.3, 0.35, 0.36, 0.37, 0.38, 0.39, 0.2])

    def rising(*arguments: object) -> objective.LossAndGradient:
        return objective.LossAndGradient(next(heights), np.array([-0.05, 0.0]))

    monkeypatch.setattr(objective.HingeObjective, "compute_exact", rising)
    result = train(star, [[step(FAR_TARGET, 1)]])
    assert result.losses[-1] == 0.39
    assert result.ending == RISING_LOSS
    assert (result.loss, result.alpha) == (0.3, (pytest.approx(0.2),))


def test_it_stops_at_the_last_step(star: PassageGraph) -> None:
    seen: list[tuple[str, int, int]] = []
    settings = TrainingSettings(alpha=(1.0,), rate=0.01, relevant=1, max_steps=3)
    result = train(star, [[step(FAR_TARGET, 1)]], settings, lambda *args: seen.append(args))
    assert result.ending == LAST_STEP
    assert len(result.losses) == 4
    assert seen[-1] == ("train", 3, 3)


def test_nothing_to_train_on_is_said(star: PassageGraph) -> None:
    with pytest.raises(BadInputError, match="nothing to train on"):
        train(star, [])
    with pytest.raises(BadInputError, match="question 2 names no supporting passage"):
        train(star, [[step(FAR_TARGET, 1)], [step(FAR_TARGET)]])
    with pytest.raises(BadInputError, match="between 0 and 1"):
        train(star, [[step(FAR_TARGET, 1)]], TrainingSettings(alpha=(1.5,)))


TRAINED_ON = TrainedOn(questions="train.jsonl", question_count=1, passage_count=10, embedder="words")


def test_weights_are_read_as_written(star: PassageGraph, tmp_path: Path) -> None:
    for settings in (GNN_RET, RGNN_RET):
        weights = describe_training(train(star, [[step(FAR_TARGET, 1)]], settings), settings, TRAINED_ON)
        write_weights(tmp_path / "weights.json", weights)
        assert read_weights(tmp_path / "weights.json") == weights
        assert weights.method == ("gnn_ret" if settings is GNN_RET else "rgnn_ret")


@pytest.mark.parametrize(
    ("change", "message"),
    [
        (('"alpha": [', '"alpha": [7.0,'), r"alpha\.0: Input should be less than or equal to 1"),
        (('"format": 1', '"format": 2'), r"format: Input should be 1"),
        (('"method"', '"methods"'), "method"),
        (("{", ""), "the file: Invalid JSON"),
    ],
)
def test_a_file_of_something_else_is_refused(
    star: PassageGraph, tmp_path: Path, change: tuple[str, str], message: str
) -> None:
    path = tmp_path / "weights.json"
    write_weights(path, describe_training(train(star, [[step(FAR_TARGET, 1)]]), GNN_RET, TRAINED_ON))
    path.write_text(path.read_text(encoding="utf-8").replace(*change, 1), encoding="utf-8")
    with pytest.raises(BadInputError, match=message):
        read_weights(path)


def test_files_that_are_not_there_are_named(star: PassageGraph, tmp_path: Path) -> None:
    with pytest.raises(BadInputError, match=r"none\.json cannot be read"):
        read_weights(tmp_path / "none.json")
    weights = describe_training(train(star, [[step(FAR_TARGET, 1)]]), GNN_RET, TRAINED_ON)
    with pytest.raises(BadInputError, match="cannot be written"):
        write_weights(tmp_path / "no" / "folder.json", weights)
