"""What other installed packages add, through entry points: methods, commands, extractors and embedders.

``triplebeam.methods`` names sequences of rows for the table of methods, ``triplebeam.commands`` Typer groups,
``triplebeam.extractors`` and ``triplebeam.embedders`` functions that make one. Entry points are looked at only when a
name is not Triplebeam's own, or when methods are listed.
"""

from typing import Any

from triplebeam.errors import BadInputError

RESEARCH = "triplebeam-research"


def load_plugins(group: str) -> list[Any]:
    """Load everything that installed packages add to a group."""
    from importlib.metadata import entry_points  # slow to import

    return [entry.load() for entry in sorted(entry_points(group=f"triplebeam.{group}"))]


def find_plugin(group: str, name: str) -> Any:
    """Load what an installed package adds to a group under this name; None if no package does."""
    from importlib.metadata import entry_points  # slow to import

    return next((entry.load() for entry in entry_points(group=f"triplebeam.{group}", name=name)), None)


def require_plugin(group: str, name: str, kind: str) -> Any:
    """Load what the research package adds under this name; without the package say what to install."""
    found = find_plugin(group, name)
    if found is None:
        raise research_missing(name, kind)
    return found


def research_missing(name: str, kind: str) -> BadInputError:
    """Say that something is part of the research package, and how to install it."""
    return BadInputError(f'"{name}" is {kind} of the research package: pip install {RESEARCH}')
