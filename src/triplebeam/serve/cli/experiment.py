"""`triplebeam experiment`: a comparison written down as a file."""

import json
from pathlib import Path
from typing import Annotated

import typer

from triplebeam.serve.cli.evaluation_display import Again, Limit, ResultsFile
from triplebeam.serve.cli.options import AsJson, Offline


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
    results: ResultsFile = None,
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
    reports: a page (report.html), Markdown, JSON with every question's results, and TREC runs with qrels.

    Examples:

        triplebeam experiment experiments/gear-table-2-no-model.toml --dataset musique

        triplebeam experiment comparison.toml --dry-run

        triplebeam experiment comparison.toml --parallel 32
    """
    from triplebeam.assemble.dry_run import plan
    from triplebeam.assemble.evaluation import Evaluator
    from triplebeam.assemble.method import Method
    from triplebeam.errors import BadInputError, nearest
    from triplebeam.evaluate.experiment import read_experiment
    from triplebeam.evaluate.output import across, summary, write_evaluation
    from triplebeam.evaluate.results_file import add_results
    from triplebeam.serve.cli.dry_run_display import show_plans
    from triplebeam.serve.cli.evaluation_display import draw_evaluation, tell_written
    from triplebeam.serve.cli.progress_display import shown_progress
    from triplebeam.settings import read_settings

    asked = read_experiment(file)
    corpora = {corpus.name: corpus for corpus in asked.corpora()}
    for name in only or ():
        if name not in corpora:
            raise BadInputError(f"{file} has no dataset {name!r}{nearest(name, corpora)}.")
    for name in only or corpora:  # a typo in the last dataset's methods must not cost the first one's questions
        for method in corpora[name].methods:
            Method.parse(method)
    settings = read_settings(offline=offline or None)
    if dry_run:
        evaluator = Evaluator(settings=settings, seeds=asked.seeds, limit=limit or asked.limit)
        planned = {name: plan(evaluator, asked, corpora[name]) for name in only or corpora}
        show_plans(planned, settings.model, as_json=as_json)
        return
    folder = output or file.with_name(f"{file.stem}-results")
    done = {}
    for name in only or corpora:
        with shown_progress() as progress:
            evaluator = Evaluator(
                settings=settings,
                seeds=asked.seeds,
                limit=limit or asked.limit,
                again=again,
                parallel=parallel,
                progress=progress,
            )
            done[name] = evaluator.evaluate(asked, corpora[name])
        written = write_evaluation(folder / name, done[name])
        if results:
            add_results(results, corpora[name].index, name, done[name])
        if not as_json:
            draw_evaluation(done[name])
        tell_written(written)
    if len(done) > 1:
        table = across(list(done.values()), list(done), ("R@5", "R@10", "R@15"))
        (folder / "summary.md").write_text(f"# {asked.title}\n\n{table}", encoding="utf-8")
    if as_json:
        figures = {
            name: {run.method: summary(evaluation, run) for run in evaluation.runs} for name, evaluation in done.items()
        }
        typer.echo(json.dumps({"datasets": figures}, indent=2))
