"""Training on an index: examples from questions and sub-questions, folds, and weights that a retriever takes."""

import json
from collections.abc import Sequence
from dataclasses import replace
from pathlib import Path

import numpy as np
import pytest

from triplebeam.assemble import Context, IndexReader
from triplebeam.embed.embedder import Embedder
from triplebeam.errors import BadInputError
from triplebeam.evaluate.questions import SubQuestion
from triplebeam.index.folder.snapshot import Snapshot
from triplebeam.methods.gnn_ret.retrieve import GNNRet
from triplebeam.methods.gnn_ret.weights import GNN_RET, RGNN_RET
from triplebeam.settings import Settings
from triplebeam_research.training.trainer import DEPTHS, Trainer, average_recall, read_decompositions, write_weights

QUESTIONS: list[dict[str, object]] = [
    {
        "id": "death",
        "question": "When did the director of Laughter in Hell die?",
        "gold": ["film", "director"],
        "decomposition": [
            {"question": "Who directed Laughter in Hell?", "answer": "Edward Cahn", "gold": "film"},
            {"question": "When did #1 die?", "answer": "1963", "gold": "director"},
        ],
    },
    {
        "id": "state",
        "question": "In which state did Pat Brien live?",
        "gold": ["actor", "city"],
        "decomposition": [
            {"question": "Where did Pat Brien live?", "answer": "Milwaukee"},
            {"question": "In which state lies #1 ?", "answer": "Wisconsin"},
        ],
    },
    {"id": "lakes", "question": "Which lakes has Milwaukee?", "gold": ["city", "lake"]},
]


@pytest.fixture
def trainer(world: Snapshot, words: Embedder) -> Trainer:
    settings = replace(GNN_RET, relevant=1, competitors=4, max_steps=20)
    return Trainer(index=IndexReader(Context(world, Settings(), words)), settings=settings)


@pytest.fixture
def recurrent(trainer: Trainer) -> Trainer:
    return replace(trainer, settings=replace(RGNN_RET, relevant=1, competitors=4, max_steps=20))


def write(path: Path, rows: Sequence[object]) -> Path:
    path.write_text("\n".join(map(json.dumps, rows)), encoding="utf-8")
    return path


@pytest.fixture
def questions(tmp_path: Path) -> Path:
    return write(tmp_path / "questions.jsonl", QUESTIONS)


def test_a_question_is_an_example_of_one_step(trainer: Trainer, questions: Path, world: Snapshot) -> None:
    first, *others = trainer.examples(questions)
    assert len(others) == 2
    (step,) = first.steps
    assert world.passages.ids(step.targets) == ["director", "film"]
    assert len(step.distances) == len(world.passages)
    assert len(trainer.examples(questions, limit=1)) == 1


def test_sub_questions_are_steps(recurrent: Trainer, questions: Path, world: Snapshot, words: Embedder) -> None:
    known, guessed = recurrent.examples(questions, limit=2)
    assert [world.passages.ids(step.targets) for step in known.steps] == [["director", "film"], ["director"]]
    assert [world.passages.ids(wanted) for wanted in known.wanted] == [["film"], ["director"]]
    assert sorted(id_ for wanted in guessed.wanted for id_ in world.passages.ids(wanted)) == ["actor", "city"]
    (asked,) = words.embed(["When did Edward Cahn die?"], "query")
    np.testing.assert_allclose(known.steps[1].distances, 1 - world.passage_vectors.rows @ asked, atol=1e-6)
    other = replace(recurrent, settings=replace(recurrent.settings, targets="current"))  # another row of Table 2
    (example,) = other.examples(questions, limit=1)
    assert [world.passages.ids(step.targets) for step in example.steps] == [["film"], ["director"]]
    assert other.weights([example], questions).settings.targets == "current"


def test_what_is_learned_can_be_used(trainer: Trainer, questions: Path, tmp_path: Path) -> None:
    weights = trainer.weights(trainer.examples(questions), questions)
    assert weights.trained_on.model_dump() == {
        "questions": "questions.jsonl",
        "question_count": 3,
        "passage_count": 6,
        "embedder": "words",
        "base": "dense",
    }
    write_weights(tmp_path / "w.json", weights)
    retriever = trainer.index.retriever(f"gnn_ret[weights={tmp_path / 'w.json'}]")
    assert isinstance(retriever, GNNRet)
    assert (retriever.alpha, retriever.relevant) == (weights.alpha, 1)


