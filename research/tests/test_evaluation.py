"""From an experiment to its evaluation and its files, over a small world."""

import json
from collections.abc import Callable
from dataclasses import replace
from pathlib import Path
from typing import Any, TypeAlias

import pytest

from triplebeam.assemble import Context, IndexReader, Method
from triplebeam.assemble.evaluation import OpenedCorpus
from triplebeam.embed.embedder import Embedder
from triplebeam.errors import BadInputError
from triplebeam.evaluate.ask_all import CountingEmbedder
from triplebeam.evaluate.questions import Question
from triplebeam.evaluate.run import Evaluation, QuestionResult, Run
from triplebeam.index.folder.snapshot import Snapshot
from triplebeam.serve.cli.bench import draw_evaluation
from triplebeam.settings import Settings
from triplebeam.testing.scripted import Scripted
from triplebeam_research.commands.experiment import tell_written
from triplebeam_research.experiments.evaluator import ExperimentEvaluator
from triplebeam_research.experiments.experiment import Experiment
from triplebeam_research.experiments.output import file_name, read_run, render_across, write_evaluation
from triplebeam_research.report import write_report

Compare: TypeAlias = Callable[..., Evaluation]


def say(answer: str) -> str:
    return json.dumps({"found": True, "answer": answer, "sentence": "."})


ROWS = [
    {"id": "death", "question": "When did the director of Laughter in Hell die?",
     "gold": [{"file": "film"}, {"any": [{"phrase": "died on 25 august"}]}], "answers": ["25 August 1963"], "hops": 2},
    {"id": "lake", "question": "Which of the Great Lakes is it?", "gold": ["lake"], "answers": ["Lake Michigan"]},
]  # fmt: skip


@pytest.fixture
def settings(tmp_path: Path) -> Settings:
    return Settings(home=tmp_path / "home")


@pytest.fixture
def compare(world: Snapshot, settings: Settings, words: Embedder, tmp_path: Path) -> Compare:
    """Return what compares methods, given fields of the experiment and arguments of the evaluator."""
    questions = tmp_path / "questions.jsonl"
    questions.write_text("\n".join(map(json.dumps, ROWS)), encoding="utf-8")

    def run(*methods: str, embedder: object = words, **more: Any) -> Evaluation:
        evaluator = {name: more.pop(name) for name in ("model", "seeds", "again") if name in more}
        if judge := more.pop("judged_by", None):
            evaluator["judge"] = judge
        small = {"title": "Small", "index": str(world.folder), "questions": str(questions), "methods": methods, **more}
        experiment = Experiment.model_validate(small)
        made = ExperimentEvaluator(settings=settings, embedder=embedder, **evaluator)  # type: ignore[arg-type]
        return made.compare(experiment, experiment.corpora()[0])

    return run


def test_methods_side_by_side_and_everything_written(compare: Compare, tmp_path: Path) -> None:
    methods = ["bm25", "hybrid+naive_ge", "hipporag[entities=verbatim]", "hipporag2"]
    evaluation = compare(*methods)
    assert [run.method for run in evaluation.runs] == methods
    assert evaluation.triples_of_gold == {"death": 2.0, "lake": 1.0}
    write_evaluation(tmp_path / "out", evaluation)
    assert "hybrid+naive_ge" in (tmp_path / "out" / "report.html").read_text(encoding="utf-8")
    assert "hybrid+naive_ge" in (tmp_path / "out" / "report.md").read_text(encoding="utf-8")
    results = json.loads((tmp_path / "out" / "results.json").read_text(encoding="utf-8"))
    assert results["methods"]["hipporag2"]["R@5"] == 1.0
    assert results["results"]["bm25"][0]["measures"]["R@5"] == pytest.approx(0.5, abs=0.5)
    run = read_run(tmp_path / "out" / "runs" / f"{file_name('hybrid+naive_ge')}.trec")
    assert run["death"] == evaluation.runs[1].results[0].passage_ids
    assert (tmp_path / "out" / "qrels.txt").read_text().count("\n") == 3
    assert render_across([evaluation], ["small"], ["R@5"]).count("\n") == 6


