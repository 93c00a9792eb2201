"""The report of an evaluation: what applies, in the order a reader asks for it.

It is Markdown with its plots beside it. The page is the same text as one HTML file: style and plots are inside it, it
has no script and fetches nothing.
"""

import html
import re
from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass, field
from functools import cached_property, partial
from importlib import resources
from string import Template

from markdown_it import MarkdownIt

from triplebeam.evaluate.run import Evaluation
from triplebeam.text.phrases import format_count, percent
from triplebeam_research.report import plots
from triplebeam_research.report.differences import comparisons, difference_figure, difference_tables, disagreement_table
from triplebeam_research.report.results import breakdown_tables, cost_figures, cost_table, hop_figure, summary_table
from triplebeam_research.report.steps import step_figures
from triplebeam_research.report.tables import Block, Missing, Scores, escape_markdown, format_table

_IMAGE = re.compile(r'<img src="([^"]+)"[^>]*>')


@dataclass(frozen=True)
class Report:
    """A report as Markdown; ``figures`` are the plots that it shows, by the names of their files."""

    title: str
    text: str
    figures: Mapping[str, Callable[[], str]] = field(compare=False)

    @cached_property
    def plots(self) -> dict[str, str]:
        """The SVG of each figure."""
        return {name: draw() for name, draw in self.figures.items()}

    def page(self) -> str:
        """Render the text as a page with its plots in it, in the page's own colours."""
        body = MarkdownIt("commonmark", {"html": False}).enable("table").render(self.text)
        body = body.replace("<table>", '<div class="scroll" tabindex="0"><table>').replace("</table>", "</table></div>")
        body = _IMAGE.sub(lambda image: plots.follow_page(self.plots[image[1]]), body)
        template = Template(resources.files(__package__).joinpath("report.html").read_text(encoding="utf-8"))
        return template.substitute(title=html.escape(self.title), body=body)


def write_report(evaluation: Evaluation) -> Report:
    """Write all tables and figures that apply, and list those that do not."""
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
    figures: dict[str, Callable[[], str]] = {}
    text = [f"# {escape_markdown(evaluation.title)}", escape_markdown(" ".join(_summarize(scores)))]
    if evaluation.facts:
        text.append("\n".join(f"- {_format_named(*fact)}" for fact in evaluation.facts.items()))
    for heading, blocks in parts.items():
        shown = [block for block in blocks if not isinstance(block, Missing)]
        text += [f"## {heading}"] * bool(shown) + [_format_block(block, figures) for block in shown]
    if missing := [block for blocks in parts.values() for block in blocks if isinstance(block, Missing)]:
        text += ["## Not shown", "\n".join(f"- {_format_named(each.what, each.why)}" for each in missing)]
    return Report(evaluation.title, "\n\n".join(part.strip() for part in text) + "\n", figures)


def _format_named(name: str, value: str) -> str:
    return f"**{escape_markdown(name)}**: {escape_markdown(value)}"


def _format_block(block: Block, figures: dict[str, Callable[[], str]]) -> str:
    """Format a block; where it has a plot, it joins the figures."""
    parts = [f"### {escape_markdown(block.caption)}"]
    if block.draw:
        name = f"figure-{len(figures) + 1}.svg"
        figures[name] = partial(plots.render_svg, block.draw, block.caption, block.reading)
        parts.append(f"![{escape_markdown(block.caption)}]({name})")
    parts.append(escape_markdown(block.reading))
    if block.columns:
        parts.append(format_table(block.columns, block.rows))
    return "\n\n".join(parts)


def _summarize(scores: Scores) -> Iterator[str]:
    """Yield the conclusion, for a reader in a hurry."""
    questions, runs = scores.evaluation.questions, scores.evaluation.runs
    counts = f"{format_count(len(runs), 'method')}, {format_count(len(questions), 'question')}."
    if not runs or not questions:
        yield f"There is nothing to report: {counts}"
        return
    yield counts
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
