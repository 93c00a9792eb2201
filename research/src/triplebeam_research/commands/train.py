"""`triplebeam research train`: the weights of GNN-Ret and RGNN-Ret, learned from questions with gold passages."""

from collections.abc import Sequence
from dataclasses import asdict, replace
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, get_args

import typer

from triplebeam.errors import BadInputError
from triplebeam.serve.cli.options import AsJson, EmbedderName, IndexPlace, Offline
from triplebeam.serve.cli.output import Output
from triplebeam.text.phrases import format_count

if TYPE_CHECKING:
    from triplebeam.methods.gnn_ret.weights import TrainingSettings, Weights
    from triplebeam_research.training.trainer import Compared, Fold

_COMPARED: "tuple[Compared, ...]" = ("base", "untrained", "trained")


def train(
    method: Annotated[str, typer.Argument(metavar="METHOD", help="gnn_ret or rgnn_ret.", show_default=False)],
    folder: IndexPlace,
    questions: Annotated[
        Path,
        typer.Argument(
            metavar="QUESTIONS",
            help="JSON lines (.jsonl or .jsonl.gz) of id, question and gold; for rgnn_ret also decomposition.",
            show_default=False,
        ),
    ],
    output: Annotated[
        Path | None, typer.Option("--out", help="The weights, as JSON. Required without --folds.", show_default=False)
    ] = None,
    force: Annotated[bool, typer.Option("--force", help="Overwrite an existing file.")] = False,
    base: Annotated[str, typer.Option(help="The base of distances: dense, scaled_hybrid or bm25.")] = "dense",
    layers: Annotated[int, typer.Option(min=1, help="Layers of message passing.")] = 1,
    relevant: Annotated[int, typer.Option(min=1, help="K: passages that send messages.")] = 5,
    competitors: Annotated[
        int | None,
        typer.Option(
            min=1,
            help="O: the nearest passages that gold ones have to beat. Default: the paper's, 25 or for rgnn_ret 10.",
            show_default=False,
        ),
    ] = None,
    message: Annotated[str, typer.Option(help="min or mean.")] = "min",
    edges: Annotated[str, typer.Option(help="both (the paper's), structural, keyword, links or all.")] = "both",
    gradient: Annotated[str, typer.Option(help="exact, or printed: the paper's, which are not exact.")] = "exact",
    labels: Annotated[
        str | None,
        typer.Option(
            help="For rgnn_ret, the gold passages a step should find: current_and_later, current or all. Default:"
            " current_and_later, as in the paper.",
            show_default=False,
        ),
    ] = None,
    limit: Annotated[
        int | None, typer.Option(min=1, help="Train on the first N questions only.", show_default=False)
    ] = None,
    folds: Annotated[
        int | None,
        typer.Option(min=2, help="Measure: train on all folds but one, test on that one.", show_default=False),
    ] = None,
    as_json: AsJson = False,
    embedder: EmbedderName = None,
    offline: Offline = False,
) -> None:
    """Train GNN-Ret's weights: how much a passage's score depends on its neighbours and on earlier steps.

    No language model is called. Twenty questions are enough. With --folds nothing is written unless --out is given too.

    Examples:

        triplebeam research train gnn_ret my.index questions.jsonl --out weights.json --limit 20

        triplebeam search my.index "…" --method "dense+gnn_ret[weights=weights.json]"

        triplebeam research train gnn_ret my.index questions.jsonl --folds 5 --layers 2
    """
    from triplebeam.assemble import open_index
    from triplebeam.serve.cli.output import shown_progress
    from triplebeam.settings import read_settings
    from triplebeam_research.training.trainer import Trainer, write_weights

    training = _settings(method, layers, relevant, competitors, message, edges, gradient, labels)
    _check_destination(output, force, folds)
    settings = read_settings(embedder=embedder, offline=offline or None)
    with shown_progress() as progress:
        index = open_index(folder, settings=settings, progress=progress)
        trainer = Trainer(index=index, settings=training, base=base, progress=progress)
        examples = trainer.examples(questions, None if folds else limit)
        measured = trainer.cross_validate(examples, folds, limit) if folds else []
        weights = trainer.weights(examples[:limit], questions) if output else None
    if output and weights:
        write_weights(output, weights)
    if as_json:
        Output().json(_make_json(output, weights, measured))
        return
    if measured:
        _draw_folds(base, measured)
    if output and weights:
        _draw_weights(output, weights)


