"""Files of experiments: what they may say, figures put into a file, results on disk that are found again."""

import gzip
import json
import re
from dataclasses import replace
from pathlib import Path

import pytest
from made_up_evaluation import made_up_evaluation

from triplebeam.assemble import Method
from triplebeam.errors import BadInputError
from triplebeam.evaluate.questions import Question
from triplebeam.evaluate.run import Evaluation, QuestionResult, RunFile, StepResult, run_key
from triplebeam.generate.language_model import Usage
from triplebeam_research.commands.experiment import experiment
from triplebeam_research.experiments.experiment import read_experiment
from triplebeam_research.experiments.output import add_results, find_in_run, read_run, write_judgements, write_run

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


@pytest.fixture(autouse=True)
def _environment(monkeypatch: pytest.MonkeyPatch) -> None:
    for name, value in (("QUESTIONS", "/data"), ("TRIPLEBEAM_DATA", "/data"), ("TRIPLES", "joint")):
        monkeypatch.setenv(name, value)
    monkeypatch.delenv("UNKNOWN", raising=False)


def test_values_of_the_environment_and_of_each_dataset_are_filled_in(tmp_path: Path) -> None:
    (corpus,) = read_experiment(write(tmp_path, PLAIN)).corpora()
    assert (corpus.name, corpus.index.state, corpus.questions) == ("", Path("my.index"), Path("/data/dev.jsonl"))
    assert corpus.methods == ("bm25", "hybrid")
    experiment = read_experiment(write(tmp_path, MANY))
    musique, hotpotqa = experiment.corpora()
    assert experiment.seeds == (0, 1)
    assert (musique.index.state, musique.questions) == (Path("musique.index"), Path("musique/dev.jsonl"))
    assert musique.methods == ("hybrid", "agent[max_steps=4]:hybrid")
    assert hotpotqa.methods[1] == "agent[max_steps=2]:hybrid"


@pytest.mark.parametrize(
    ("text", "old", "new", "words"),
    [
        (PLAIN, 'title = "Mine"', "", "no 'title'"),
        (PLAIN, 'title = "Mine"', 'tittle = "Mine"\ntitle = "x"', "did you mean 'title'"),
        (PLAIN, 'methods = ["bm25", "hybrid"]', "methods = []", "methods is empty"),
        (PLAIN, 'methods = ["bm25", "hybrid"]', 'methods = "bm25"', "methods is not a list"),
        (PLAIN, "title =", "title", "is not TOML"),
        (PLAIN, 'index = "my.index"', 'index = "{dataset}.index"', "{dataset}"),
        (PLAIN, "$QUESTIONS", "$UNKNOWN", "no UNKNOWN"),
        (MANY, "steps = 2", "stepps = 2", "{steps}"),  # one dataset lacks it
    ],
)
def test_what_is_wrong_is_said(tmp_path: Path, text: str, old: str, new: str, words: str) -> None:
    with pytest.raises(BadInputError, match=re.escape(words)):
        read_experiment(write(tmp_path, text.replace(old, new))).corpora()
    with pytest.raises(BadInputError, match=r"gone\.toml"):
        read_experiment(tmp_path / "gone.toml")


FILES = sorted((Path(__file__).parents[2] / "experiments").glob("*.toml"))


@pytest.mark.parametrize("path", FILES, ids=lambda path: path.stem)
def test_every_method_has_a_name_that_can_be_read(path: Path) -> None:
    for corpus in read_experiment(path).corpora():
        for method in corpus.methods:
            Method.parse(method)


def test_the_help_names_one_of_those_there_are() -> None:
    (named,) = re.findall(r"experiments/(\S+)", experiment.__doc__ or "")
    assert named in [path.name for path in FILES]
    assert len(FILES) >= 10


GIVEN = "109,144 by given:triples.gpt-3.5-turbo-1106.jsonl.gz:1f2e3d4c5b6a"


