"""The numbers in the tables are those calculated by hand: groups of questions, and runs followed step by step."""

import re
from dataclasses import replace

import pytest

from triplebeam.evaluate.compare import Difference
from triplebeam.evaluate.questions import Question
from triplebeam.evaluate.run import Evaluation, QuestionResult, Run, StepResult
from triplebeam.generate.language_model import Usage
from triplebeam.text import phrases
from triplebeam_research.report import write_report
from triplebeam_research.report.breakdown import (
    group_by_gold_passages,
    group_by_hops,
    group_by_kind_of_hops,
    group_by_triple_density,
    group_by_type,
    is_all_found,
    recall_by_step,
    steps_by_hops,
    tokens_by_step,
)
from triplebeam_research.report.differences import Comparison

READ = Usage(calls=1, tokens_in=90, tokens_out=10)
CACHED = [Usage(cached_calls=1, cached_tokens_in=80), Usage(cached_calls=1, cached_tokens_in=70, cached_tokens_out=50)]
AGENT = [
    QuestionResult(
        question_id="q1",
        passage_ids=("x", "a"),
        answer="Ada",
        seconds=1.0,
        encodings=3,
        usage=READ,
        steps=(StepResult(passage_ids=("x", "a"), usage=READ),),
    ),
    QuestionResult(
        question_id="q2",
        passage_ids=("c",),
        answer="Eve",
        seconds=2.0,
        encodings=4,
        usage=replace(sum(CACHED, Usage()), estimated=True),
        steps=(StepResult(passage_ids=("x",), usage=CACHED[0]), StepResult(passage_ids=("c",), usage=CACHED[1])),
    ),
]
BASE = [
    QuestionResult(question_id="q1", passage_ids=("a", "x", "b"), seconds=0.002),
    QuestionResult(question_id="q2", passage_ids=("x",), seconds=0.004),
]
_TINY = Evaluation(
    title="Tiny",
    questions=[
        Question(id="q1", question="One?", gold=("a", "b"), answers=("Ada",), hops=2),
        Question(id="q2", question="Two?", gold=("c",), answers=("Bob",), hops=1),
    ],
    runs=[Run(method="base", results=BASE), Run(method="agent", dollars=0.005, results=AGENT)],
)


#: By hand: the nDCG of base is (1 + 1/2) / (1 + 1/log2(3)) = 0.9197, and 0; that of agent 0.6309 / 1.6309, and 1. After
#: the first step of agent the second question has nothing yet; the first keeps what it found.
TABLES = """\
### What each method reached, in per cent
| Method | R@2 | R@5 | 95 % interval | R@10 | R@15 | All@5 | nDCG@10 | MRR | EM | F1 |
| base (baseline) | 25.0 | 50.0 | 0.0 to 100.0 | 50.0 | 50.0 | **50.0** | 46.0 | 50.0 | – | – |
| agent | **75.0** | **75.0** | 50.0 to 100.0 | **75.0** | **75.0** | **50.0** | **69.3** | **75.0** | 50.0 | 50.0 |
### R@5 against the baseline, base
| Method | Verdict | Difference, 95 % interval and adjusted p-value |
| agent | no clear difference | +25.0 points R@5, between −50.0 and +100.0, p = …: not significant |
### R@5 against the best, agent
| Method | Verdict | Difference, 95 % interval and adjusted p-value |
| base | no clear difference | −25.0 points R@5, between −100.0 and +50.0, p = …: not significant |
### What a question cost
| Method | Time p50 (ms) | Time mean (ms) | Time p95 (ms) | Encodings | Calls | Tokens | Dollars |
| base (baseline) | 3.0 | 3.0 | 3.9 | 0 | 0 | 0 | – |
| agent | 1,500 | 1,500 | 1,950 | 3.5 | 1.5 | 150 | 0.0025 |
### Recall by hops, in per cent
| Method | 1 hop (n = 1): R@5 | 1 hop (n = 1): R@15 | 2 hops (n = 1): R@5 | 2 hops (n = 1): R@15 |
| base (baseline) | 0.0 | 0.0 | **100.0** | **100.0** |
| agent | **100.0** | **100.0** | 50.0 | 50.0 |
### R@15 after each step
| Method | Step 1 | Step 2 |
| agent | 25.0 | 75.0 |
### Tokens up to each step
| Method | Step 1 | Step 2 |
| agent | 180 | 300 |
### Where agent and base disagree most
| Question id | base | agent | Difference | Question |
| q2 | 0.0 | 100.0 | +100.0 | Two? |
| q1 | 100.0 | 50.0 | −50.0 | One? |
"""


