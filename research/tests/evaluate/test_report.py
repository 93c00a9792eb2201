"""The report as Markdown and as a page: complete, harmless, and honest about what it cannot show."""

import re
from collections.abc import Callable
from dataclasses import replace

import pytest
from lxml import html as lxml_html
from made_up_evaluation import made_up_evaluation

from triplebeam.errors import BadInputError
from triplebeam.evaluate.questions import Question
from triplebeam.evaluate.run import Evaluation, QuestionResult, Run
from triplebeam_research.report import Report, write_report


@pytest.fixture(scope="module")
def evaluation() -> Evaluation:
    return made_up_evaluation()


@pytest.fixture(scope="module")
def report(evaluation: Evaluation) -> Report:
    return write_report(evaluation)


def text_of(evaluation: Evaluation) -> str:
    return write_report(evaluation).text


def test_page_needs_nothing_beside_it(report: Report) -> None:
    page = report.page()
    tree = lxml_html.fromstring(page)
    assert len(tree.xpath("//h1")) == 1
    assert tree.findtext("head/title") == report.title
    assert not tree.xpath("//script | //link | //img | //iframe")
    assert not re.findall(r"url\((?!#)", page)
    assert not re.findall("://(?!www.w3.org/)", page)
    assert "default-src 'none'" in page


def test_figures_of_the_papers_are_there(evaluation: Evaluation, report: Report) -> None:
    """GeAR's Figures 4 and 5 with SyncGE's level, and GNN-Ret's 2 and 5."""
    text = report.text
    tokens = text.split("### Tokens up to each step")[1].split("###")[0]
    assert "| hybrid+sync_ge | 94,800 | – |" in tokens, "the best method that reads once"
    assert "F1 against calls" in text
    assert "Questions with all gold passages retrieved" not in text, "no list was read as a whole"
    first = evaluation.runs[0]
    whole = [
        replace(result, further_ids=question.gold)
        for result, question in zip(first.results, evaluation.questions, strict=True)
    ]
    changed = text_of(replace(evaluation, runs=[replace(first, results=whole), *evaluation.runs[1:]]))
    table = changed.split("Questions with all gold passages retrieved")[1]
    row = next(line for line in table.splitlines() if line.startswith("| bm25"))
    by_number = [sum(question.hops == hops for question in evaluation.questions) for hops in (2, 3, 4)]
    assert [int(cell) for cell in row.split("|")[2:-1]] == by_number


def test_agents_that_end_undecided_have_a_column_of_their_own(evaluation: Evaluation) -> None:
    agent = evaluation.runs[-1]
    most = max(len(result.steps) for result in agent.results)
    ended = [
        replace(result, ending="the last step was reached") if len(result.steps) == most else result
        for result in agent.results
    ]
    changed = text_of(replace(evaluation, runs=[evaluation.runs[0], replace(agent, results=ended)]))
    table = changed.split("### Steps taken, by hops")[1]
    assert f"| {most - 1} | {most} | {most}+ | Mean |" in table


def test_every_part_and_every_method_is_there(evaluation: Evaluation, report: Report) -> None:
    for section in ("Results", "Differences", "Cost", "Kinds of questions", "Steps of agents", "Questions to look at"):
        assert f"\n## {section}\n" in report.text
    for name, value in evaluation.facts.items():
        assert f"**{name}**: {value}" in report.text
    tree = lxml_html.fromstring(report.page())
    summary = tree.xpath("(//table)[1]/tbody/tr/td[1]")
    assert [cell.text_content() for cell in summary] == [
        "bm25 (baseline)",
        *(run.method for run in list(evaluation.runs)[1:]),
    ]
    drawings = tree.xpath("//*[local-name()='svg']")
    assert len(drawings) == len(report.plots) == 8
    assert all(drawing.get("role") == "img" and drawing.get("aria-label") for drawing in drawings)
    assert not re.findall("#(?:1c1e21|565c64|fdfdfc|0072b2)", report.page().partition("</style>")[2]), "a colour stays"
    anchors = [element.get("id") for element in tree.xpath("//*[@id]")]
    assert len(set(anchors)) == len(anchors)


def test_all_rows_of_a_table_are_as_long_as_its_head(report: Report) -> None:
    for block in re.findall(r"(?:^\|.*\n)+", report.text, flags=re.MULTILINE):
        assert len({len(re.findall(r"(?<!\\)\|", line)) for line in block.splitlines()}) == 1


