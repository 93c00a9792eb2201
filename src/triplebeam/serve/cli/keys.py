"""`triplebeam keys`: who may use a server."""

from enum import StrEnum
from typing import TYPE_CHECKING, Annotated, TypeAlias

import typer

from triplebeam import assemble
from triplebeam.errors import nearest
from triplebeam.index.location import Location
from triplebeam.serve.cli.options import read_location
from triplebeam.serve.cli.serve import check_installed
from triplebeam.serve.library import Library
from triplebeam.where import parse, warn_of_other_spellings

if TYPE_CHECKING:
    from triplebeam.serve.http.keys import Keys

keys = typer.Typer(help="Manage the API keys of a server.", no_args_is_help=True)

Served: TypeAlias = Annotated[
    Location,
    typer.Argument(
        metavar="DIR",
        help="The data folder passed to `triplebeam serve`; if there is none, the first index.",
        parser=read_location,
    ),
]


class RoleName(StrEnum):
    """What a key allows."""

    READ = "read"
    WRITE = "write"


@keys.command()
def create(
    folder: Served,
    role: Annotated[RoleName, typer.Option(help="read: search and ask. write: also add and delete documents.")],
    name: Annotated[str, typer.Option(help="Name of the key. Default: key-1, key-2, …")] = "",
    index: Annotated[str | None, typer.Option(metavar="INDEX", help="Restrict the key to this index.")] = None,
    where: Annotated[
        str | None,
        typer.Option(metavar="FILTER", help="Restrict the key to matching passages, such as 'group = \"sales\"'."),
    ] = None,
) -> None:
    """Create a key and print it; it is shown only once. From then on every request needs a key.

    A key with --index or --where can only read. On every route, its holder sees only the matching passages: facts,
    counts and model input are those of an index of these passages.

    Examples:

        triplebeam keys create data --role write --name me

        triplebeam keys create data --role read --name "the intranet page"

        triplebeam keys create data --role read --name sales --index handbook --where 'group in ("all", "sales")'
    """
    typer.echo(_of(folder).create(role.value, name, index=index, where=where))
    for warning in warn_of_other_spellings(parse(where)) if where is not None else ():
        typer.echo(f"Warning: {warning}", err=True)
    there = _library(folder).names()
    if index is not None and index not in there:
        near = nearest(index, there)
        typer.echo(f"There is no index {index!r} in {folder} yet{near}: until then the key sees nothing.", err=True)


@keys.command("list")
def list_keys(folder: Served) -> None:
    """List the names and roles of keys, and what they are bound to. The keys themselves are not stored.

    Example:

        triplebeam keys list data
    """
    for entry in _of(folder).entries():
        bound = (entry.index and f"index {entry.index}", entry.where and f"where {entry.where}")
        typer.echo("\t".join(filter(None, (entry.name, entry.role, entry.created, *bound))))


@keys.command()
def delete(folder: Served, name: Annotated[str, typer.Argument(metavar="NAME")]) -> None:
    """Delete a key, with immediate effect. After the last one, every request is refused until you create another.

    Example:

        triplebeam keys delete data me
    """
    keys = _of(folder)
    keys.delete(name)
    if not keys.entries():
        typer.echo("No key is left, so a server of this folder refuses every request: create a key.", err=True)


def _of(folder: Location) -> "Keys":
    check_installed()
    from triplebeam.serve.http.keys import Keys

    return Keys(_library(folder).keys_file)


def _library(folder: Location) -> Library:
    return Library([folder], assemble.read_settings())
