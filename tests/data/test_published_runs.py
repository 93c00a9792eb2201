"""Our recall against the figures that vector-graph-rag published for its own lists, row by row, with no tolerance.

The rows speak of passages by the corpus's ids, so nothing is mapped. What is odd about them:

- They list the gold passages in another order than the questions do. The sets agree, and recall sees no order.
- HotpotQA's questions repeat: of its 257 rows four stand there twice and one three times, lists and all, which leaves
  251 questions. A mean over the rows is therefore not the mean over the questions.
- A list holds passages without scores; here its ranks take their place.
"""

import gzip
import json
from pathlib import Path
from typing import Any

import pytest

from triplebeam.evaluate.measures import values
from triplebeam.evaluate.questions import Question, read_questions
from triplebeam.evaluate.run import QuestionResult

pytestmark = pytest.mark.data

DATASETS = {"2wikimultihopqa": (517, 517), "hotpotqa": (257, 251), "musique": (524, 524)}
SYSTEMS = ("naive", "gpt-4o-mini", "gpt-5-mini")


@pytest.fixture(params=[(dataset, system) for dataset in DATASETS for system in SYSTEMS], ids="-".join)
def run(request: pytest.FixtureRequest, data: Path) -> tuple[str, list[dict[str, Any]], dict[str, Question]]:
    """A dataset's name, the rows of a run on it, and its questions by id."""
    dataset, system = request.param
    with gzip.open(data / dataset / "runs" / f"vgr.{system}.dev.jsonl.gz", "rt", encoding="utf-8") as file:
        rows = [json.loads(line) for line in file]
    questions = read_questions(data / dataset / "questions.dev.jsonl.gz")
    return dataset, rows, {question.id: question for question in questions}


def test_every_rows_recall_is_reproduced(run: tuple[str, list[dict[str, Any]], dict[str, Question]]) -> None:
    dataset, rows, questions = run
    for row in rows:
        question = questions[row["id"]]
        result = QuestionResult(question_id=question.id, passage_ids=tuple(row["retrieved"]))
        assert sorted(question.gold) == sorted(row["gold"])
        for k in (5, 10):
            assert values(f"R@{k}", [question], [result]) == row[f"recall@{k}"], (row["id"], k)
    assert (len(rows), len({row["id"] for row in rows})) == DATASETS[dataset]


def test_no_run_is_left_out(data: Path) -> None:
    found = sorted(str(path.relative_to(data)) for path in data.glob("*/runs/*.jsonl.gz"))
    assert found == sorted(f"{dataset}/runs/vgr.{system}.dev.jsonl.gz" for dataset in DATASETS for system in SYSTEMS)
