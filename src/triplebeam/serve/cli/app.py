"""The table of commands, each loaded when it is called."""

import sys
from collections.abc import Iterable
from importlib import import_module
from importlib.util import LazyLoader, find_spec, module_from_spec
from itertools import pairwise
from typing import Any

import typer
from typer.core import TyperCommand, TyperGroup

from triplebeam.errors import BadInputError
from triplebeam.plugins import find_plugin, research_missing

#: Commands in the order in which a newcomer needs them, with the first paragraph of their help; each is in the module
#: of its name.
COMMANDS = {
    "demo": "Index a small corpus and compare plain search with the graph on a question that needs two passages.",
    "index": "Index documents: add new ones and update changed ones. Run it again to continue after an interruption.",
    "sync": "Sync an index with folders: add new files, update changed ones, remove deleted ones.",
    "remove": "Remove documents from an index, with their passages and triples.",
    "search": "Find passages, including those that only a chain of facts leads to.",
    "show": "Print a whole passage with its location and facts, or all passages of a document in order.",
    "ask": "Answer a question: show each step as it happens, then the answer and its evidence.",
    "status": "Show the contents of an index, and check that its files are complete and that its store opens.",
    "repair": "Check every file of an index, and rebuild damaged or missing ones from the store.",
    "correct": "Correct the triples of an index: drop triples, add triples, merge the names of an entity.",
    "bench": "Do you need a graph? Compare recall, time, encodings and tokens of methods, and recommend one.",
    "tune": "Choose the weight of graph walks in the default search, using questions with known gold passages.",
    "serve": "Serve indexes over HTTP, with a web page for searching and asking.",
    "mcp": "Serve indexes to a model over the Model Context Protocol: search, expand, ask, read_passage.",
    "keys": "Manage the API keys of a server.",
    "doctor": "Check the language model, the local models and an index, and say how to fix each problem.",
}
#: Names that somebody may try, with what to use instead.
_INSTEAD = {
    "compact": "repair INDEX --purge",
    "triples": "show INDEX --triples",
    "model": "doctor --install",
    "plan": "index INDEX SOURCE… --extractor llm --dry-run",
    **{name: f"research {name}" for name in ("experiment", "dataset", "questions", "train")},
}
_DEBUG = "--debug"
_MAX_HELP_COLUMNS = 110
#: SciPy names every part of NumPy while it is imported; these take a tenth of a search, and nothing here uses them.
_UNUSED_PARTS_OF_NUMPY = ("f2py", "polynomial", "testing")
#: So do these, which NumPy itself may use: threads that do so for the first time at once would find them half loaded.
#: `search` is the command that people wait for, and one thread.
_RARE_PARTS_OF_NUMPY = ("char", "ctypeslib", "ma", "rec", "strings")


class _Commands(TyperGroup):
    """Lists commands by their table and loads the one that is called.

    Takes ``--debug`` out wherever it is, and notices where the value of an option has been left out.
    """

    def __init__(self, **kwargs: Any) -> None:
        super().__init__(**kwargs)
        self.commands = {name: TyperCommand(name, help=text, short_help=text) for name, text in COMMANDS.items()}

    def make_context(self, *args: Any, **kwargs: Any) -> Any:
        """Make the context of a call, with all options in place."""
        _hide_flag_types(self)
        return super().make_context(*args, **kwargs)

    def get_command(self, ctx: Any, cmd_name: str) -> Any:
        """Return the command as it is listed; one that is not our own comes from a package that adds commands."""
        if (own := super().get_command(ctx, cmd_name)) is not None:
            return own
        if cmd_name in _INSTEAD:
            raise BadInputError(f"there is no command {cmd_name}: use `triplebeam {_INSTEAD[cmd_name]}`.")
        added = find_plugin("commands", cmd_name)
        if added is None and cmd_name == "research":
            raise research_missing(cmd_name, "a command")
        if added is None:
            return None
        group = typer.main.get_group(added)
        _hide_flag_types(group)
        return group

    def resolve_command(self, ctx: Any, args: list[str]) -> Any:
        """Return the command, and what follows its name."""
        name, command, words = super().resolve_command(ctx, args)
        if name in COMMANDS:
            command = load_command(name)
        end = words.index("--") if "--" in words else len(words)
        if command and not ctx.resilient_parsing:
            _check_values(typer.Context(command, parent=ctx, info_name=name), words[:end])
        return name, command, [word for word in words[:end] if word != _DEBUG] + words[end:]


def load_command(name: str) -> Any:
    """Load a command of the table with its options, or a group of commands."""
    _postpone_imports(_UNUSED_PARTS_OF_NUMPY + (_RARE_PARTS_OF_NUMPY if name == "search" else ()))
    found, holder = getattr(import_module(f"{__package__}.{name}"), name), typer.Typer(rich_markup_mode=None)
    if isinstance(found, typer.Typer):
        holder.add_typer(found, name=name)
    else:
        holder.command()(found)
    command = typer.main.get_group(holder).commands[name]
    _hide_flag_types(command)
    return command


def _postpone_imports(parts: Iterable[str]) -> None:
    """Have parts of NumPy loaded when something of them is used, and not by SciPy."""
    numpy = import_module("numpy")
    for part in parts:
        spec = find_spec(f"numpy.{part}")
        if spec and spec.loader and spec.name not in sys.modules:
            spec.loader = LazyLoader(spec.loader)
            sys.modules[spec.name] = module = module_from_spec(spec)
            spec.loader.exec_module(module)
            setattr(numpy, part, module)


def _hide_flag_types(command: Any) -> None:
    """Let help screens show ``--quiet`` rather than ``--quiet <bool>``, for a command and all below it."""
    for param in [*command.params, command.get_help_option(typer.Context(command))]:
        if getattr(param, "is_flag", False):
            param.metavar = ""
    for below in getattr(command, "commands", {}).values():
        _hide_flag_types(below)


def _check_values(ctx: typer.Context, words: list[str]) -> None:
    """Refuse an option without its value: the next option would be taken for it, and another fault be named."""
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
    rich_markup_mode=None,  # rich's help takes three times as long to show
    context_settings={"max_content_width": _MAX_HELP_COLUMNS},
    pretty_exceptions_enable=False,
)


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
