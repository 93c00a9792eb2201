"""`triplebeam mcp`: indexes as tools for a model."""

from enum import StrEnum
from typing import Annotated

import typer

from triplebeam import assemble
from triplebeam.index.location import Location
from triplebeam.serve.cli.options import EmbedderName, Offline, WhereText, read_location
from triplebeam.serve.library import Library
from triplebeam.serve.limits import UNLIMITED
from triplebeam.serve.running import Runner


class Transport(StrEnum):
    """How a client reaches the server."""

    stdio = "stdio"
    http = "http"


def mcp(
    folders: Annotated[
        list[Location],
        typer.Argument(
            metavar="DIR…", help="Indexes, or folders with indexes NAME.index in them.", parser=read_location
        ),
    ],
    transport: Annotated[
        Transport, typer.Option(help="stdio: the client starts this command. http: at http://127.0.0.1:PORT/mcp.")
    ] = Transport.stdio,
    port: Annotated[int, typer.Option(min=1, max=65535, help="Port for http, on this machine only.")] = 8001,
    where: WhereText = None,
    embedder: EmbedderName = None,
    offline: Offline = False,
) -> None:
    """Serve indexes to a model over the Model Context Protocol: search, expand, ask, read_passage.

    Over http it needs no key and is reachable from this machine only;
    `triplebeam serve` has the same tools behind keys.

    Examples:

        triplebeam mcp my.index

        triplebeam mcp indexes/ --transport http --port 8001

        triplebeam mcp my.index --where 'group = "open"'
    """
    from triplebeam.serve.mcp import make_server

    library = Library(folders, assemble.read_settings(embedder=embedder, offline=offline or None))
    library.open_all()  # what is wrong with an index is said now, not at a model's first call
    if where is not None:
        for name in library.names():
            library.index(name, where)  # and what is wrong with the filter
    server = make_server(Runner(library.seen_with(None, where), UNLIMITED))
    if transport is Transport.stdio:
        server.run("stdio")
    else:
        typer.echo(f"triplebeam: tools at http://127.0.0.1:{port}/mcp; stop with Ctrl-C.", err=True)
        server.run("streamable-http", host="127.0.0.1", port=port)