def test_a_second_time_nothing_is_computed(compare: Compare, words: Embedder) -> None:
    first = compare("dense", "hybrid")

    class Broken:
        name, fingerprint, dimension = words.name, words.fingerprint, words.dimension

        def embed(self, *_: object) -> None:
            raise AssertionError("nothing should be encoded")

    second = compare("dense", "hybrid", embedder=Broken())
    assert [run.results for run in second.runs] == [run.results for run in first.runs]
    with pytest.raises(AssertionError):
        compare("dense", "hybrid", embedder=Broken(), again=True)


def test_answers_are_judged_where_asked_for_and_verdicts_are_in_the_report(compare: Compare) -> None:
    model = Scripted([*[say("in August 1963")] * 2, *map(json.dumps, ({"correct": True}, {"correct": False}))])
    evaluation = compare("closed_book", "bm25", judge=True, model=model)
    assert [result.judged for result in evaluation.runs[0].results] == [1.0, 0.0]
    assert evaluation.facts["judge"].endswith("the model under test")
    report = write_report(replace(evaluation, advice="Do I need a graph? No.")).text
    assert "| Judged |" in report
    assert "Do I need a graph? No." in report


def test_another_model_may_judge(compare: Compare) -> None:
    with Scripted([say("1963")] * 2) as model, Scripted([json.dumps({"correct": True})] * 2, name="judge") as judge:
        evaluation = compare("closed_book", judge=True, model=model, judged_by=judge)
    assert [result.judged for result in evaluation.runs[0].results] == [1.0, 1.0]
    assert evaluation.facts["judge"] == "judge"


@pytest.mark.parametrize("judge", ["large", None])
def test_the_judge_has_settings_of_its_own(world: Snapshot, words: Embedder, tmp_path: Path, judge: str | None) -> None:
    settings = Settings(home=tmp_path, model="small", judge_model=judge)
    corpus = OpenedCorpus(Context(world, settings, words), CountingEmbedder(words))
    assert corpus.context.model.name == "small"
    assert ExperimentEvaluator(settings=settings).judge_of(corpus).name == (judge or "small")


def test_a_given_run_is_compared_with_ours_on_the_questions_it_holds(compare: Compare, tmp_path: Path) -> None:
    other = tmp_path / "theirs.trec"
    other.write_text("death Q0 director 2 0.5 x\ndeath Q0 film 1 0.9 x\n")
    evaluation = compare("bm25", f"run:{other}")
    assert [question.id for question in evaluation.questions] == ["death"]
    assert [run.method for run in evaluation.runs] == ["bm25", "theirs (given)"]
    assert evaluation.runs[1].results[0].passage_ids == ("film", "director")
    assert "of 2: those that every given run holds" in evaluation.facts["questions"]


@pytest.mark.parametrize(
    ("method", "words_said"),
    [
        ("hiporag2", "did you mean 'hipporag2'"),
        ("hipporag[entities=given]", "--query-entities"),
        ("hipporag[entities=verbatm]", "did you mean 'verbatim'"),
        ("hipporag2[filter=on]", "none, llm"),
        ("agent[stop_when_stuck=maybe]", "not yes or no"),
        ("run:gone.trec", "gone.trec"),
    ],
)
def test_a_wrong_name_costs_no_question(compare: Compare, settings: Settings, method: str, words_said: str) -> None:
    with pytest.raises(BadInputError, match=words_said.replace("(", "\\(")):
        compare("bm25", method, model=Scripted([]))
    assert not (settings.home / "runs").exists()


def test_an_index_that_was_built_in_another_way_is_refused(compare: Compare, world: Snapshot) -> None:
    built = {"triples_in_context": False, "keyword_passages": 0}
    with pytest.raises(BadInputError) as refused:
        compare("bm25", index_settings=built)
    assert str(refused.value) == (
        f"{world.folder} was built with keyword_passages = 50, unlike what the experiment compares: build it into a new"
        " folder with `TRIPLEBEAM_TRIPLES_IN_CONTEXT=false TRIPLEBEAM_KEYWORD_PASSAGES=0 triplebeam index FOLDER"
        " SOURCE…`."
    )
    assert compare("bm25", index_settings={"keyword_passages": 50}).facts["keyword_passages"] == "50"