def make_evaluation(triples: str = GIVEN, methods: int = 6) -> Evaluation:
    made = made_up_evaluation(24)
    facts = {"embedder": "small", "triples": triples, "model": "a model"}
    return replace(made, facts=facts, runs=made.runs[:methods])


def rows(path: Path) -> list[dict[str, object]]:
    return json.loads(path.read_text(encoding="utf-8"))


def test_a_row_names_what_was_measured_and_on_what(tmp_path: Path) -> None:
    path = tmp_path / "results.json"
    add_results(path, Path("musique.local.index"), "", make_evaluation())
    found = {row["method"]: row for row in rows(path)}
    assert list(found) == sorted(found)
    assert found["bm25"]["dataset"] == "musique"
    assert (found["bm25"]["triples"], found["bm25"]["questions"]) == ("gpt-3.5-turbo-1106", 24)
    assert 0 < float(str(found["bm25"]["R@5"])) < 100
    assert found["gear"]["model"] == "a model"
    assert "model" not in found["bm25"], "it calls none"
    assert {"measured", "code", "encodings", "R@15"} <= found["hybrid"].keys()
    assert "encodings" not in found["bm25"]
    assert len(path.read_text(encoding="utf-8").splitlines()) == len(found) + 2, "a line each, so that changes are seen"


def test_a_row_of_another_graph_of_passages_is_another_row(tmp_path: Path) -> None:
    path, made = tmp_path / "results.json", make_evaluation(methods=1)
    over_a_graph = ("gnn_ret", "rgnn_ret:gnn_ret[beta=0.9]", "kgp:dense")
    for bound in ("50", "0"):
        facts = {**made.facts, "keyword_passages": bound}
        runs = [replace(made.runs[0], method=method) for method in ("bm25", *over_a_graph)]
        add_results(path, Path("x.index"), "", replace(made, facts=facts, runs=runs))
    found = [(row["method"], row.get("keyword_passages")) for row in rows(path)]
    assert len(found) == 7
    assert set(found) == {("bm25", None), *((method, bound) for method in over_a_graph for bound in (None, 0))}


def test_measured_again_a_row_is_replaced_and_others_stay(tmp_path: Path) -> None:
    path = tmp_path / "results.json"
    add_results(path, Path("x.index"), "musique", make_evaluation())
    add_results(path, Path("x.index"), "musique", make_evaluation(triples="7 by local:2026, 3 by llm:gpt:v1"))
    assert len(rows(path)) == 12
    assert {row["triples"] for row in rows(path)} == {"gpt-3.5-turbo-1106", "llm+local"}
    before = rows(path)
    add_results(path, Path("x.index"), "musique", make_evaluation(methods=1))
    assert rows(path) == before


def test_another_systems_run_is_left_out(tmp_path: Path) -> None:
    bare = make_evaluation(methods=1)
    untimed = [
        QuestionResult(question_id=each.question_id, passage_ids=each.passage_ids) for each in bare.runs[0].results
    ]
    add_results(tmp_path / "r.json", Path("x.index"), "", replace(bare, runs=[replace(bare.runs[0], results=untimed)]))
    assert rows(tmp_path / "r.json") == []


@pytest.mark.parametrize("content", ["no json", '{"a": 1}', "[1]", '[{"method": "bm25"}]'])
def test_a_file_of_something_else_is_not_written_over(tmp_path: Path, content: str) -> None:
    path = tmp_path / "mine.json"
    path.write_text(content)
    with pytest.raises(BadInputError, match=r"mine.json is not a file of results"):
        add_results(path, Path("x.index"), "", make_evaluation())
    assert path.read_text() == content


FIRST = Question(id="1", question="Who?", gold=("a", "b c"))
SECOND = Question(id="q 2", question="Where?", gold=("d",))
RESULT = QuestionResult(
    question_id="1",
    passage_ids=("a", "b c"),
    answer="Ann",
    seconds=0.25,
    encodings=3,
    usage=Usage(calls=2, tokens_in=10, tokens_out=5),
    steps=(StepResult(passage_ids=("a",), usage=Usage(calls=1)),),
    ending="done",
)


