"""Trained values as a small JSON file that says what they were trained on."""

from pathlib import Path
from typing import Annotated, Literal

from pydantic import BaseModel, ConfigDict, Field, ValidationError

from triplebeam.errors import BadInputError
from triplebeam.methods.gnn_ret.training import TrainingResult, TrainingSettings

_Share = Annotated[float, Field(ge=0, le=1)]


class TrainedOn(BaseModel):
    """Where the values come from: they suit distances of one embedder over one kind of graph."""

    model_config = ConfigDict(frozen=True, extra="forbid")

    questions: str
    """The file's name."""
    question_count: int
    passage_count: int
    embedder: str
    base: str = "dense"


class Weights(BaseModel):
    """What a weights file holds."""

    model_config = ConfigDict(frozen=True, extra="forbid")

    format: Literal[1] = 1
    method: Literal["gnn_ret", "rgnn_ret"]
    alpha: tuple[_Share, ...]
    beta: _Share | None = None
    trained_on: TrainedOn
    settings: TrainingSettings
    loss: float
    steps: int
    ending: str

    @classmethod
    def of(cls, result: TrainingResult, settings: TrainingSettings, trained_on: TrainedOn) -> "Weights":
        """A training's outcome as a file's content."""
        return cls(
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


def read_weights(path: Path) -> Weights:
    """Read and check the file."""
    try:
        return Weights.model_validate_json(path.read_text(encoding="utf-8"))
    except (OSError, UnicodeDecodeError) as error:
        raise BadInputError(
            f"the weights {path} cannot be read ({error}): name a file of `triplebeam train`."
        ) from error
    except ValidationError as error:
        first = error.errors()[0]
        place = ".".join(map(str, first["loc"])) or "the file"
        raise BadInputError(
            f"{path} holds no weights this Triplebeam reads: {place}: {first['msg']}. Train again, or name a file of"
            " `triplebeam train`."
        ) from error
