"""The report as Markdown and as a page: complete, harmless, and honest about what it cannot show.

The plots show the values they are given, and become part of a page without harm.
"""

import re
from collections.abc import Callable
from dataclasses import replace
from functools import partial

import numpy as np
import pytest
from lxml import etree
from lxml import html as lxml_html
from made_up_evaluation import made_up_evaluation
from matplotlib.axes import Axes
from matplotlib.figure import Figure

from triplebeam.errors import BadInputError
from triplebeam.evaluate.compare import Difference
from triplebeam.evaluate.questions import Question
from triplebeam.evaluate.run import Evaluation, QuestionResult, Run
from triplebeam_research.report import Report, plots, write_report
from triplebeam_research.report.plots import Series


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


HOSTILE = ["<script>alert(1)</script>", "a|b*c*_d_`e`", '"><svg onload=x>', "&lt; $x$ \n# y"]


def test_names_and_questions_are_shown_as_they_are_and_do_no_harm() -> None:
    evaluation, every = made_up_evaluation(24), " ".join(HOSTILE)
    changed = replace(
        evaluation,
        title=every,
        questions=[
            replace(question, question=HOSTILE[number % 4], type=HOSTILE[number % 4])
            for number, question in enumerate(evaluation.questions)
        ],
        runs=[replace(run, method=f"{HOSTILE[number % 4]}{number}") for number, run in enumerate(evaluation.runs)],
        facts=dict(zip(HOSTILE, HOSTILE, strict=True)),
    )
    page = lxml_html.fromstring(write_report(changed).page())
    assert not page.xpath("//script | //*[@onload] | //em | //code | //td//a | //img")
    assert page.findtext("head/title") == every
    assert page.xpath("//h1")[0].text_content() == " ".join(every.split())
    cells = [cell.text_content() for cell in page.xpath("//td")]
    for number, hostile in enumerate(HOSTILE):
        shown = " ".join(hostile.split())
        assert f"{shown}{number}" in " ".join(cells)
        assert f"{shown}: {shown}" in [fact.text_content() for fact in page.xpath("//li")]


def test_the_same_evaluation_gives_the_same_report(report: Report) -> None:
    assert write_report(made_up_evaluation()) == report, "plots: see below"


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


DIFFERENCES = [(1, "hybrid", Difference(0.05, -0.01, 0.11, 0.1, 50)), (2, "gear", Difference(0.2, 0.1, 0.3, 0.001, 50))]
POINTS = [(0, "bm25", 0.004, 0.4), (1, "hybrid", 0.02, 0.5), (2, "gear", 4.0, 0.7)]
BOXES = {"2 hops": [(0, "bm25", np.array([0.0, 0.5, 1.0])), (1, "hybrid", np.array([0.5, 0.5, 1.0]))]}
SHARES = {"gear": (2, {"2 hops": [1, 1, 2, 2], "3 hops": [3]})}
ALL: list[Callable[[Axes], None]] = [
    partial(plots.difference_plot, rows=DIFFERENCES, value_name="points"),
    partial(plots.cost_plot, points=POINTS, cost_name="Median time", value_name="R@5 (%)"),
    partial(plots.step_plot, agents=[Series(2, "gear", [50, 60])], level=Series(1, "hybrid", [55]), value_name="R@15"),
    partial(plots.box_plot, groups=BOXES, name="R@15"),
    partial(plots.share_plot, groups=SHARES, value_name="Steps", names={1: "1", 2: "2", 3: "2+"}),
]


@pytest.fixture
def axes() -> Axes:
    return Figure(layout="constrained").subplots()


def rows_of(axes: Axes) -> list[str]:
    return [label.get_text() for label in axes.get_yticklabels()]


