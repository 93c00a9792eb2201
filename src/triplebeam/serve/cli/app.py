"""The commands, in the order in which a newcomer needs them."""

from itertools import pairwise
from typing import Any

import typer
from typer.core import TyperGroup

from triplebeam.errors import BadInputError
from triplebeam.plugins import RESEARCH, find_plugin, research_missing
from triplebeam.serve.cli.ask import ask
from triplebeam.serve.cli.bench import bench
from triplebeam.serve.cli.compact import compact
from triplebeam.serve.cli.correct import correct
from triplebeam.serve.cli.demo import demo
from triplebeam.serve.cli.doctor import doctor
from triplebeam.serve.cli.index import index
from triplebeam.serve.cli.keys import keys
from triplebeam.serve.cli.mcp import mcp
from triplebeam.serve.cli.model import model
from triplebeam.serve.cli.remove import remove
from triplebeam.serve.cli.repair import repair
from triplebeam.serve.cli.search import search
from triplebeam.serve.cli.serve import serve
from triplebeam.serve.cli.show import show
from triplebeam.serve.cli.status import status
from triplebeam.serve.cli.sync import sync
from triplebeam.serve.cli.triples import triples
from triplebeam.serve.cli.tune import tune

#: Commands of the research package.
_RESEARCH_COMMANDS = ("experiment", "dataset", "questions", "train")
_DEBUG = "--debug"


class _Commands(TyperGroup):
    """Takes ``--debug`` out wherever it is, and notices where the value of an option has been left out."""

    def make_context(self, *args: Any, **kwargs: Any) -> Any:
        """The context of a call, with all options in place."""
        _hide_flag_types(self)
        return super().make_context(*args, **kwargs)

    def get_command(self, ctx: Any, cmd_name: str) -> Any:
        """The command; one that is not Triplebeam's own comes from a package that adds commands."""
        if (own := super().get_command(ctx, cmd_name)) is not None:
            return own
        if cmd_name in _RESEARCH_COMMANDS:
            raise BadInputError(
                f'"{cmd_name}" is a command of the research package: pip install {RESEARCH}, then use'
                f" `triplebeam research {cmd_name}`"
            )
        added = find_plugin("commands", cmd_name)
        if added is None and cmd_name == "research":
            raise research_missing(cmd_name, "a command")
        return added and typer.main.get_group(added)

    def resolve_command(self, ctx: Any, args: list[str]) -> Any:
        """The command, and what follows its name."""
        name, command, words = super().resolve_command(ctx, args)
        end = words.index("--") if "--" in words else len(words)
        if command and not ctx.resilient_parsing:
            _check_values(typer.Context(command, parent=ctx, info_name=name), words[:end])
        return name, command, [word for word in words[:end] if word != _DEBUG] + words[end:]


def _hide_flag_types(command: Any) -> None:
    """Let help screens show ``--quiet`` rather than ``--quiet <bool>``, for a command and all below it."""
    for param in [*command.params, command.get_help_option(typer.Context(command))]:
        if getattr(param, "is_flag", False):
            param.metavar = ""
    for below in getattr(command, "commands", {}).values():
        _hide_flag_types(below)


def _check_values(ctx: typer.Context, words: list[str]) -> None:
    """Otherwise the next option would be taken for the value, and what then lacks or is too much would be named."""
    params = ctx.command.params
    names = {_DEBUG, *(name for param in params for name in (*param.opts, *param.secondary_opts) if name[0] == "-")}
    valued = {name for param in params if not getattr(param, "is_flag", True) for name in param.opts}
    for word, following in pairwise(words):
        if word in valued and following in names:
            ctx.fail(f"Option {word!r} needs a value, and {following!r} is another option.")


app = typer.Typer(
    cls=_Commands,
    name="triplebeam",
    help="Multi-hop search and question answering over your own documents, through a graph of triples.\n\n"
    'Start with `triplebeam demo`, then `triplebeam index my.index docs/` and `triplebeam search my.index "…"`.',
    epilog="`triplebeam research` (experiments, datasets, training) comes with the package triplebeam-research.",
    no_args_is_help=True,
    rich_markup_mode="markdown",
    pretty_exceptions_enable=False,
)
app.command()(demo)
app.command()(index)
app.command()(sync)
app.command()(remove)
app.command()(compact)
app.command()(repair)
app.command()(search)
app.command()(show)
app.command()(triples)
app.command()(correct)
app.command()(ask)
app.command()(serve)
app.command()(status)
app.command()(doctor)
app.command()(bench)
app.command()(tune)
app.command()(mcp)
app.add_typer(keys, name="keys")
app.add_typer(model, name="model")


@app.command(hidden=True, context_settings={"allow_extra_args": True, "ignore_unknown_options": True})
def plan() -> None:
    """Name the command that estimates what extraction costs."""
    raise BadInputError("there is no command plan: use `triplebeam index INDEX SOURCE… --extractor llm --dry-run`.")


@app.callback(invoke_without_command=True)
def _global_options(
    version: bool = typer.Option(False, "--version", help="Print the version and exit."),
    # For the list of options: `main` looks for it, since it is what catches errors.
    debug: bool = typer.Option(False, _DEBUG, help="Show the full traceback of an error; also after any command."),
) -> None:
    if version:
        from importlib.metadata import version as installed

        typer.echo(f"triplebeam {installed('triplebeam')}")
        raise typer.Exit