def _settings(
    method: str,
    layers: int,
    relevant: int,
    competitors: int | None,
    message: str,
    edges: str,
    gradient: str,
    labels: str | None,
) -> "TrainingSettings":
    from triplebeam.assemble.expansions import EDGES
    from triplebeam.assemble.table import choice
    from triplebeam.methods.gnn_ret.propagate import Message
    from triplebeam.methods.gnn_ret.weights import Gradient, Targets
    from triplebeam_research.training.trainer import METHODS

    start = METHODS[choice("METHOD", method, METHODS)]
    targets = choice("--labels", labels, get_args(Targets)) if labels else start.targets
    if start.beta is None and targets != "all":
        raise BadInputError(f"gnn_ret has one step, which has to find all gold passages: leave out --labels {labels}.")
    return replace(
        start,
        alpha=start.alpha * layers,
        relevant=relevant,
        competitors=competitors or start.competitors,
        message=choice("--message", message, get_args(Message)),
        edges=EDGES[choice("--edges", edges, EDGES)],
        gradient=choice("--gradient", gradient, get_args(Gradient)),
        targets=targets,
    )


def _check_destination(output: Path | None, force: bool, folds: int | None) -> None:
    """Check the destination before the training, not after it."""
    if output is None:
        if not folds:
            raise BadInputError("there is nowhere to put the weights: name a file with --out, or measure with --folds.")
    elif output.is_dir():
        raise BadInputError(f"{output} is a folder: name a file for the weights, such as {output / 'weights.json'}.")
    elif output.exists() and not force:
        raise BadInputError(f"{output} exists: name another file, or overwrite it with --force.")
    elif not output.parent.is_dir():
        raise BadInputError(f"{output} cannot be written, because there is no folder {output.parent}: create it first.")


def _make_json(output: Path | None, weights: "Weights | None", folds: "Sequence[Fold]") -> dict[str, object]:
    from triplebeam_research.training.trainer import DEPTHS, average_recall

    found: dict[str, object] = {}
    if output and weights:
        found |= {"file": str(output), **weights.model_dump(mode="json")}
    if folds:
        measures = [f"R@{depth}" for depth in DEPTHS]
        found["recall"] = {who: dict(zip(measures, average_recall(folds, who), strict=True)) for who in _COMPARED}
        found["folds"] = [asdict(fold) for fold in folds]
    return found


def _draw_folds(base: str, folds: "Sequence[Fold]") -> None:
    from triplebeam_research.training.trainer import DEPTHS, average_recall

    console = Output().console
    held = sum(fold.held for fold in folds)
    console.print(f"Recall on {held:,} questions, each held out of the training it is measured with:", markup=False)
    console.print(f"{'':>13}" + "".join(f"{f'R@{depth}':>8}" for depth in DEPTHS), style="dim")
    for who in _COMPARED:
        recall = "".join(f"{100 * value:>8.1f}" for value in average_recall(folds, who))
        console.print(f"{base if who == 'base' else who:>13}{recall}", markup=False)
    for number, fold in enumerate(folds, start=1):
        learned = _format_weights(fold.result.alpha, fold.result.beta)
        console.print(f"fold {number}: {learned}, {fold.result.ending}", style="dim", markup=False)


def _draw_weights(output: Path, weights: "Weights") -> None:
    console, source = Output().console, weights.trained_on
    console.print(
        f"{weights.method} over {source.base}: {_format_weights(weights.alpha, weights.beta)} from"
        f" {format_count(source.question_count, 'question')}; loss {weights.loss:.4f}"
        f" after {format_count(weights.steps, 'step')}: {weights.ending}.",
        markup=False,
    )
    agent = "" if weights.method == "gnn_ret" else "rgnn_ret:"
    use = f'--method "{agent}{source.base}+gnn_ret[weights={output}]"'
    console.print(f"Written: {output}, for {use}.", style="dim", markup=False)


def _format_weights(alpha: Sequence[float], beta: float | None) -> str:
    layers = ", ".join(f"{value:.3f}" for value in alpha)
    return f"alpha {layers}" + ("" if beta is None else f", beta {beta:.3f}")
