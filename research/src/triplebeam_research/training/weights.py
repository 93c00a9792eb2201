"""Trained values written to a small JSON file that says what they were trained on."""

from pathlib import Path

from triplebeam.errors import BadInputError
from triplebeam.methods.gnn_ret.weights import TrainedOn, TrainingSettings, Weights
from triplebeam_research.training.descent import TrainingResult


def describe_training(result: TrainingResult, settings: TrainingSettings, trained_on: TrainedOn) -> Weights:
    """Describe a training's outcome as a file's content."""
    return Weights(
        method="gnn_ret" if result.beta is None else "rgnn_ret",
        alpha=result.alpha,
        beta=result.beta,
        trained_on=trained_on,
        settings=settings,
        loss=result.loss,
        steps=len(result.losses) - 1,
        ending=result.ending,
    )


def write_weights(path: Path, weights: Weights) -> None:
    """Write the file."""
    try:
        path.write_text(weights.model_dump_json(indent=2) + "\n", encoding="utf-8")
    except OSError as error:
        raise BadInputError(
            f"the weights cannot be written to {path} ({error.strerror}): name another file."
        ) from error
