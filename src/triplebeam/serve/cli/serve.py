"""`triplebeam serve`: indexes over HTTP."""

import ipaddress
import logging
import os
import socket
import sys
import threading
from contextlib import suppress
from importlib.util import find_spec
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from triplebeam import assemble
from triplebeam.errors import BadInputError, ExtraMissingError, TriplebeamError
from triplebeam.index.location import Location
from triplebeam.serve.cli.options import EmbedderName, Offline, read_location
from triplebeam.serve.library import Library
from triplebeam.serve.limits import MEGABYTE, Limits

if TYPE_CHECKING:
    from fastapi import FastAPI

_LIBRARIES = ("fastapi", "uvicorn", "prometheus_client", "python_multipart")
_LOOPBACK_NAMES = ("localhost", "127.0.0.1", "::1")
_SECONDS_TO_FINISH = 10
_MAX_NAMES_SHOWN = 10
#: Embedders that are paid for by the text.
_ENDPOINT = "openai:"


def serve(
    folders: Annotated[
        list[Location],
        typer.Argument(
            metavar="DIR…",
            help="Indexes, or a data folder: each NAME.index in it is served, and new indexes are created in it.",
            parser=read_location,
        ),
    ],
    host: Annotated[str, typer.Option(help="Address to listen on. All but loopback need a key.")] = "127.0.0.1",
    port: Annotated[int, typer.Option(min=0, max=65535, help="Port to listen on; 0: any free port.")] = 8000,
    reports: Annotated[
        Path | None, typer.Option(metavar="DIR", help="Reports of `triplebeam research experiment` to show.")
    ] = None,
    max_upload_mb: Annotated[float, typer.Option(min=0.001, help="Maximum size of a request in megabytes.")] = 20.0,
    search_seconds: Annotated[float, typer.Option(min=0.001, help="Time limit of a search.")] = 30.0,
    ask_seconds: Annotated[float, typer.Option(min=0.001, help="Time limit of an agent.")] = 600.0,
    agents: Annotated[int, typer.Option(min=1, help="Maximum number of concurrent agents.")] = 4,
    cors_origin: Annotated[
        list[str] | None, typer.Option(help="Site whose pages may use the server (https://example.org); repeatable.")
    ] = None,
    embedder: EmbedderName = None,
    offline: Offline = False,
) -> None:
    """Serve indexes over HTTP, with a web page for searching and asking.

    Examples:

        triplebeam serve my.index

        triplebeam serve data --port 8080 --agents 2

        triplebeam keys create data --role write && triplebeam serve data --host 0.0.0.0
    """
    check_installed()
    from triplebeam.serve.http.app import make_app
    from triplebeam.serve.http.keys import Keys

    if reports and not reports.is_dir():
        raise BadInputError(f"there is no folder {reports} of reports: check --reports.")
    library = Library(folders, assemble.read_settings(embedder=embedder, offline=offline or None))
    local = _is_loopback(host)
    keys = Keys(library.keys_file, required=not local)
    if not local and not keys.entries():
        of_keys = library.keys_file.parent.resolve()
        folder = next((each for each in folders if each.state.resolve() == of_keys), folders[0])
        raise BadInputError(
            f"{host} can be reached from other machines and there is no key: create one with `triplebeam keys create"
            f" {folder} --role write`, or listen on 127.0.0.1."
        )
    limits = Limits(
        upload_bytes=int(max_upload_mb * MEGABYTE),
        search_seconds=search_seconds,
        ask_seconds=ask_seconds,
        agents=agents,
    )
    app = make_app(
        library,
        keys=keys,
        limits=limits,
        reports=reports,
        cors_origins=cors_origin or (),
        # Without keys, anyone who reaches the port may do anything: accept only this machine's own names.
        allowed_hosts=_LOOPBACK_NAMES,
    )
    _run(app, host, port, library)


def check_installed() -> None:
    """Refuse to go on without the server's libraries, which are an optional extra."""
    if not all(find_spec(name) for name in _LIBRARIES):
        raise ExtraMissingError("server")


def _is_loopback(host: str) -> bool:
    if host == "localhost":
        return True
    try:
        return ipaddress.ip_address(host).is_loopback
    except ValueError:
        return False


def _run(app: "FastAPI", host: str, port: int, library: Library) -> None:
    """Listen until SIGINT or SIGTERM; running replies get some seconds to finish."""
    import uvicorn

    class Server(uvicorn.Server):
        async def shutdown(self, sockets: "list[socket.socket] | None" = None) -> None:
            app.state.jobs.stopping.set()  # event streams of jobs would keep the server waiting
            await super().shutdown(sockets)

    # Set before the MCP library sets its own, which draws tracebacks for seconds, on the event loop.
    logging.basicConfig(level=logging.WARNING, format="%(asctime)s %(levelname)s %(name)s: %(message)s")
    try:
        listening = socket.create_server((host, port), family=socket.AF_INET6 if ":" in host else socket.AF_INET)
    except OSError as error:
        raise BadInputError(f"{host}:{port} is not free ({error.strerror}): choose another --port.") from error
    address = f"http://{f'[{host}]' if ':' in host else host}:{listening.getsockname()[1]}"
    names = library.names()
    more = f" and {len(names) - _MAX_NAMES_SHOWN:,} more" if len(names) > _MAX_NAMES_SHOWN else ""
    typer.echo(f"Triplebeam is listening at {address}: open {address}/ in a browser. Stop with Ctrl-C.", err=True)
    typer.echo(f"Indexes: {', '.join(names[:_MAX_NAMES_SHOWN]) or 'none yet'}{more}.", err=True)
    config = uvicorn.Config(
        app, access_log=False, log_level="warning", timeout_graceful_shutdown=_SECONDS_TO_FINISH, server_header=False
    )
    start_warm_up(library)
    with suppress(KeyboardInterrupt):  # uvicorn raises it again after a clean shutdown
        Server(config).run(sockets=[listening])
    if app.state.runner.busy or app.state.jobs.busy:
        # Python would wait for their threads, however long a model takes. Nothing is lost: a job is continued later.
        sys.stderr.flush()
        os._exit(0)


def start_warm_up(library: Library) -> threading.Thread:
    """Search the first index once, in a thread that nobody waits for, so that no caller waits for weights."""

    def search_once() -> None:
        # What goes wrong here goes wrong again in the first search, where there is somebody to tell.
        with suppress(TriplebeamError):
            for name in library.names()[:1]:
                index = library.index(name)
                embedder = library.settings.embedder or index.status.embedder.name
                if not embedder.startswith(_ENDPOINT):
                    index.search("warm up", k=1)

    thread = threading.Thread(target=search_once, name="warm-up", daemon=True)
    thread.start()
    return thread
