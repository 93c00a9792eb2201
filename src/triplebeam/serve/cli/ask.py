"""`triplebeam ask`: an answer, with its steps and its evidence."""

from enum import StrEnum
from typing import Annotated

import typer

from triplebeam import assemble
from triplebeam.errors import EndpointError, ModelMissingError, check_question
from triplebeam.explain.explanation import find_stemmers
from triplebeam.serve.answer_shapes import (
    MODEL_FAILED_EXIT_CODE,
    add_passages,
    answer_json,
    make_failed_answer,
    price_of_answer,
)
from triplebeam.serve.cli.display import draw_answer, take_steps
from triplebeam.serve.cli.options import (
    AsJson,
    EmbedderName,
    IndexPlace,
    Offline,
    Question,
    WhereText,
    complete_ask_method,
)
from triplebeam.serve.cli.output import Output
from triplebeam.serve.cli.search import show_passages
from triplebeam.text.characters import replace_control_characters


class Effort(StrEnum):
    """How much to spend on an answer."""

    none = "none"
    low = "low"
    high = "high"
    auto = "auto"


_METHODS = {Effort.low: "single_step", Effort.high: "agent", Effort.auto: "auto"}


def ask(
    folder: IndexPlace,
    words: Question,
    effort: Annotated[
        Effort,
        typer.Option(
            help="none: passages and chains, no model calls; JSON as from `triplebeam search`. low: one step,"
            " two calls. high: the agent, step by step."
            " auto: low first, and high only if that finds no answer."
        ),
    ] = Effort.auto,
    method: Annotated[
        str | None,
        typer.Option(
            "--method",
            "-m",
            help="Use this agent instead, such as agent[max_steps=2]:hybrid, gear, rgnn_ret or ge_reasoning;"
            " docs/methods/index.md lists them.",
            autocompletion=complete_ask_method,
        ),
    ] = None,
    k: Annotated[int, typer.Option("-k", min=1, help="Number of passages to show.")] = 5,
    where: WhereText = None,
    as_json: AsJson = False,
    no_cache: Annotated[
        bool,
        typer.Option("--no-cache", metavar="", help="Ignore cached model replies, and cache the new ones."),
    ] = False,
    embedder: EmbedderName = None,
    offline: Offline = False,
) -> None:
    """Answer a question: show each step as it happens, then the answer and its evidence.

    The model is any OpenAI-compatible endpoint: TRIPLEBEAM_MODEL, TRIPLEBEAM_BASE_URL, TRIPLEBEAM_API_KEY. If it
    fails, the reason goes to stderr, the passages of a search to stdout, and the exit code is 3.

    Examples:

        triplebeam ask my.index "When did the director of Laughter in Hell die?"

        triplebeam ask my.index "…" --effort none

        triplebeam ask my.index "…" --where 'year >= 2020 and source in ("a", "b")'

        triplebeam ask my.index "…" --json > answer.json
    """
    question = " ".join(words)
    check_question(question)
    settings = assemble.read_settings(embedder=embedder, offline=offline or None, no_cache=no_cache or None)
    opened = assemble.open_index(folder, settings=settings)
    index = opened if where is None else opened.filter(where)
    if effort is Effort.none or not (settings.model or method):
        if effort is not Effort.none and as_json:  # a program expects an answer, or an error
            raise ModelMissingError(
                f"no language model is configured, so there is no answer: {assemble.HOW_TO_CONFIGURE}; or add"
                " --effort none for the JSON of `triplebeam search`."
            )
        if effort is not Effort.none:
            Output().warn(
                f"No language model is configured, so here are the passages and the chains that lead to them. For an"
                f" answer, {assemble.HOW_TO_CONFIGURE}; then ask again."
            )
        show_passages(index, index.search(question, k=k), explain=True, as_json=as_json)
        return
    run = index.agent(method or _METHODS[effort]).run(question)
    try:
        answer = add_passages(index, take_steps(run, None if as_json else Output().console, index.passages))
    except EndpointError as error:
        answer = make_failed_answer(index, question, str(error))
    dollars = price_of_answer(answer, index)
    known = find_stemmers(assemble.context_of(index).source, answer.ranking.ids)
    if as_json:
        written = answer_json(answer, index.passages, stemmers=known, price=dollars)
        Output().json(written)
    else:
        draw_answer(Output().console, answer, index.passages, k, dollars, known)
    if answer.failure:
        typer.echo(f"triplebeam: {replace_control_characters(answer.failure)}", err=True)
        raise typer.Exit(MODEL_FAILED_EXIT_CODE)
