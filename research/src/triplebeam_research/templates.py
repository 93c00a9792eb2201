"""The prompts of this package."""

from triplebeam.generate import prompts
from triplebeam.generate.prompts import Template


def load(name: str) -> Template:
    """Read the template of that name: ``ircot``, or ``folder/name``."""
    return prompts.load(name, "triplebeam_research")
