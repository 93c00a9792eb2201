"""The experiment files that come with the project can be read, and every method in them is one."""

import re
from pathlib import Path

import pytest

from triplebeam.assemble import Method
from triplebeam_research.commands.experiment import experiment
from triplebeam_research.experiments.experiment import read_experiment

FILES = sorted((Path(__file__).parents[2] / "experiments").glob("*.toml"))


@pytest.mark.parametrize("path", FILES, ids=lambda path: path.stem)
def test_every_method_has_a_name_that_can_be_read(path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("TRIPLEBEAM_DATA", "/data")
    monkeypatch.setenv("TRIPLES", "joint")
    for corpus in read_experiment(path).corpora():
        for method in corpus.methods:
            Method.parse(method)


def test_the_help_names_one_that_is_there() -> None:
    (named,) = re.findall(r"experiments/(\S+)", experiment.__doc__ or "")
    assert named in [path.name for path in FILES]


def test_there_are_some() -> None:
    assert len(FILES) >= 10
