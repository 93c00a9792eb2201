"""The report as Markdown and as a page, and its plots: complete, harmless, honest about what they cannot show."""

import re
from collections.abc import Callable
from dataclasses import replace
from functools import partial
from typing import Any

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

WHOLE = made_up_evaluation()
AGENT = WHOLE.runs[-1]


@pytest.fixture(scope="module")
def report() -> Report:
    return write_report(WHOLE)


@pytest.fixture(scope="module")
def page(report: Report) -> str:
    return report.page()


def text_of(evaluation: Evaluation) -> str:
    return write_report(evaluation).text


def test_page_needs_nothing_beside_it(report: Report, page: str) -> None:
    tree = lxml_html.fromstring(page)
    assert len(tree.xpath("//h1")) == 1
    assert tree.findtext("head/title") == report.title
    assert not tree.xpath("//script | //link | //img | //iframe")
    assert not re.findall(r"url\((?!#)", page)
    assert not re.findall("://(?!www.w3.org/)", page)
    assert "default-src 'none'" in page


def test_figures_of_the_papers_are_there(report: Report) -> None:
    """GeAR's Figures 4 and 5 with SyncGE's level, and GNN-Ret's 2 and 5."""
    text = report.text
    tokens = text.split("### Tokens up to each step")[1].split("###")[0]
    assert "| hybrid+sync_ge | 94,800 | – |" in tokens, "the best method that reads once"
    assert "F1 against calls" in text
    assert "Questions with all gold passages retrieved" not in text, "no list was read as a whole"
    first = WHOLE.runs[0]
    whole = [
        replace(result, further_ids=question.gold)
        for result, question in zip(first.results, WHOLE.questions, strict=True)
    ]
    changed = text_of(replace(WHOLE, runs=[replace(first, results=whole), *WHOLE.runs[1:]]))
    table = changed.split("Questions with all gold passages retrieved")[1]
    row = next(line for line in table.splitlines() if line.startswith("| bm25"))
    by_number = [sum(question.hops == hops for question in WHOLE.questions) for hops in (2, 3, 4)]
    assert [int(cell) for cell in row.split("|")[2:-1]] == by_number


def test_agents_that_end_undecided_have_a_column_of_their_own() -> None:
    most = max(len(result.steps) for result in AGENT.results)
    ended = [
        replace(result, ending="the last step was reached") if len(result.steps) == most else result
        for result in AGENT.results
    ]
    changed = text_of(replace(WHOLE, runs=[WHOLE.runs[0], replace(AGENT, results=ended)]))
    table = changed.split("### Steps taken, by hops")[1]
    assert f"| {most - 1} | {most} | {most}+ | Mean |" in table


def test_every_part_and_every_method_is_there(report: Report, page: str) -> None:
    for section in ("Results", "Differences", "Cost", "Kinds of questions", "Steps of agents", "Questions to look at"):
        assert f"\n## {section}\n" in report.text
    for name, value in WHOLE.facts.items():
        assert f"**{name}**: {value}" in report.text
    tree = lxml_html.fromstring(page)
    summary = [cell.text_content() for cell in tree.xpath("(//table)[1]/tbody/tr/td[1]")]
    assert summary == ["bm25 (baseline)", *(run.method for run in WHOLE.runs[1:])]
    drawings = tree.xpath("//*[local-name()='svg']")
    assert len(drawings) == len(report.plots) == 8
    assert all(drawing.get("role") == "img" and drawing.get("aria-label") for drawing in drawings)
    assert not re.findall("#(?:1c1e21|565c64|fdfdfc|0072b2)", page.partition("</style>")[2]), "a colour stays"
    anchors = [element.get("id") for element in tree.xpath("//*[@id]")]
    assert len(set(anchors)) == len(anchors)


def test_all_rows_of_a_table_are_as_long_as_its_head_and_the_report_is_the_same_each_time(report: Report) -> None:
    for block in re.findall(r"(?:^\|.*\n)+", report.text, flags=re.MULTILINE):
        assert len({len(re.findall(r"(?<!\\)\|", line)) for line in block.splitlines()}) == 1
    assert write_report(made_up_evaluation()) == report, "plots: see below"


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


KINDLESS = {"hops": None, "type": ""}


def blank(**fields: object) -> list[Question]:
    """Return the questions with nothing in these fields."""
    return [replace(question, **fields) for question in WHOLE.questions]  # type: ignore[arg-type]


def bare(result: QuestionResult) -> QuestionResult:
    return QuestionResult(question_id=result.question_id, passage_ids=result.passage_ids)


@pytest.mark.parametrize(
    ("change", "said"),
    [
        ({"runs": WHOLE.runs[:1]}, ["1 method, 120 questions. bm25 reached ", "Differences: only one method was run."]),
        (
            {"questions": WHOLE.questions[:1], "runs": [replace(run, results=run.results[:1]) for run in WHOLE.runs]},
            ["6 methods, 1 question.", "Recall by hops: all questions are of one kind: 2 hops."],
        ),
        ({"questions": blank(gold=())}, ["% F1", "Breakdowns of recall: no question names gold passages"]),
        (
            {"questions": blank(gold=(), answers=(), **KINDLESS), "triples_of_gold": {}, "facts": {}},
            ["Nothing could be measured", "Summary: no method returned"],
        ),
        (
            {"questions": blank(**KINDLESS), "triples_of_gold": {}, "runs": WHOLE.runs[:2]},
            ["Recall by hops: it is not known of any question", "no method took more than one step"],
        ),
        ({"runs": []}, ["There is nothing to report: 0 methods, 120 questions."]),
        (
            {"questions": [], "runs": [replace(run, results=[]) for run in WHOLE.runs]},
            ["There is nothing to report: 6 methods, 0 questions."],
        ),
        (
            {"runs": [Run(method=run.method, results=list(map(bare, run.results))) for run in WHOLE.runs]},
            ["Cost: the results carry neither", "against time: the results carry no time."],
        ),
    ],
)
def test_what_is_missing_is_said(change: dict[str, Any], said: list[str]) -> None:
    shown = text_of(replace(WHOLE, **change)).replace("**", "")
    for words in said:
        assert words in shown
    assert "nan" not in re.sub(r"[a-z]nan|nan[a-z]", "", shown)


