"""`triplebeam index`: documents in."""

from pathlib import Path
from typing import Annotated

import typer

from triplebeam.errors import BadInputError
from triplebeam.serve.cli.options import EmbedderName, IndexFolder, Offline


def index(
    folder: IndexFolder,
    sources: Annotated[
        list[Path] | None,
        typer.Argument(
            metavar="SOURCE…",
            help="Folders (searched through), files of txt, md, html, pdf, docx, JSON lines (.jsonl, .jsonl.gz),"
            " BEIR folders.",
            show_default=False,
        ),
    ] = None,
    extractor: Annotated[
        str | None,
        typer.Option(
            help="Where triples come from: local (default, no key), llm, llm-two-step, none.", show_default=False
        ),
    ] = None,
    triples: Annotated[
        Path | None,
        typer.Option(
            metavar="FILE",
            help='Triples you have already: JSON lines of {"passage_id", "triples": [[s, p, o], …]}, plain or gzipped.',
            show_default=False,
        ),
    ] = None,
    keywords: Annotated[
        bool,
        typer.Option(
            "--keywords",
            help="Also ask the model for each passage's keywords, for gnn_ret. Default: the entities of its triples.",
        ),
    ] = False,
    passage_tokens: Annotated[int, typer.Option(min=20, help="Largest number of tokens in a passage.")] = 200,
    split: Annotated[bool, typer.Option("--split", help="Also split JSON lines and BEIR rows into passages.")] = False,
    retry_failed: Annotated[
        bool,
        typer.Option(
            "--retry-failed",
            help="Retry every passage whose extraction failed; uses the LLM unless --extractor says otherwise.",
        ),
    ] = False,
    max_failures: Annotated[
        float | None,
        typer.Option(
            min=0.0,
            max=1.0,
            help="Stop when a larger share of extractions fails. Default: 0.05, with --retry-failed 0.5.",
            show_default=False,
        ),
    ] = None,
    budget: Annotated[
        float | None,
        typer.Option(
            metavar="USD",
            min=0.0,
            help="With --extractor llm: stop before the cost exceeds this; the next run continues.",
            show_default=False,
        ),
    ] = None,
    embedder: EmbedderName = None,
    offline: Offline = False,
) -> None:
    """Index documents, or add and update them. If it is stopped, run it again to continue where it left off.

    Examples:

        triplebeam index my.index docs/

        triplebeam index my.index corpus.jsonl.gz --triples triples.jsonl.gz

        triplebeam index my.index report.pdf --extractor none

        triplebeam index my.index docs/ --extractor llm --budget 5.00

        triplebeam index my.index --retry-failed
    """
    chosen = extractor or ("llm" if retry_failed else "local")
    paid = keywords or (chosen.startswith("llm") and triples is None)
    _check(sources, extractor, triples, retry_failed, budget, paid)
    from triplebeam.assemble.indexing import dollar_budget, index_builder
    from triplebeam.generate.accounting import account
    from triplebeam.ingest import read_sources
    from triplebeam.serve.cli.build_report import tell, tell_cost, tell_of_doubts, tell_of_unknown_passages
    from triplebeam.serve.cli.display import progress_bars
    from triplebeam.settings import read_settings

    settings = read_settings(embedder=embedder, offline=offline or None)
    documents = read_sources(sources or [])
    with progress_bars() as progress, account() as bill:
        builder = index_builder(
            folder,
            settings,
            extractor=chosen,
            triples=triples,
            keywords=keywords,
            passage_tokens=passage_tokens,
            split=split,
            again=retry_failed,
            max_failures=max_failures,
            budget=None if budget is None else dollar_budget(budget, settings, bill),
            progress=progress,
        )
        try:
            report = builder.retry_failed() if retry_failed else builder.build(documents)
        finally:  # what was paid is printed however the run ends
            if paid:
                tell_cost(settings, bill)
    tell(folder, report)
    if paid:
        tell_of_doubts(report, budget)
    if triples:
        tell_of_unknown_passages(folder, triples)
    if report.unreadable or report.failures:
        raise typer.Exit(1)


def _check(
    sources: list[Path] | None,
    extractor: str | None,
    triples: Path | None,
    retry_failed: bool,
    budget: float | None,
    paid: bool,
) -> None:
    """Refuse what cannot be meant, before anything is done."""
    if extractor and triples:
        raise BadInputError("--extractor and --triples both say where triples come from: give only one of them.")
    if retry_failed and sources:
        raise BadInputError(
            "--retry-failed retries what failed in the whole index and reads no SOURCE: leave one of them out."
        )
    if not retry_failed and not sources:
        raise BadInputError("there is no SOURCE: name files or folders to index, or --retry-failed.")
    if budget is not None and not paid:
        raise BadInputError(
            "--budget is for extractors that call a model (llm, llm-two-step, --keywords): the others cost nothing."
        )
