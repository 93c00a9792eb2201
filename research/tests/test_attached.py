"""The research package is attached: its rows, its commands, its version."""

import tomllib
from importlib.metadata import entry_points
from pathlib import Path

from typer.testing import CliRunner

from triplebeam.assemble.table import RESEARCH_METHODS, all_methods
from triplebeam.serve.cli.app import app
from triplebeam_research.methods import ROWS

ROOT = Path(__file__).parents[2]


def test_the_product_names_the_rows_of_this_package() -> None:
    assert tuple(row.name for row in ROWS) == RESEARCH_METHODS
    assert set(RESEARCH_METHODS) <= set(all_methods())


def test_commands_are_below_one_group() -> None:
    shown = CliRunner().invoke(app, ["research", "--help"])
    assert shown.exit_code == 0
    for name in ("experiment", "dataset", "questions", "train"):
        assert name in shown.stdout
    assert CliRunner().invoke(app, ["research", "train", "--help"]).exit_code == 0


def test_everything_that_is_announced_can_be_loaded() -> None:
    groups = ("methods", "commands", "extractors", "embedders")
    assert all(entry.load() for group in groups for entry in entry_points(group=f"triplebeam.{group}"))


def test_both_packages_have_one_version() -> None:
    product, research = (
        tomllib.loads((ROOT / path / "pyproject.toml").read_text(encoding="utf-8"))["project"]
        for path in ("", "research")
    )
    assert research["version"] == product["version"]
    assert f"triplebeam=={product['version']}" in research["dependencies"]
