"""`triplebeam research experiment`: a comparison written down as a file."""

from collections.abc import Mapping, Sequence
from dataclasses import asdict, replace
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from triplebeam.errors import BadInputError, nearest
from triplebeam.serve.cli.options import Again, AsJson, Limit, Offline
from triplebeam.serve.cli.output import Output

if TYPE_CHECKING:
    from triplebeam.assemble.evaluation import Corpus
    from triplebeam_research.experiments.dry_run import Planned
    from triplebeam_research.experiments.experiment import Experiment


def experiment(
    file: Annotated[Path, typer.Argument(metavar="FILE", help="The experiment: a TOML file.", show_default=False)],
    output: Annotated[
        Path | None,
        typer.Option(
            "--out", help="Where the reports go. Default: FILE without its suffix, plus -results.", show_default=False
        ),
    ] = None,
    only: Annotated[
        list[str] | None,
        typer.Option("--dataset", help="Only this dataset of the file; can be repeated.", show_default=False),
    ] = None,
    results: Annotated[
        Path | None,
        typer.Option(
            "--results",
            metavar="FILE",
            help="Also write the figures to this JSON file, one row per method; existing rows are replaced.",
            show_default=False,
        ),
    ] = None,
    limit: Limit = None,
    again: Again = False,
    parallel: Annotated[
        int,
        typer.Option(
            min=1,
            help="Questions asked at once of a method that calls a model; the time of each then includes waiting for"
            " the others.",
        ),
    ] = 1,
    dry_run: Annotated[
        bool,
        typer.Option(
            "--dry-run", help="Only check every name and estimate calls, tokens and cost; no model is called."
        ),
    ] = False,
    as_json: AsJson = False,
    offline: Offline = False,
) -> None:
    """Compare methods as described in a file: title, index, questions, methods, seeds, and any number of datasets.

    Results are saved as they come: stopped and started again, it continues where it was. Each dataset gets a folder of
    reports: a page (report.html), Markdown with its plots, JSON with every question's results, TREC runs with qrels.

    Examples:

        triplebeam research experiment research/experiments/gear-table-2-no-model.toml --dataset musique

        triplebeam research experiment comparison.toml --dry-run

        triplebeam research experiment comparison.toml --parallel 32
    """
    from triplebeam.evaluate.measures import summary
    from triplebeam.serve.cli.bench import draw_evaluation
    from triplebeam.serve.cli.output import shown_progress
    from triplebeam.settings import read_settings
    from triplebeam_research.experiments.dry_run import plan
    from triplebeam_research.experiments.evaluator import ExperimentEvaluator
    from triplebeam_research.experiments.experiment import read_experiment
    from triplebeam_research.experiments.output import add_results, render_across, write_evaluation

    asked = read_experiment(file)
    corpora = _choose_corpora(file, asked, only)
    evaluator = ExperimentEvaluator(
        settings=read_settings(offline=offline or None),
        seeds=asked.seeds,
        limit=limit or asked.limit,
        again=again,
        parallel=parallel,
    )
    if dry_run:
        planned = {corpus.name: plan(evaluator, asked, corpus) for corpus in corpora}
        show_plans(planned, evaluator.settings.model, as_json=as_json)
        return
    folder = output or file.with_name(f"{file.stem}-results")
    done = {}
    for corpus in corpora:
        with shown_progress() as progress:
            done[corpus.name] = evaluation = replace(evaluator, progress=progress).compare(asked, corpus)
        written = write_evaluation(folder / corpus.name, evaluation)
        if results:
            add_results(results, corpus.index.state, corpus.name, evaluation)
        if not as_json:
            draw_evaluation(evaluation)
        tell_written(written)
    if len(done) > 1:
        table = render_across(list(done.values()), list(done), ("R@5", "R@10", "R@15"))
        (folder / "summary.md").write_text(f"# {asked.title}\n\n{table}", encoding="utf-8")
    if as_json:
        figures = {name: {run.method: summary(each, run) for run in each.runs} for name, each in done.items()}
        Output().json({"datasets": figures})


def tell_written(pages: Sequence[Path]) -> None:
    """Report where the results were written, on stderr."""
    Output().note(f"Written: {', '.join(map(str, pages))}", style="dim")


def _choose_corpora(file: Path, asked: "Experiment", only: list[str] | None) -> "list[Corpus]":
    """Choose the datasets to compare on. A typo in the last one's methods must not cost the first one's questions."""
    from triplebeam.assemble.method import Method

    corpora = {corpus.name: corpus for corpus in asked.corpora()}
    for name in only or ():
        if name not in corpora:
            raise BadInputError(f"{file} has no dataset {name!r}{nearest(name, corpora)}.")
    chosen = [corpora[name] for name in dict.fromkeys(only or corpora)]
    for corpus in chosen:
        for method in corpus.methods:
            Method.parse(method)
    return chosen


def show_plans(planned: Mapping[str, "Sequence[Planned]"], model: str | None, *, as_json: bool) -> None:
    """Show a table per dataset, or JSON of everything."""
    if as_json:
        rows = {name: [asdict(each) for each in methods] for name, methods in planned.items()}
        Output().json({"model": model, "datasets": rows})
        return
    output = Output()
    for name, methods in planned.items():
        output.table(name, ("method", "questions", "seeds", "calls", "tokens", "$"), map(_cells, methods))
    output.print(_total(planned, model))


def _cells(each: "Planned") -> list[str]:
    calls = _range(each.least.calls, each.most.calls)
    tokens = _range(each.least.all_tokens, each.most.all_tokens)
    dollars = "{:,.2f} to {:,.2f}".format(*each.dollars) if each.dollars else "–"
    return [each.method.replace("[", "\\["), f"{each.questions:,}", str(each.seeds), calls, tokens, dollars]


def _range(low: int, high: int) -> str:
    return f"{low:,}" if low == high else f"{low:,} to {high:,}"


def _total(planned: Mapping[str, "Sequence[Planned]"], model: str | None) -> str:
    every = [each for methods in planned.values() for each in methods]
    calls = _range(sum(each.least.calls for each in every), sum(each.most.calls for each in every))
    if not any(each.most.calls for each in every):
        return "No model is called."
    priced = [each.dollars for each in every if each.dollars]
    cost = f"${sum(low for low, _ in priced):,.2f} to ${sum(high for _, high in priced):,.2f}"
    price = cost if priced else "at a price that is not known: set prices in triplebeam.toml"
    return (
        f"In all {calls} calls of {model or 'a model (none is configured)'}, {price}. The least is if every agent stops"
        " as soon as it may, the most if none does. Tokens are estimates; replies that are kept already cost nothing."
    )