@pytest.mark.parametrize("hostile", ["<script>alert(1)</script>", "a|b*c*_d_`e`", '"><svg onload=x>', "&lt; $x$ \n# y"])
def test_names_and_questions_are_shown_as_they_are_and_do_no_harm(hostile: str) -> None:
    evaluation = made_up_evaluation(24)
    changed = replace(
        evaluation,
        title=hostile,
        questions=[replace(question, question=hostile, type=hostile) for question in evaluation.questions],
        runs=[replace(run, method=f"{hostile}{number}") for number, run in enumerate(evaluation.runs)],
        facts={hostile: hostile},
    )
    page = lxml_html.fromstring(write_report(changed).page())
    assert not page.xpath("//script | //*[@onload] | //em | //code | //td//a | //img")
    assert page.findtext("head/title") == hostile
    assert page.xpath("//h1")[0].text_content() == " ".join(hostile.split())
    assert f"{' '.join(hostile.split())}5" in [cell.text_content() for cell in page.xpath("//td")]


def test_the_same_evaluation_gives_the_same_report(report: Report) -> None:
    again = write_report(made_up_evaluation())
    assert again == report
    assert again.page() == report.page()


def _one_method(evaluation: Evaluation) -> Evaluation:
    return replace(evaluation, runs=evaluation.runs[:1])


def _one_question(evaluation: Evaluation) -> Evaluation:
    runs = [replace(run, results=run.results[:1]) for run in evaluation.runs]
    return replace(evaluation, questions=evaluation.questions[:1], runs=runs)


def _no_gold(evaluation: Evaluation) -> Evaluation:
    return replace(evaluation, questions=[replace(question, gold=()) for question in evaluation.questions])


def _nothing_known(evaluation: Evaluation) -> Evaluation:
    bare = [Question(id=question.id, question=question.question) for question in evaluation.questions]
    return replace(evaluation, questions=bare, triples_of_gold={}, facts={})


def _no_hops(evaluation: Evaluation) -> Evaluation:
    questions = [replace(question, hops=None, type="") for question in evaluation.questions]
    return replace(evaluation, questions=questions, triples_of_gold={}, runs=evaluation.runs[:2])


def _no_runs(evaluation: Evaluation) -> Evaluation:
    return replace(evaluation, runs=[])


def _no_questions(evaluation: Evaluation) -> Evaluation:
    return replace(evaluation, questions=[], runs=[replace(run, results=[]) for run in evaluation.runs])


def _no_cost(evaluation: Evaluation) -> Evaluation:
    def bare(result: QuestionResult) -> QuestionResult:
        return QuestionResult(question_id=result.question_id, passage_ids=result.passage_ids)

    return replace(
        evaluation, runs=[Run(method=run.method, results=list(map(bare, run.results))) for run in evaluation.runs]
    )


@pytest.mark.parametrize(
    ("less", "said"),
    [
        (_one_method, ["1 method, 120 questions. bm25 reached ", "Differences: only one method was run."]),
        (_one_question, ["6 methods, 1 question.", "Recall by hops: all questions are of one kind: 2 hops."]),
        (_no_gold, ["% F1", "Breakdowns of recall: no question names gold passages"]),
        (_nothing_known, ["Nothing could be measured", "Summary: no method returned"]),
        (_no_hops, ["Recall by hops: it is not known of any question", "no method took more than one step"]),
        (_no_runs, ["There is nothing to report: 0 methods, 120 questions."]),
        (_no_questions, ["There is nothing to report: 6 methods, 0 questions."]),
        (_no_cost, ["Cost: the results carry neither", "against time: the results carry no time."]),
    ],
)
def test_what_is_missing_is_said(
    evaluation: Evaluation, less: Callable[[Evaluation], Evaluation], said: list[str]
) -> None:
    shown = text_of(less(evaluation)).replace("**", "")
    for words in said:
        assert words in shown
    assert "nan" not in re.sub(r"[a-z]nan|nan[a-z]", "", shown)


def test_a_method_that_only_answers_has_no_recall(evaluation: Evaluation) -> None:
    only_answers = [replace(result, passage_ids=(), steps=()) for result in evaluation.runs[-1].results]
    runs = [*evaluation.runs, Run(method="closed book", results=only_answers)]
    row = next(line for line in text_of(replace(evaluation, runs=runs)).splitlines() if "closed book" in line)
    assert row.startswith("| closed book | – | – | – |")


def test_runs_of_one_method_are_distinguished(evaluation: Evaluation) -> None:
    gear = evaluation.runs[-1]
    twice = replace(evaluation, runs=[replace(gear, seed=1), replace(gear, seed=2), gear, gear])
    text = text_of(twice)
    for label in ("gear, seed 1 (baseline)", "gear, seed 2", "gear #1", "gear #2"):
        assert f"| {label} |" in text


def test_a_run_on_other_questions_is_an_error(evaluation: Evaluation) -> None:
    with pytest.raises(BadInputError, match="119 results for 120 questions"):
        write_report(replace(evaluation, runs=[replace(evaluation.runs[0], results=evaluation.runs[0].results[1:])]))
