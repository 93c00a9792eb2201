"""Sub-questions with the answers of earlier ones filled in."""

import json
from pathlib import Path

import pytest

from triplebeam.errors import BadInputError
from triplebeam.evaluate.questions import SubQuestion
from triplebeam_research.training.trainer import read_decompositions

STEPS: list[dict[str, object]] = [
    {"question": "Who directed the film?", "answer": "Edward Cahn", "gold": "film"},
    {"question": "When did #1 die, and was #1 old?", "answer": "1963"},
    {"question": "What happened in #2 to #1?"},
]


def write(path: Path, rows: list[object]) -> Path:
    path.write_text("\n".join(map(json.dumps, rows)), encoding="utf-8")
    return path


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