def test_a_difference_is_drawn_in_points_with_its_interval(axes: Axes) -> None:
    plots.difference_plot(axes, DIFFERENCES, "points")
    zero, *drawn = [list(map(float, line.get_xdata())) for line in axes.lines]
    assert zero == [0, 0]
    assert drawn == [pytest.approx(values) for values in ([-1, 11], [5], [10, 30], [20])]
    assert rows_of(axes) == ["hybrid", "gear"]


def test_cost_is_logarithmic_and_has_a_place_for_nothing(axes: Axes) -> None:
    plots.cost_plot(axes, POINTS, "Median time", "R@5 (%)")
    assert axes.get_xscale() == "log"
    drawn = [(float(line.get_xdata()[0]), float(line.get_ydata()[0])) for line in axes.lines]
    assert drawn == [(cost, pytest.approx(100 * value)) for *_, cost, value in POINTS]
    free = Figure(layout="constrained").subplots()
    plots.cost_plot(free, [(0, "bm25", 0, 0.4), *POINTS[1:]], "Mean tokens", "R@5 (%)")
    assert free.get_xscale() == "symlog"
    assert free.get_xlim()[0] < 0


def test_steps_and_the_level_without_steps(axes: Axes) -> None:
    plots.step_plot(axes, [Series(2, "gear", [50, 60, 65])], Series(1, "hybrid", [55]), "R@15 (%)")
    line, level = axes.lines
    assert (list(line.get_xdata()), list(line.get_ydata())) == ([1, 2, 3], [50, 60, 65])
    assert list(level.get_ydata()) == [55, 55]


def test_boxes_are_in_the_rows_of_their_methods(axes: Axes) -> None:
    plots.box_plot(axes, BOXES, "R@15")
    assert rows_of(axes) == ["2 hops", "bm25", "hybrid"]
    extents = [box.get_path().get_extents() for box in axes.patches]
    assert [(box.y0 + box.y1) / 2 for box in extents] == [1, 2]
    assert extents[0].intervalx.tolist() == [25, 75]


def test_shares_of_a_row_are_those_of_its_questions(axes: Axes) -> None:
    plots.share_plot(axes, SHARES, "Steps", {1: "1", 2: "2", 3: "2+"})
    assert [label.get_text() for label in axes.get_xticklabels()] == ["1", "2", "2+"]
    assert [(text.get_position(), text.get_text()) for text in axes.texts] == [
        ((1, 1), "50 %"),
        ((2, 1), "50 %"),
        ((3, 2), "100 %"),
    ]
    assert rows_of(axes) == ["gear", "2 hops", "3 hops"]


@pytest.mark.parametrize("draw", ALL)
def test_an_svg_is_one_element_and_the_same_every_time(draw: Callable[[Axes], None]) -> None:
    drawing = plots.render_svg(draw, "A caption", "How to read it.")
    assert etree.QName(etree.fromstring(drawing)).localname == "svg"
    assert 'aria-label="A caption. How to read it."' in drawing
    assert drawing == plots.render_svg(draw, "A caption", "How to read it.")


def test_two_plots_share_no_id() -> None:
    drawn = [plots.render_svg(draw, f"Caption {number}", "") for number, draw in enumerate(ALL[:2])]
    first, second = (set(re.findall(r' id="([^"]+)"', drawing)) for drawing in drawn)
    assert first.isdisjoint(second)


@pytest.mark.parametrize("label", ["<b>&", "$x^2$", "_hidden", "two\nlines", "方法" * 30, "a\u0301" * 50])
def test_any_name_may_be_a_methods(label: str) -> None:
    for draw in (
        partial(plots.difference_plot, rows=[(0, label, DIFFERENCES[0][2])], value_name=""),
        partial(plots.cost_plot, points=[(0, label, 1.0, 0.5)], cost_name="", value_name=""),
    ):
        tree = etree.fromstring(plots.render_svg(draw, label, ""))
        shown = {"".join(text.itertext()).strip("\u200b") for text in tree.iter("{*}text")}
        assert any(words.startswith(" ".join(label.split())[:20]) for words in shown)
