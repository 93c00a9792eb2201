"""`triplebeam mcp`: the collections as tools for a model."""

from enum import StrEnum
from pathlib import Path
from typing import Annotated

import typer

from triplebeam.serve.cli.options import EmbedderName, Offline


class Transport(StrEnum):
    """How a client reaches the server."""

    stdio = "stdio"
    http = "http"


def mcp(
    folders: Annotated[
        list[Path],
        typer.Argument(metavar="DIR…", help="Indexes, or folders with indexes NAME.index in them.", show_default=False),
    ],
    transport: Annotated[
        Transport, typer.Option(help="stdio: the client starts this command. http: at http://127.0.0.1:PORT/mcp.")
    ] = Transport.stdio,
    port: Annotated[int, typer.Option(min=1, max=65535, help="Where http listens, on this machine only.")] = 8001,
    embedder: EmbedderName = None,
    offline: Offline = False,
) -> None:
    """Serve indexes to a model over the Model Context Protocol: search, expand, ask, read_passage.

    Over http it answers this machine only and asks for no key; `triplebeam serve` has the same tools behind keys.

    Examples:

        triplebeam mcp my.index

        triplebeam mcp indexes/ --transport http --port 8001
    """
    from triplebeam.serve.mcp import Folders, make_server
    from triplebeam.settings import read_settings

    settings = read_settings(embedder=embedder, offline=offline or None)
    server = make_server(Folders(find_indexes(folders), settings))
    if transport is Transport.stdio:
        server.run("stdio")
    else:
        typer.echo(f"triplebeam: tools at http://127.0.0.1:{port}/mcp; stop with Ctrl-C.", err=True)
        server.run("streamable-http", host="127.0.0.1", port=port)


def find_indexes(folders: list[Path]) -> dict[str, Path]:
    """The indexes that are, or are in, these folders: by name, without ``.index``."""
    from triplebeam.errors import BadInputError
    from triplebeam.index.manifest import is_index

    found: dict[str, Path] = {}
    for folder in folders:
        inside = [] if is_index(folder) else [path for path in sorted(folder.glob("*.index")) if is_index(path)]
        for index in inside or [folder]:  # what is no index either is told of when it is opened
            name = index.absolute().name.removesuffix(".index")
            if found.setdefault(name, index) != index:
                raise BadInputError(f"{found[name]} and {index} would both be the collection {name!r}: rename one.")
    return found