def test_the_recall_is_that_of_the_retriever(trainer: Trainer, questions: Path) -> None:
    retriever = trainer.index.retriever("gnn_ret[relevant=1]")
    for depth, recall in zip(DEPTHS, trainer.recall(trainer.examples(questions), (0.5,), 1.0), strict=True):
        shares = [
            len(set(gold) & {*retriever.retrieve(question, depth).ids}) / len(gold)
            for _, question, gold, *_ in (row.values() for row in QUESTIONS)
        ]
        assert recall == pytest.approx(np.mean(shares))


@pytest.mark.parametrize("base", ["dense", "bm25", "scaled_hybrid"])
def test_every_question_is_held_out_once(trainer: Trainer, questions: Path, base: str) -> None:
    trainer = replace(trainer, base=base)
    examples = trainer.examples(questions)
    folds = trainer.cross_validate(examples, 3)
    assert [fold.held for fold in folds] == [1, 1, 1]
    assert folds[0].result == trainer.train(examples[1:])
    assert average_recall(folds, "untrained") == pytest.approx(trainer.recall(examples, (0.5,), 1.0))
    limited = trainer.cross_validate(examples, 3, limit=1)
    assert limited[0].result == trainer.train(examples[1:2])


def test_the_recurrent_form_is_held_out_too(recurrent: Trainer, questions: Path) -> None:
    folds = recurrent.cross_validate(recurrent.examples(questions, limit=2), 2)
    assert all(fold.result.beta is not None and 0 <= fold.result.beta <= 1 for fold in folds)
    assert all(0 <= share <= 1 for fold in folds for share in (*fold.base, *fold.untrained, *fold.trained))


def test_what_is_missing_is_reported(trainer: Trainer, recurrent: Trainer, questions: Path, tmp_path: Path) -> None:
    with pytest.raises(BadInputError, match=r"'lakes' of .* has no decomposition"):
        recurrent.examples(questions)
    with pytest.raises(BadInputError, match="3 questions cannot make 4 folds"):
        trainer.cross_validate(trainer.examples(questions), 4)
    with pytest.raises(BadInputError, match="a score for every passage"):
        replace(trainer, base="hybrid").examples(questions)
    misled = QUESTIONS[0] | {"decomposition": [{"question": "Who directed it?", "gold": "moon"}]}
    for row, message in (
        ({"id": "q", "question": "why?", "answers": ["so"]}, r"'q' of .* has no gold passages"),
        ({"id": "q", "question": "why?", "gold": ["moon"]}, "the gold passage 'moon' of question 'q' is not in the"),
        (misled, r"'moon' of sub-question 'Who directed it\?' of question 'death'"),
    ):
        with pytest.raises(BadInputError, match=message):
            recurrent.examples(write(tmp_path / "other.jsonl", [row]))


STEPS: list[dict[str, object]] = [
    {"question": "Who directed the film?", "answer": "Edward Cahn", "gold": "film"},
    {"question": "When did #1 die, and was #1 old?", "answer": "1963"},
    {"question": "What happened in #2 to #1?"},
]


def test_earlier_answers_are_filled_in(tmp_path: Path) -> None:
    rows = [{"question": "When?", "decomposition": STEPS}, {"question": "Where?"}]
    found = read_decompositions(write(tmp_path / "questions.jsonl", rows))
    assert list(found) == ["When?"]
    assert [step.question for step in found["When?"]] == [
        "Who directed the film?",
        "When did Edward Cahn die, and was Edward Cahn old?",
        "What happened in 1963 to Edward Cahn?",
    ]
    assert found["When?"][0] == SubQuestion(question="Who directed the film?", answer="Edward Cahn", gold="film")


@pytest.mark.parametrize(
    ("row", "message"),
    [
        ({"question": "q", "decomposition": [{"question": "Who is #1?"}]}, "row 1: #1 in sub-question 1 names no"),
        ({"question": "q", "decomposition": [{"question": "Who?"}, {"question": "#1?"}]}, "#1 in sub-question 2"),
        ({"question": "q", "decomposition": [{"question": "Who is #0?"}]}, "#0 in sub-question 1"),
        ({"question": "q", "decomposition": [{"answer": "a"}]}, r"row 1: decomposition.0.question: Field required"),
        ({"question": "q", "decomposition": "what"}, "row 1: decomposition"),
    ],
)
def test_what_cannot_be_filled_in_is_reported(tmp_path: Path, row: object, message: str) -> None:
    with pytest.raises(BadInputError, match=message):
        read_decompositions(write(tmp_path / "questions.jsonl", [row]))
