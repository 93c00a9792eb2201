"""`triplebeam tune`: the weight of graph walks in the default search, by your own questions."""

from pathlib import Path
from typing import Annotated

import typer

from triplebeam import assemble
from triplebeam.errors import BadInputError
from triplebeam.evaluate.questions import read_questions
from triplebeam.serve.cli.options import EmbedderName, IndexPlace, Offline
from triplebeam.serve.cli.output import Output
from triplebeam.text.phrases import percent, points, probability


def tune(
    folder: IndexPlace,
    questions: Annotated[
        Path | None, typer.Argument(metavar="QUESTIONS", help="JSON lines (.jsonl or .jsonl.gz) of question and gold.")
    ] = None,
    reset: Annotated[bool, typer.Option("--reset", help="Return to the weight computed from the index.")] = False,
    embedder: EmbedderName = None,
    offline: Offline = False,
) -> None:
    """Choose the weight of graph walks in the default search, using questions with known gold passages.

    By default the weight is computed from the index; `triplebeam status` shows it. A weight chosen here is saved only
    if it is significantly better, and is kept when documents are added.

    Examples:

        triplebeam tune my.index questions.jsonl

        triplebeam tune my.index --reset
    """
    output = Output()
    if reset == (questions is not None):
        raise BadInputError("give a file of questions, or --reset to go by the index's own measure again.")
    index = assemble.open_index(folder, settings=assemble.read_settings(embedder=embedder, offline=offline or None))
    if questions is None:
        assemble.tune_share(folder, None)
        own = index.status.ownership.share
        output.print(f"{folder}: graph walks have weight {own:.2f}, as the index measures it.")
        return
    tuning = assemble.measure_shares(index, read_questions(questions))
    for share, recall in tuning.recall.items():
        note = ", the index's own" if share == tuning.own else ""
        output.print(f"weight {share:.2f}: {percent(recall)} % (mean of R@5 and R@10){note}")
    assemble.tune_share(folder, tuning.chosen)
    checked = f"{points(tuning.difference.mean)} points in the cross-check, {probability(tuning.difference.p_value)}"
    if tuning.chosen is None:
        output.print(
            f"{folder}: graph walks keep the index's own weight {tuning.own:.2f}:"
            f" no other weight is better beyond chance ({checked})."
        )
    else:
        output.print(f"{folder}: graph walks have weight {tuning.chosen:.2f} from now on ({checked}).")