def test_the_tables_are_those_calculated_by_hand() -> None:
    text = write_report(_TINY).text
    lines = [line for line in text.splitlines() if line.startswith(("### ", "| ")) and not line.startswith("| ---")]
    shown = re.sub(r"p = [\d.]+", "p = …", "\n".join(lines))
    for table in TABLES.strip().split("### ")[1:]:
        assert f"### {table.strip()}\n" in f"{shown}\n"
    assert "Calls answered from a cache are counted, but their time is not the model's: agent." in text
    assert "Tokens are estimated from the length of the texts for agent." in text


def test_a_difference_in_words() -> None:
    clear = Comparison(place=1, measure="R@5", difference=Difference(0.041, 0.022, 0.06, 0.0001, 500), adjusted=0.0002)
    assert clear.words == "+4.1 points R@5, between +2.2 and +6.0, p < 0.001: significant"
    assert clear.verdict == "better"
    chance = Comparison(place=1, measure="F1", difference=Difference(-0.01, -0.03, 0.01, 0.03, 500), adjusted=0.09)
    assert chance.words == "−1.0 points F1, between −3.0 and +1.0, p = 0.090: not significant"
    assert chance.verdict == "no clear difference"


def test_numbers_are_written_one_way() -> None:
    assert [phrases.percent(share) for share in (0.5234, 1, float("nan"))] == ["52.3", "100.0", "–"]
    assert [phrases.points(value) for value in (0.0411, -0.0411, -0.0001, 0)] == ["+4.1", "−4.1", "0.0", "0.0"]
    assert [phrases.probability(value) for value in (0.0002, 0.0314, 1)] == ["p < 0.001", "p = 0.031", "p = 1.000"]
    assert [phrases.count(value) for value in (0, 1.5, 12.3, 12345)] == ["0", "1.5", "12", "12,345"]
    assert [phrases.milliseconds(value) for value in (0.0034, 0.0499, 12.3)] == ["3.4", "50", "12,300"]
    assert [phrases.dollars(value) for value in (0, 0.00124, 0.5, 12.345)] == ["0", "0.0012", "0.50", "12.35"]


QUESTIONS = [
    Question(id="1", question="?", gold=("a", "b"), hops=4, type="bridge"),
    Question(id="2", question="?", gold=("c",), hops=2, type="comparison"),
    Question(id="3", question="?", answers=("yes",)),
    Question(id="4", question="?", gold=("d",), hops=2, type="bridge"),
    Question(id="5", question="?", gold=("e",), hops=10, type="bridge"),
]


SLOW = "one step did not answer it; then answered; the endpoint was slow"


def step(passages: str, read: int = 0, *, cached: int = 0) -> StepResult:
    return StepResult(
        passage_ids=tuple(passages),
        usage=Usage(tokens_in=read, tokens_out=1 if read else 0, cached_tokens_in=cached, cached_tokens_out=cached),
    )


