"""From an experiment to its evaluation and its files, over a small world."""

import json
from pathlib import Path

import pytest

from triplebeam.assemble.evaluation import Evaluator
from triplebeam.embed.embedder import Embedder
from triplebeam.errors import BadInputError
from triplebeam.evaluate.experiment import Experiment
from triplebeam.evaluate.output import across, file_name, write_evaluation
from triplebeam.evaluate.run import Evaluation
from triplebeam.evaluate.trec import read_run
from triplebeam.generate.scripted import Scripted
from triplebeam.index.opened import Index
from triplebeam.settings import Settings

ROWS = [
    {"id": "death", "question": "When did the director of Laughter in Hell die?", "gold": ["film", "director"],
     "answers": ["25 August 1963"], "hops": 2},
    {"id": "lake", "question": "Which of the Great Lakes is it?", "gold": ["lake"], "answers": ["Lake Michigan"]},
]  # fmt: skip


@pytest.fixture
def questions(tmp_path: Path) -> Path:
    path = tmp_path / "questions.jsonl"
    path.write_text("".join(json.dumps(row) + "\n" for row in ROWS), encoding="utf-8")
    return path


@pytest.fixture
def settings(tmp_path: Path) -> Settings:
    return Settings(home=tmp_path / "home")


def experiment(world: Index, questions: Path, *methods: str, **more: object) -> Experiment:
    return Experiment.model_validate(
        {"title": "Small", "index": str(world.folder), "questions": str(questions), "methods": methods, **more}
    )


def evaluated(asked: Experiment, settings: Settings, words: Embedder, **more: object) -> Evaluation:
    return Evaluator(settings=settings, embedder=words, **more).evaluate(asked, asked.corpora()[0])  # type: ignore[arg-type]


def test_methods_side_by_side_and_everything_written(
    world: Index, questions: Path, settings: Settings, words: Embedder, tmp_path: Path
) -> None:
    asked = experiment(world, questions, "bm25", "hybrid+naive_ge", "hipporag[entities=verbatim]", "hipporag2")
    evaluation = evaluated(asked, settings, words)
    assert [run.method for run in evaluation.runs] == list(asked.methods)
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
    assert across([evaluation], ["small"], ["R@5"]).count("\n") == 6


def test_a_second_time_nothing_is_computed(
    world: Index, questions: Path, settings: Settings, words: Embedder, monkeypatch: pytest.MonkeyPatch
) -> None:
    asked = experiment(world, questions, "dense", "hybrid")
    first = evaluated(asked, settings, words)

    class Broken:
        name, fingerprint, dimension = words.name, words.fingerprint, words.dimension

        def embed(self, *_: object) -> None:
            raise AssertionError("nothing should be encoded")

    second = evaluated(asked, settings, Broken())  # type: ignore[arg-type]
    assert [run.results for run in second.runs] == [run.results for run in first.runs]
    with pytest.raises(AssertionError):
        evaluated(asked, settings, Broken(), again=True)  # type: ignore[arg-type]


def test_agents_bounds_and_seeds(world: Index, questions: Path, settings: Settings, words: Embedder) -> None:
    reply = json.dumps({"found": True, "answer": "25 August 1963", "sentence": "He died then."})
    model = Scripted([reply] * 12)
    asked = experiment(world, questions, "closed_book", "read:gold", "read:bm25")
    evaluation = evaluated(asked, settings, words, model=model, seeds=[1, 2])
    assert [run.method for run in evaluation.runs] == [
        f"{method} (seed {seed})" for method in asked.methods for seed in (1, 2)
    ]
    closed, gold = evaluation.runs[0], evaluation.runs[2]
    assert closed.results[0].answer == "25 August 1963"
    assert closed.results[0].passage_ids == ()
    assert gold.results[0].passage_ids == ("film", "director")


def test_answers_are_judged_where_asked_for(world: Index, questions: Path, settings: Settings, words: Embedder) -> None:
    reply = json.dumps({"found": True, "answer": "in August 1963", "sentence": "."})
    model = Scripted([reply, reply, json.dumps({"correct": True}), json.dumps({"correct": False})])
    evaluation = evaluated(experiment(world, questions, "closed_book", judge=True), settings, words, model=model)
    assert [result.judged for result in evaluation.runs[0].results] == [1.0, 0.0]


def test_a_given_run_stands_beside_ours_on_the_questions_it_holds(
    world: Index, questions: Path, settings: Settings, words: Embedder, tmp_path: Path
) -> None:
    other = tmp_path / "theirs.trec"
    other.write_text("death Q0 director 2 0.5 x\ndeath Q0 film 1 0.9 x\n")
    evaluation = evaluated(experiment(world, questions, "bm25", f"run:{other}"), settings, words)
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
        ("hipporag2[filter=on]", "none or llm"),
        ("hipporag2@triples", "searches passages"),
        ("closed_book:bm25", "without passages"),
        ("gear[stop_when_stuck=maybe]", "not yes or no"),
        ("run:gone.trec", "gone.trec"),
    ],
)
def test_a_wrong_name_costs_no_question(
    world: Index, questions: Path, settings: Settings, words: Embedder, method: str, words_said: str
) -> None:
    with pytest.raises(BadInputError, match=words_said.replace("(", "\\(")):
        evaluated(experiment(world, questions, "bm25", method), settings, words, model=Scripted([]))
    assert not (settings.home / "runs").exists()


def test_gold_is_known_in_an_evaluation_only(world: Index, words: Embedder) -> None:
    from triplebeam.assemble import Collection

    with pytest.raises(BadInputError, match="triplebeam bench"):
        Collection(world, Settings(), words).retriever("gold")
