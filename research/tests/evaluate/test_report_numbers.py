"""The numbers in the tables are those calculated by hand."""

import pytest

from triplebeam.evaluate import numbers
from triplebeam.evaluate.compare import Difference
from triplebeam.evaluate.questions import Question
from triplebeam.evaluate.run import Evaluation, QuestionResult, Run, StepResult
from triplebeam.generate.language_model import Usage
from triplebeam_research.report import write_report
from triplebeam_research.report.differences import Comparison
from triplebeam_research.report.markdown import escape_markdown

_TINY = Evaluation(
    title="Tiny",
    questions=[
        Question(id="q1", question="One?", gold=("a", "b"), answers=("Ada",), hops=2),
        Question(id="q2", question="Two?", gold=("c",), answers=("Bob",), hops=1),
    ],
    runs=[
        Run(
            method="base",
            results=[
                QuestionResult(question_id="q1", passage_ids=("a", "x", "b"), seconds=0.002),
                QuestionResult(question_id="q2", passage_ids=("x",), seconds=0.004),
            ],
        ),
        Run(
            method="agent",
            dollars=0.005,
            results=[
                QuestionResult(
                    question_id="q1",
                    passage_ids=("x", "a"),
                    answer="Ada",
                    seconds=1.0,
                    encodings=3,
                    usage=Usage(calls=1, tokens_in=90, tokens_out=10),
                    steps=(StepResult(passage_ids=("x", "a"), usage=Usage(calls=1, tokens_in=90, tokens_out=10)),),
                ),
                QuestionResult(
                    question_id="q2",
                    passage_ids=("c",),
                    answer="Eve",
                    seconds=2.0,
                    encodings=4,
                    usage=Usage(cached_calls=2, cached_tokens_in=150, cached_tokens_out=50, estimated=True),
                    steps=(
                        StepResult(passage_ids=("x",), usage=Usage(cached_calls=1, cached_tokens_in=80)),
                        StepResult(
                            passage_ids=("c",),
                            usage=Usage(cached_calls=1, cached_tokens_in=70, cached_tokens_out=50),
                        ),
                    ),
                ),
            ],
        ),
    ],
)


@pytest.fixture(scope="module")
def tables() -> dict[str, dict[str, dict[str, str]]]:
    """Caption to row to column to text."""
    found: dict[str, dict[str, dict[str, str]]] = {}
    caption, head = "", None
    for line in write_report(_TINY).text.splitlines():
        if line.startswith("### "):
            caption, head = line[4:], None
        elif line.startswith("| ") and not line.startswith("| ---"):
            cells = line.strip("| ").split(" | ")
            if head is None:
                head = cells
            else:
                found.setdefault(caption, {})[cells[0]] = dict(zip(head[1:], cells[1:], strict=True))
    return found


def test_summary(tables: dict[str, dict[str, dict[str, str]]]) -> None:
    rows = tables["What each method reached, in per cent"]
    assert rows["base (baseline)"] == {
        "R@2": "25.0",
        "R@5": "50.0",
        "95 % interval": "0.0 to 100.0",
        "R@10": "50.0",
        "R@15": "50.0",
        "All@5": "**50.0**",
        "nDCG@10": "46.0",  # (1 + 1/2) / (1 + 1/log2(3)) = 0.9197, and 0
        "MRR": "50.0",
        "EM": "–",
        "F1": "–",
    }
    assert rows["agent"] == {
        "R@2": "**75.0**",
        "R@5": "**75.0**",
        "95 % interval": "50.0 to 100.0",
        "R@10": "**75.0**",
        "R@15": "**75.0**",
        "All@5": "**50.0**",
        "nDCG@10": "**69.3**",  # 0.6309 / 1.6309 = 0.3869, and 1
        "MRR": "**75.0**",
        "EM": "50.0",
        "F1": "50.0",
    }