def test_gold_is_known_in_an_evaluation_only(world: Snapshot, words: Embedder) -> None:
    with pytest.raises(BadInputError, match="triplebeam bench"):
        IndexReader(Context(world, Settings(), words)).retriever("gold")


def test_a_seed_is_for_what_is_sampled_and_gold_is_a_bound(compare: Compare, tmp_path: Path) -> None:
    other = tmp_path / "theirs.trec"
    other.write_text("death Q0 film 1 0.9 x\nlake Q0 lake 1 0.9 x\n")
    methods = (f"run:{other}", "gold", "bm25", "hipporag[entities=verbatim]", "closed_book", "read:gold")
    evaluation = compare(*methods, model=Scripted([say("1963")] * 8), seeds=[1, 2, 1])
    assert [(run.method, run.graph) for run in evaluation.runs] == [
        ("theirs (given)", None),
        ("gold", None),
        ("bm25", False),
        ("hipporag[entities=verbatim]", True),
        *((f"{method} (seed {seed})", None) for method in ("closed_book", "read:gold") for seed in (1, 2)),
    ]
    closed, *_, read = (run.results for run in evaluation.runs[-4:])
    assert (closed[0].answer, closed[0].passage_ids) == ("1963", ())
    for bound in (evaluation.runs[1].results, read):
        assert [result.passage_ids for result in bound] == [("film", "director"), ("lake",)]


def test_what_calls_a_model() -> None:
    calling = ("hybrid+sync_ge", "hipporag", "hipporag2[filter=llm]", "hipporag2[base=hipporag]", "read:bm25")
    assert all(Method.parse(method).uses_model for method in calling)
    assert not any(
        Method.parse(method).uses_model for method in ("hybrid+naive_ge", "hipporag[entities=given]", "hipporag2")
    )


def test_other_gold_or_other_code_is_measured_again(
    world: Snapshot, settings: Settings, words: Embedder, monkeypatch: pytest.MonkeyPatch
) -> None:
    def keys(gold: dict[str, tuple[str, ...]]) -> list[str]:
        opened = OpenedCorpus(Context(world, settings, words, gold=gold), CountingEmbedder(words))
        return [opened.key(Method.parse(name), None) for name in ("bm25", "ircot", "read:gold")]

    first, other_gold = keys({"?": ("film",)}), keys({"?": ("lake",)})
    assert [one == two for one, two in zip(first, other_gold, strict=True)] == [True, True, False]
    monkeypatch.setattr("triplebeam.evaluate.run.code_version", lambda package="triplebeam": f"new {package}"[:9])
    other_code = keys({"?": ("film",)})
    assert not set(first) & set(other_code)


def test_a_place_that_cannot_be_written_to_or_read_is_named(compare: Compare, tmp_path: Path) -> None:
    with pytest.raises(BadInputError, match="--out"):
        write_evaluation(tmp_path / "questions.jsonl", compare("bm25"))
    with pytest.raises(BadInputError, match=r"gone\.jsonl cannot be read"):
        compare("hipporag[entities=given]", query_entities=str(tmp_path / "gone.jsonl"))


def test_a_table_shows_names_as_they_are(capsys: pytest.CaptureFixture[str]) -> None:
    run = Run(method="hybrid+naive_ge[scorer=exact]", results=[QuestionResult(question_id="1", seconds=1)])
    draw_evaluation(
        Evaluation(title="my[bold].index", questions=[Question(id="1", question="?", answers=("a",))], runs=[run])
    )
    tell_written([Path("out[red]/report.html")])
    shown = capsys.readouterr()
    assert "my[bold].index: 1 question" in shown.out
    assert "hybrid+naive_ge[scorer=exact]" in shown.out
    assert "Nothing could be measured" in shown.err
    assert "out[red]/report.html" in shown.err
