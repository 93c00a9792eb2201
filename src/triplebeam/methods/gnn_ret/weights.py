"""Trained values, read from a small JSON file that says what they were trained on; the research package trains them."""

from dataclasses import dataclass
from pathlib import Path
from typing import Annotated, Literal, TypeAlias

from pydantic import BaseModel, ConfigDict, Field, ValidationError

from triplebeam.errors import BadInputError
from triplebeam.index.folder.passage_graph import PAPER_KINDS, EdgeKind
from triplebeam.methods.gnn_ret.propagate import Message

Gradient: TypeAlias = Literal["exact", "printed"]
#: The label sets of Table 2: Y, Y^t and Y^t+ (the paper's choice).
Targets: TypeAlias = Literal["all", "current", "current_and_later"]
_Share = Annotated[float, Field(ge=0, le=1)]


@dataclass(frozen=True, kw_only=True)
class TrainingSettings:
    """What a training is made of; the defaults are GNN-Ret's."""

    alpha: tuple[float, ...] = (0.1,)
    """Where each layer's α starts."""
    beta: float | None = None
    """Where β starts; none for GNN-Ret."""
    rate: float = 1.0
    threshold: float = 0.01
    relevant: int = 5
    competitors: int = 25
    message: Message = "min"
    edges: tuple[EdgeKind, ...] = PAPER_KINDS
    gradient: Gradient = "exact"
    targets: Targets = "all"
    """What each step is to find, of the question's gold passages."""
    tolerance: float = 0.001
    rises: int = 5
    max_steps: int = 1000


GNN_RET = TrainingSettings()
RGNN_RET = TrainingSettings(alpha=(1.0,), beta=1.0, competitors=10, targets="current_and_later")


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


def read_weights(path: Path) -> Weights:
    """Read and check the file."""
    try:
        return Weights.model_validate_json(path.read_text(encoding="utf-8"))
    except (OSError, UnicodeDecodeError) as error:
        raise BadInputError(
            f"the weights {path} cannot be read ({error}): name a file of `triplebeam research train`."
        ) from error
    except ValidationError as error:
        first = error.errors()[0]
        place = ".".join(map(str, first["loc"])) or "the file"
        raise BadInputError(
            f"{path} holds no weights this Triplebeam reads: {place}: {first['msg']}. Train again, or name a file of"
            " `triplebeam research train`."
        ) from error
