"""The commands ``triplebeam research …``."""

import typer

from triplebeam_research.commands.dataset import dataset
from triplebeam_research.commands.experiment import experiment
from triplebeam_research.commands.questions import questions
from triplebeam_research.commands.train import train

research = typer.Typer(
    name="research",
    help="Reproduce papers: published datasets, experiments, synthetic questions, training.",
    no_args_is_help=True,
    rich_markup_mode=None,
)
research.command()(experiment)
research.command()(dataset)
research.command()(questions)
research.command()(train)
