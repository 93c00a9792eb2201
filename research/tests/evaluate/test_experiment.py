"""Experiments: what the file may say, what is filled in, what is refused."""

from pathlib import Path

import pytest

from triplebeam.errors import BadInputError
from triplebeam_research.experiments.experiment import read_experiment

PLAIN = """
title = "Mine"
index = "my.index"
questions = "$QUESTIONS/dev.jsonl"
methods = ["bm25", "hybrid"]
"""
MANY = """
title = "Two"
index = "{dataset}.index"
questions = "{dataset}/{split}.jsonl"
methods = ["hybrid", "agent[max_steps={steps}]:hybrid"]
seeds = [0, 1]
[datasets.musique]
steps = 4
split = "dev"
[datasets.multi_hop]
steps = 2
split = "test"
"""


def write(folder: Path, text: str) -> Path:
    path = folder / "experiment.toml"
    path.write_text(text, encoding="utf-8")
    return path


def test_one_corpus_with_the_environments_values(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("QUESTIONS", "/data")
    (corpus,) = read_experiment(write(tmp_path, PLAIN)).corpora()
    assert (corpus.name, corpus.index.state, corpus.questions) == ("", Path("my.index"), Path("/data/dev.jsonl"))
    assert corpus.methods == ("bm25", "hybrid")


def test_a_corpus_a_dataset_with_its_values(tmp_path: Path) -> None:
    experiment = read_experiment(write(tmp_path, MANY))
    musique, hotpotqa = experiment.corpora()
    assert experiment.seeds == (0, 1)
    assert (musique.index.state, musique.questions) == (Path("musique.index"), Path("musique/dev.jsonl"))
    assert musique.methods == ("hybrid", "agent[max_steps=4]:hybrid")
    assert hotpotqa.methods[1] == "agent[max_steps=2]:hybrid"


@pytest.mark.parametrize(
    ("old", "new", "words"),
    [
        ('title = "Mine"', "", "no 'title'"),
        ('title = "Mine"', 'tittle = "Mine"\ntitle = "x"', "did you mean 'title'"),
        ('methods = ["bm25", "hybrid"]', "methods = []", "methods is empty"),
        ('methods = ["bm25", "hybrid"]', 'methods = "bm25"', "methods is not a list"),
        ("title =", "title", "is not TOML"),
        ('index = "my.index"', 'index = "{dataset}.index"', "{dataset}"),
    ],
)
def test_what_is_wrong_is_said(tmp_path: Path, monkeypatch: pytest.MonkeyPatch, old: str, new: str, words: str) -> None:
    monkeypatch.setenv("QUESTIONS", "/data")
    with pytest.raises(BadInputError, match=words.replace("{", "\\{")):
        read_experiment(write(tmp_path, PLAIN.replace(old, new))).corpora()


def test_a_missing_variable_is_named(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.delenv("QUESTIONS", raising=False)
    with pytest.raises(BadInputError, match="no QUESTIONS"):
        read_experiment(write(tmp_path, PLAIN)).corpora()


def test_a_value_one_dataset_lacks_is_named(tmp_path: Path) -> None:
    with pytest.raises(BadInputError, match=r"\{steps\}"):
        read_experiment(write(tmp_path, MANY.replace("steps = 2", "stepps = 2"))).corpora()


def test_a_file_that_is_not_there(tmp_path: Path) -> None:
    with pytest.raises(BadInputError, match=r"gone\.toml"):
        read_experiment(tmp_path / "gone.toml")