def test_a_result_comes_back_as_it_was_by_the_words_of_its_question(tmp_path: Path) -> None:
    """Under the id that the question has now; the same words with other choices are another question."""
    RunFile(tmp_path / "new" / "run.jsonl").keep(FIRST, RESULT)
    kept = RunFile(tmp_path / "new" / "run.jsonl")
    assert kept.get(FIRST) == RESULT
    assert kept.get(SECOND) is None
    assert kept.get(Question(id="7", question="Who?")) == replace(RESULT, question_id="7")
    assert kept.get(replace(FIRST, choices=("rain", "snow"))) is None


def test_a_folder_that_cannot_be_written_to_is_named_and_a_key_depends_on_all_it_is_made_of(tmp_path: Path) -> None:
    (tmp_path / "file").touch()
    with pytest.raises(BadInputError, match="TRIPLEBEAM_RESULTS"):
        RunFile(tmp_path / "file" / "run.jsonl").keep(FIRST, RESULT)
    assert run_key({"method": "bm25", "seed": 1}) == run_key({"seed": 1, "method": "bm25"})
    assert run_key({"method": "bm25", "seed": 1}) != run_key({"method": "bm25", "seed": 2})


def test_a_line_cut_short_by_a_kill_is_dropped_and_the_file_goes_on(tmp_path: Path) -> None:
    path = tmp_path / "run.jsonl"
    RunFile(path).keep(FIRST, RESULT)
    with path.open("a", encoding="utf-8") as file:
        file.write('{"question": "Where?", "passage')
    kept = RunFile(path)
    assert kept.get(SECOND) is None
    kept.keep(SECOND, RESULT)
    assert RunFile(path).get(SECOND) is not None
    assert RunFile(path).get(FIRST) == RESULT


@pytest.mark.parametrize("line", ["[]", "{}", '{"question": "?", "steps": 3}', "nonsense"])
def test_a_spoilt_file_is_named_with_what_to_do(tmp_path: Path, line: str) -> None:
    (tmp_path / "run.jsonl").write_text(line + "\n")
    with pytest.raises(BadInputError, match=r"run\.jsonl, line 1 .*delete the file"):
        RunFile(tmp_path / "run.jsonl")


def test_a_trec_run_is_read_back_in_order(tmp_path: Path) -> None:
    many = tuple(f"p{number}" for number in range(12))  # ranks are numbers, not words: 10 comes behind 9
    write_run(tmp_path / "run.trec", "my method", [RESULT, QuestionResult(question_id="q 2", passage_ids=many)])
    run = read_run(tmp_path / "run.trec")
    assert run == {"1": ("a", "b_c"), "q_2": many}
    found = [find_in_run(question, run) for question in (FIRST, SECOND)]
    assert [each and each.passage_ids for each in found] == [("a", "b c"), many], "or a gold passage would be missed"
    assert find_in_run(Question(id="3", question="?"), run) is None


def test_judgements_are_qrels_and_json_lines_are_a_run_too(tmp_path: Path) -> None:
    write_judgements(tmp_path / "qrels.txt", [FIRST, SECOND])
    assert (tmp_path / "qrels.txt").read_text().splitlines() == ["1 0 a 1", "1 0 b_c 1", "q_2 0 d 1"]
    (tmp_path / "run.jsonl.gz").write_bytes(gzip.compress(b'{"id": 5, "retrieved": ["b", "a"]}'))
    assert read_run(tmp_path / "run.jsonl.gz") == {"5": ("b", "a")}


@pytest.mark.parametrize(("name", "line"), [("r.trec", "1 Q0 a first 0.5 x"), ("r.trec", "1 a"), ("r.jsonl", "{}")])
def test_a_line_of_something_else_is_named(tmp_path: Path, name: str, line: str) -> None:
    (tmp_path / name).write_text(line + "\n")
    with pytest.raises(BadInputError, match="line 1"):
        read_run(tmp_path / name)
