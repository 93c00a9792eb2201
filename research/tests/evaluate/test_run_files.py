"""Results on disk: kept as they come, found again, and read by the field's tools."""

import gzip
import json
from pathlib import Path

import pytest

from triplebeam.errors import BadInputError
from triplebeam.evaluate.questions import Question
from triplebeam.evaluate.run import QuestionResult, RunFile, StepResult, run_key
from triplebeam.generate.language_model import Usage
from triplebeam_research.experiments.trec import find_in_run, read_run, write_judgements, write_run

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


def test_a_result_comes_back_as_it_was(tmp_path: Path) -> None:
    RunFile(tmp_path / "new" / "run.jsonl").keep(FIRST, RESULT)
    kept = RunFile(tmp_path / "new" / "run.jsonl")
    assert kept.get(FIRST) == RESULT
    assert kept.get(SECOND) is None


def test_a_question_is_found_by_its_words_under_the_id_it_has_now(tmp_path: Path) -> None:
    RunFile(tmp_path / "run.jsonl").keep(FIRST, RESULT)
    found = RunFile(tmp_path / "run.jsonl").get(Question(id="7", question="Who?"))
    assert found is not None
    assert (found.question_id, found.passage_ids) == ("7", ("a", "b c"))


def test_the_same_words_with_other_choices_are_another_question(tmp_path: Path) -> None:
    RunFile(tmp_path / "run.jsonl").keep(Question(id="1", question="Why?", choices=("fear", "hope")), RESULT)
    assert RunFile(tmp_path / "run.jsonl").get(Question(id="2", question="Why?", choices=("rain", "snow"))) is None


def test_a_folder_that_cannot_be_written_to_is_named(tmp_path: Path) -> None:
    (tmp_path / "file").touch()
    with pytest.raises(BadInputError, match="TRIPLEBEAM_RESULTS"):
        RunFile(tmp_path / "file" / "run.jsonl").keep(FIRST, RESULT)


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


def test_a_key_depends_on_all_it_is_made_of() -> None:
    assert run_key({"method": "bm25", "seed": 1}) == run_key({"seed": 1, "method": "bm25"})
    assert run_key({"method": "bm25", "seed": 1}) != run_key({"method": "bm25", "seed": 2})


def test_a_trec_run_is_read_back_in_order(tmp_path: Path) -> None:
    many = tuple(f"p{number}" for number in range(12))  # ranks are numbers, not words: 10 comes behind 9
    results = [RESULT, QuestionResult(question_id="q 2", passage_ids=many)]
    write_run(tmp_path / "run.trec", "my method", results)
    run = read_run(tmp_path / "run.trec")
    assert run == {"1": ("a", "b_c"), "q_2": many}
    ours = find_in_run(FIRST, run)
    assert ours is not None
    assert ours.passage_ids == ("a", "b c")  # or the gold passage would count as missed
    found = find_in_run(SECOND, run)
    assert found is not None
    assert found.passage_ids == many
    assert find_in_run(Question(id="3", question="?"), run) is None


def test_judgements_are_qrels(tmp_path: Path) -> None:
    write_judgements(tmp_path / "qrels.txt", [FIRST, SECOND])
    assert (tmp_path / "qrels.txt").read_text().splitlines() == ["1 0 a 1", "1 0 b_c 1", "q_2 0 d 1"]


def test_json_lines_are_a_run_too(tmp_path: Path) -> None:
    row = json.dumps({"id": 5, "retrieved": ["b", "a"]})
    (tmp_path / "run.jsonl.gz").write_bytes(gzip.compress(row.encode()))
    assert read_run(tmp_path / "run.jsonl.gz") == {"5": ("b", "a")}


@pytest.mark.parametrize(("name", "line"), [("r.trec", "1 Q0 a first 0.5 x"), ("r.trec", "1 a"), ("r.jsonl", "{}")])
def test_a_line_of_something_else_is_named(tmp_path: Path, name: str, line: str) -> None:
    (tmp_path / name).write_text(line + "\n")
    with pytest.raises(BadInputError, match="line 1"):
        read_run(tmp_path / name)
