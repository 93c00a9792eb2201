"""Options that several commands share, described once."""

import glob
import os
from pathlib import Path
from typing import Annotated, TypeAlias

import typer

from triplebeam import assemble
from triplebeam.index.location import Location, parse_location


def complete_index(incomplete: str) -> list[str]:
    """Folders with an index, and folders that may hold one further down."""
    parent, begun = os.path.split(incomplete)  # a Path would lose "./" and a final slash
    folders = [path for path in Path(parent or ".").glob(f"{glob.escape(begun)}*") if path.is_dir()]
    indexes = [path for path in folders if (path / "manifest.json").is_file()]
    return [incomplete.removesuffix(begun) + path.name for path in indexes or folders]


def complete_extractor(incomplete: str) -> list[str]:
    """Extractors by name."""
    return [name for name in ("local", "llm", "llm-two-step", "none") if name.startswith(incomplete)]


def complete_search_method(incomplete: str) -> list[str]:
    """Methods that find passages, by name."""
    return [name for name in assemble.search_methods() if name.startswith(incomplete)]


def complete_ask_method(incomplete: str) -> list[str]:
    """Methods that answer, by name."""
    return [name for name in assemble.ask_methods() if name.startswith(incomplete)]


def read_location(text: str) -> Location:
    """Parse the index that is meant, be it by the path of a folder or by the address of a cluster."""
    return parse_location(text, assemble.read_settings().state)


IndexPlace: TypeAlias = Annotated[
    Location,
    typer.Argument(
        metavar="INDEX",
        help="The index: a folder, or opensearch://HOST:9200/PREFIX.",
        autocompletion=complete_index,
        parser=read_location,
    ),
]
#: Words that a shell has split are one question: quotation marks around it are not needed.
Question: TypeAlias = Annotated[list[str], typer.Argument(metavar="QUESTION")]
AsJson: TypeAlias = Annotated[bool, typer.Option("--json", help="Print JSON on stdout.")]
Limit: TypeAlias = Annotated[int | None, typer.Option(min=1, help="Only the first N questions.")]
Again: TypeAlias = Annotated[bool, typer.Option("--again", help="Measure again instead of reusing saved results.")]
Offline: TypeAlias = Annotated[
    bool, typer.Option("--offline", help="Download nothing: fail if model weights are missing.")
]
EmbedderName: TypeAlias = Annotated[
    str | None,
    typer.Option(
        "--embedder",
        help="granite, minilm, a folder with an ONNX model, a model hub's name, or openai:MODEL."
        " Default: the index's own; granite for a new index.",
    ),
]
WhereText: TypeAlias = Annotated[
    str | None,
    typer.Option(
        "--where",
        metavar="FILTER",
        help='Restrict to passages whose metadata match, such as \'year >= 2020 and source in ("a", "b")\'.'
        " See docs/guides/filters.md.",
    ),
]
FollowLinks: TypeAlias = Annotated[
    bool, typer.Option("--follow-links", help="Also follow links that lead out of a folder.")
]
