"""From an evaluation to the document of its report: what applies, in the order a reader asks for it."""

from collections.abc import Iterator

from triplebeam.evaluate.numbers import percent, plural
from triplebeam.evaluate.report.cost import cost_figures, cost_table
from triplebeam.evaluate.report.differences import (
    comparisons,
    difference_figure,
    difference_tables,
    disagreement_table,
)
from triplebeam.evaluate.report.document import Block, Document, Missing, Section
from triplebeam.evaluate.report.results import breakdown_tables, hop_figure, summary_table
from triplebeam.evaluate.report.scores import Scores
from triplebeam.evaluate.report.steps import step_figures
from triplebeam.evaluate.run import Evaluation


def document(evaluation: Evaluation) -> Document:
    """The report of an evaluation, in no format yet."""
    scores = Scores(evaluation)
    parts: dict[str, list[Block | Missing]] = {}
    if evaluation.questions and evaluation.runs:
        parts = {
            "Results": [summary_table(scores)],
            "Differences": [*difference_figure(scores), *difference_tables(scores)],
            "Cost": [cost_table(scores), *cost_figures(scores)],
            "Kinds of questions": [*breakdown_tables(scores), *hop_figure(scores)],
            "Steps of agents": [*step_figures(scores)],
            "Questions to look at": [disagreement_table(scores)],
        }
    shown = {
        heading: tuple(block for block in blocks if not isinstance(block, Missing)) for heading, blocks in parts.items()
    }
    return Document(
        title=evaluation.title,
        facts=tuple(evaluation.facts.items()),
        in_short=tuple(_in_short(scores)),
        sections=tuple(Section(heading, blocks) for heading, blocks in shown.items() if blocks),
        missing=tuple(block for blocks in parts.values() for block in blocks if isinstance(block, Missing)),
    )


def _in_short(scores: Scores) -> Iterator[str]:
    """The conclusion, for a reader in a hurry."""
    questions, runs = scores.evaluation.questions, scores.evaluation.runs
    if not runs or not questions:
        yield f"There is nothing to report: {plural(len(runs), 'method')}, {plural(len(questions), 'question')}."
        return
    yield f"{plural(len(runs), 'method')}, {plural(len(questions), 'question')}."
    leading, best = scores.leading, scores.best
    if leading is None or best is None:
        yield "Nothing could be measured: the methods returned nothing that the questions' gold or answers can check."
        return
    reached = percent(scores.means(leading)[best])
    if len(runs) == 1:
        yield f"{scores.labels[0]} reached {reached} % {leading}."
        return
    yield f"{scores.labels[best]} is best with {reached} % {leading}."
    if best == 0:
        yield "It is the baseline: no other method did better."
    for line in comparisons(scores, leading, 0):
        if line.place == best:
            yield f"Against the baseline, {scores.labels[0]}, that is {line.words}."
    if scores.evaluation.advice:
        yield scores.evaluation.advice