def test_cost(tables: dict[str, dict[str, dict[str, str]]]) -> None:
    rows = tables["What a question cost"]
    assert rows["base (baseline)"] == {
        "Time p50 (ms)": "3.0",
        "Time mean (ms)": "3.0",
        "Time p95 (ms)": "3.9",
        "Encodings": "0",
        "Calls": "0",
        "Tokens": "0",
        "Dollars": "–",
    }
    assert rows["agent"] == {
        "Time p50 (ms)": "1,500",
        "Time mean (ms)": "1,500",
        "Time p95 (ms)": "1,950",
        "Encodings": "3.5",
        "Calls": "1.5",
        "Tokens": "150",
        "Dollars": "0.0025",
    }
    text = write_report(_TINY).text
    assert "Calls answered from a cache are counted, but their time is not the model's: agent." in text
    assert "Tokens are estimated from the length of the texts for agent." in text


def test_breakdown_by_hops(tables: dict[str, dict[str, dict[str, str]]]) -> None:
    assert tables["Recall by hops, in per cent"]["agent"] == {
        "1 hop (n = 1): R@5": "**100.0**",
        "1 hop (n = 1): R@15": "**100.0**",
        "2 hops (n = 1): R@5": "50.0",
        "2 hops (n = 1): R@15": "50.0",
    }


def test_steps(tables: dict[str, dict[str, dict[str, str]]]) -> None:
    # After the first step the second question has nothing yet; the first keeps what it found.
    assert tables["R@15 after each step"]["agent"] == {"Step 1": "25.0", "Step 2": "75.0"}
    assert tables["Tokens up to each step"]["agent"] == {"Step 1": "180", "Step 2": "300"}


def test_differences_and_disagreements(tables: dict[str, dict[str, dict[str, str]]]) -> None:
    row = tables["R@5 against the baseline, base"]["agent"]
    assert row["Verdict"] == "no clear difference"
    (words,) = [text for name, text in row.items() if name != "Verdict"]
    assert words.startswith("+25.0 points R@5, between −50.0 and +100.0, p = ")
    assert words.endswith(": not significant")
    assert tables["Where agent and base disagree most"] == {
        "q2": {"base": "0.0", "agent": "100.0", "Difference": "+100.0", "Question": "Two?"},
        "q1": {"base": "100.0", "agent": "50.0", "Difference": "−50.0", "Question": "One?"},
    }


def test_a_difference_in_words() -> None:
    clear = Comparison(place=1, measure="R@5", difference=Difference(0.041, 0.022, 0.06, 0.0001, 500), adjusted=0.0002)
    assert clear.words == "+4.1 points R@5, between +2.2 and +6.0, p < 0.001: significant"
    assert clear.verdict == "better"
    chance = Comparison(place=1, measure="F1", difference=Difference(-0.01, -0.03, 0.01, 0.03, 500), adjusted=0.09)
    assert chance.words == "−1.0 points F1, between −3.0 and +1.0, p = 0.090: not significant"
    assert chance.verdict == "no clear difference"


def test_numbers_are_written_one_way() -> None:
    assert [numbers.percent(share) for share in (0.5234, 1, float("nan"))] == ["52.3", "100.0", "–"]
    assert [numbers.points(value) for value in (0.0411, -0.0411, -0.0001, 0)] == ["+4.1", "−4.1", "0.0", "0.0"]
    assert [numbers.probability(value) for value in (0.0002, 0.0314, 1)] == ["p < 0.001", "p = 0.031", "p = 1.000"]
    assert [numbers.count(value) for value in (0, 1.5, 12.3, 12345)] == ["0", "1.5", "12", "12,345"]
    assert [numbers.milliseconds(value) for value in (0.0034, 0.0499, 12.3)] == ["3.4", "50", "12,300"]
    assert [numbers.dollars(value) for value in (0, 0.00124, 0.5, 12.345)] == ["0", "0.0012", "0.50", "12.35"]


def test_markdown_keeps_method_names_readable() -> None:
    assert escape_markdown("hybrid+naive_ge") == "hybrid+naive_ge"
    assert escape_markdown("_a_ | <b>") == "\\_a\\_ \\| &lt;b&gt;"