RUN = Run(
    method="agent",
    results=[
        QuestionResult(
            question_id="1",
            passage_ids=tuple("ab"),
            steps=(step("ax", 10), step("xa", 20), step("ab", 30)),
            usage=Usage(tokens_in=1000),
            ending="the last step was reached; the reply was cut off",
        ),
        QuestionResult(question_id="2", passage_ids=tuple("cx"), steps=(step("cx", 5),), ending="answered"),
        QuestionResult(question_id="3", passage_ids=tuple("xy"), steps=(step("xy"), step("xy", cached=7))),
        QuestionResult(question_id="4", passage_ids=tuple("dx"), usage=Usage(tokens_in=3), ending=SLOW),
        QuestionResult(question_id="5", passage_ids=tuple("xe"), steps=(step("e", 5), step("xe", 5))),
    ],
)


def test_groups_are_in_the_order_of_numbers_or_names() -> None:
    by_hops = [("2 hops", [1, 3]), ("4 hops", [0]), ("10 hops", [4]), ("not known", [2])]
    assert list(group_by_hops(QUESTIONS).items()) == by_hops
    assert list(group_by_hops([Question(id="1", question="?", hops=1)])) == ["1 hop"]
    assert group_by_hops([]) == {}
    assert list(group_by_type(QUESTIONS).items()) == [("bridge", [0, 3, 4]), ("comparison", [1]), ("not known", [2])]
    types = ["3hop1", "2hop", "3hop2", "2hop"]
    questions = [Question(id=f"{n}", question="?", hops=int(kind[0]), type=kind) for n, kind in enumerate(types)]
    assert group_by_kind_of_hops(questions) == {"2hop": [1, 3], "3hop1": [0], "3hop2": [2]}, "as MuSiQue's types say"
    assert group_by_kind_of_hops(QUESTIONS) == group_by_hops(QUESTIONS)
    parted = group_by_triple_density(QUESTIONS, {"1": 9.0, "2": 8.99, "4": 13.0, "5": 40.5})
    expected = [("under 9", [1]), ("9 to 11", [0]), ("13 and more", [3, 4]), ("not known", [2])]
    assert list(parted.items()) == expected, "as the paper parts them"
    assert list(group_by_triple_density(QUESTIONS, {"1": 10.9, "2": 11, "4": 12.9}))[:2] == ["9 to 11", "11 to 13"]


def test_recall_so_far_is_carried_forward_and_tokens_add_up() -> None:
    """Question 1: 1/2, 1/2, 1; 2 stops with 1; 3 has no gold; 4 has no steps, 1; 5 finds it at once, then loses it."""
    assert recall_by_step(QUESTIONS, RUN, k=2, steps=3) == pytest.approx([3.5 / 4, 3.5 / 4, 1])
    assert recall_by_step(QUESTIONS, RUN, k=1, steps=3) == pytest.approx([3.5 / 4, 2 / 4, 2.5 / 4])
    assert recall_by_step(QUESTIONS, RUN, k=2, steps=2) == pytest.approx([3.5 / 4, 3.5 / 4])
    assert recall_by_step(QUESTIONS, RUN, k=2, steps=5)[2:] == [1, 1, 1]
    assert tokens_by_step(RUN, steps=1) == [26], "cached ones count"
    assert tokens_by_step(RUN, steps=4) == [11 + 6 + 0 + 3 + 6, 26 + 21 + 14 + 6, 67 + 31, 98]
    # The first question ended undecided after its third step: "3+".
    assert steps_by_hops(QUESTIONS, RUN) == {"2 hops": [1, 1], "4 hops": [4], "10 hops": [2], "not known": [2]}


def test_all_gold_passages_in_the_whole_list_that_was_read() -> None:
    grouped = Question(id="6", question="?", gold=("a", "b", "c"), groups=(("a", "b"), ("c",)))
    groups = {"1 gold passages": [1, 3, 4], "2 gold passages": [0, 5], "not known": [2]}
    assert group_by_gold_passages([*QUESTIONS, grouped]) == groups
    found = QuestionResult(question_id="6", passage_ids=("x", "b"), further_ids=("y", "c"))
    assert is_all_found(grouped, found)
    assert not is_all_found(QUESTIONS[0], found)
