"""Options that several commands share, described once."""

from pathlib import Path
from typing import Annotated, TypeAlias

import typer

IndexFolder: TypeAlias = Annotated[
    Path, typer.Argument(metavar="INDEX", help="The index: a folder.", show_default=False)
]
AsJson: TypeAlias = Annotated[bool, typer.Option("--json", metavar="", help="Print JSON on stdout.")]
Offline: TypeAlias = Annotated[
    bool, typer.Option("--offline", metavar="", help="Download nothing: fail if model weights are missing.")
]
EmbedderName: TypeAlias = Annotated[
    str | None,
    typer.Option(
        "--embedder",
        help="granite, minilm, a folder with an ONNX model, a model hub's name, or openai:MODEL."
        " Default: the index's own; granite for a new index.",
        show_default=False,
    ),
]
