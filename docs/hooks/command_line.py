"""The command line's reference page, written from the commands themselves whenever the site is built."""

from collections.abc import Iterator
from enum import Enum
from itertools import chain
from typing import Any

from typer.main import get_command

from triplebeam.plugins import load_plugins
from triplebeam.serve.cli.app import COMMANDS, load_command

PLACE = "<!-- generated: commands -->"


def on_page_markdown(markdown: str, **_: object) -> str:
    """Put the commands where the page wants them."""
    return markdown.replace(PLACE, commands()) if PLACE in markdown else markdown


def commands() -> str:
    """Every command as Markdown, in the order of `triplebeam --help`."""
    own = {name: load_command(name) for name in COMMANDS}
    added = (
        _described(f"triplebeam {group.info.name}", get_command(group).commands) for group in load_plugins("commands")
    )
    return "\n\n".join([*_described("triplebeam", own), *chain.from_iterable(added)])


def _described(path: str, group: dict[str, Any]) -> Iterator[str]:
    for name, command in group.items():
        if hasattr(command, "commands"):
            yield from _described(f"{path} {name}", command.commands)
        else:
            yield _command(f"{path} {name}", command)


def _command(path: str, command: Any) -> str:
    shown = [each for each in command.params if not getattr(each, "hidden", False)]
    options = [each for each in shown if each.param_type_name == "option"]
    arguments = [each for each in shown if each.param_type_name == "argument"]
    usage = " ".join([path, *map(_usage, arguments), *(["[OPTIONS]"] if options else [])])
    summary, _, rest = command.help.partition("\n\n")
    parts = [f"## {path}", _html_free(summary), f"```text\n{usage}\n```", *_rest(rest)]
    if shown:
        rows = [f"| {_name(each)} | {_meaning(each)} |" for each in [*arguments, *options]]
        parts.append("\n".join(["| argument or option | meaning |", "| --- | --- |", *rows]))
    return "\n\n".join(parts)


def _rest(text: str) -> Iterator[str]:
    """Paragraphs as they are; indented lines that follow each other, which are examples, as one block."""
    block: list[str] = []
    for paragraph in filter(None, text.split("\n\n")):
        if paragraph.startswith("    "):
            block += [line.strip() for line in paragraph.splitlines()]
            continue
        if block:
            yield _example(block)
            block = []
        if paragraph.strip().rstrip(":") not in ("Example", "Examples"):
            yield _html_free(paragraph)
    if block:
        yield _example(block)


def _example(lines: list[str]) -> str:
    return "\n".join(["```bash", *lines, "```"])


def _usage(argument: Any) -> str:
    return argument.metavar if argument.required else f"[{argument.metavar}]"


def _name(parameter: Any) -> str:
    if parameter.param_type_name == "argument":
        return f"`{parameter.metavar}`"
    value = "" if parameter.is_flag else f" {_value(parameter)}"
    return ", ".join(f"`{name}{value}`" for name in [*parameter.opts, *parameter.secondary_opts])


def _value(option: Any) -> str:
    if option.metavar:
        return str(option.metavar)
    annotation = option.type_descriptor.annotation
    if isinstance(annotation, type) and issubclass(annotation, Enum):
        return "/".join(str(each.value) for each in annotation)
    return {"int": "N", "float": "X", "Path": "PATH"}.get(getattr(annotation, "__name__", ""), "TEXT")


def _meaning(parameter: Any) -> str:
    default = parameter.default.value if isinstance(parameter.default, Enum) else parameter.default
    told = parameter.show_default and default is not None and default is not False and default != ""
    words = [_html_free(parameter.help or ""), f"Default: `{default}`." if told else ""]
    if getattr(parameter, "multiple", False):
        words.append("May be given several times.")
    return " ".join(filter(None, words)).replace("|", r"\|")


def _html_free(text: str) -> str:
    return text.replace("<", "&lt;").replace(">", "&gt;")