def test_runs_of_one_method_are_distinguished_and_one_that_only_answers_has_no_recall() -> None:
    only_answers = [replace(result, passage_ids=(), steps=()) for result in AGENT.results]
    runs = [replace(AGENT, seed=1), replace(AGENT, seed=2), AGENT, AGENT]
    text = text_of(replace(WHOLE, runs=[*runs, Run(method="closed book", results=only_answers)]))
    for label in ("gear, seed 1 (baseline)", "gear, seed 2", "gear #1", "gear #2", "closed book | – | – | –"):
        assert f"| {label} |" in text


def test_a_run_on_other_questions_is_an_error() -> None:
    with pytest.raises(BadInputError, match="119 results for 120 questions"):
        write_report(replace(WHOLE, runs=[replace(WHOLE.runs[0], results=WHOLE.runs[0].results[1:])]))


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


def make_axes() -> Axes:
    return Figure(layout="constrained").subplots()


def rows_of(axes: Axes) -> list[str]:
    return [label.get_text() for label in axes.get_yticklabels()]


def test_cost_is_logarithmic_and_has_a_place_for_nothing() -> None:
    axes, free = make_axes(), make_axes()
    plots.cost_plot(axes, POINTS, "Median time", "R@5 (%)")
    assert axes.get_xscale() == "log"
    drawn = [(float(line.get_xdata()[0]), float(line.get_ydata()[0])) for line in axes.lines]
    assert drawn == [(cost, pytest.approx(100 * value)) for *_, cost, value in POINTS]
    plots.cost_plot(free, [(0, "bm25", 0, 0.4), *POINTS[1:]], "Mean tokens", "R@5 (%)")
    assert free.get_xscale() == "symlog"
    assert free.get_xlim()[0] < 0


def test_plots_show_the_values_they_are_given() -> None:
    differences, steps, boxes, shares = (make_axes() for _ in range(4))
    plots.difference_plot(differences, DIFFERENCES, "points")
    zero, *drawn = [list(map(float, line.get_xdata())) for line in differences.lines]
    assert zero == [0, 0]
    assert drawn == [pytest.approx(values) for values in ([-1, 11], [5], [10, 30], [20])], "in points, with intervals"
    assert rows_of(differences) == ["hybrid", "gear"]

    plots.step_plot(steps, [Series(2, "gear", [50, 60, 65])], Series(1, "hybrid", [55]), "R@15 (%)")
    line, level = steps.lines
    assert (list(line.get_xdata()), list(line.get_ydata())) == ([1, 2, 3], [50, 60, 65])
    assert list(level.get_ydata()) == [55, 55], "the level without steps"

    plots.box_plot(boxes, BOXES, "R@15")
    assert rows_of(boxes) == ["2 hops", "bm25", "hybrid"]
    extents = [box.get_path().get_extents() for box in boxes.patches]
    assert [(box.y0 + box.y1) / 2 for box in extents] == [1, 2]
    assert extents[0].intervalx.tolist() == [25, 75]

    plots.share_plot(shares, SHARES, "Steps", {1: "1", 2: "2", 3: "2+"})
    assert [label.get_text() for label in shares.get_xticklabels()] == ["1", "2", "2+"]
    texts = [(text.get_position(), text.get_text()) for text in shares.texts]
    assert texts == [((1, 1), "50 %"), ((2, 1), "50 %"), ((3, 2), "100 %")]
    assert rows_of(shares) == ["gear", "2 hops", "3 hops"]


def test_an_svg_is_one_element_the_same_every_time_and_shares_no_id_with_another() -> None:
    seen: set[str] = set()
    for number, draw in enumerate(ALL):
        drawing = plots.render_svg(draw, f"Caption {number}", "How to read it.")
        assert etree.QName(etree.fromstring(drawing)).localname == "svg"
        assert f'aria-label="Caption {number}. How to read it."' in drawing
        assert drawing == plots.render_svg(draw, f"Caption {number}", "How to read it.")
        ids = set(re.findall(r' id="([^"]+)"', drawing))
        assert seen.isdisjoint(ids)
        seen |= ids


def test_any_name_may_be_a_methods() -> None:
    labels = ["<b>&", "$x^2$", "_hidden", "two\nlines", "方法" * 30, "a\u0301" * 50]
    rows = [(number, label, DIFFERENCES[0][2]) for number, label in enumerate(labels)]
    points = [(number, label, 1.0 + number, 0.5) for number, label in enumerate(labels)]
    for draw in (
        partial(plots.difference_plot, rows=rows, value_name=""),
        partial(plots.cost_plot, points=points, cost_name="", value_name=""),
    ):
        tree = etree.fromstring(plots.render_svg(draw, labels[0], ""))
        shown = {"".join(text.itertext()).strip("\u200b") for text in tree.iter("{*}text")}
        for label in labels:
            assert any(words.startswith(" ".join(label.split())[:20]) for words in shown), label
