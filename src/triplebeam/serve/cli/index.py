"""`triplebeam index`: documents in."""

from collections.abc import Iterable, Iterator, Sequence
from pathlib import Path
from typing import Annotated

import typer

from triplebeam import assemble
from triplebeam.assemble.models import choose
from triplebeam.errors import BadInputError
from triplebeam.generate.accounting import account
from triplebeam.index.build.report import BuildReport
from triplebeam.index.location import Location
from triplebeam.ingest import Reading, Scan, Skipped, Unreadable, read_sources, scan_sources
from triplebeam.serve.cli.build_report import (
    tell,
    tell_cost,
    tell_of_doubts,
    tell_of_exit_code,
    tell_of_unknown_passages,
)
from triplebeam.serve.cli.index_dry_run import dry_run as preview
from triplebeam.serve.cli.options import (
    EmbedderName,
    ExtractorName,
    FollowLinks,
    IndexPlace,
    Keywords,
    Offline,
    PassageTokens,
    Split,
    TextEncoding,
    TriplesPath,
)
from triplebeam.serve.cli.output import Output
from triplebeam.serve.cli.progress_display import shown_progress
from triplebeam.text.phrases import format_count

_SOURCES = (
    "Folders (searched recursively) and files: text, Markdown, HTML, reStructuredText, AsciiDoc, PDF, Word, PowerPoint,"
    " Excel, OpenDocument, RTF, EPUB, CSV, JSON, JSON lines, XML, YAML, TOML, notebooks, mail, manual pages, source"
    " code; text may be gzipped. Also BEIR folders."
)


def index(
    folder: IndexPlace,
    sources: Annotated[
        list[Path] | None,
        typer.Argument(metavar="SOURCE…", help=_SOURCES, show_default=False),
    ] = None,
    extractor: ExtractorName = None,
    triples: TriplesPath = None,
    replace_triples: Annotated[
        bool,
        typer.Option(
            "--replace-triples",
            help="With --extractor: also replace triples that were given, or extracted by a language model.",
        ),
    ] = False,
    keywords: Keywords = False,
    passage_tokens: PassageTokens = 200,
    split: Split = False,
    encoding: TextEncoding = None,
    follow_links: FollowLinks = False,
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
    dry_run: Annotated[
        bool,
        typer.Option(
            "--dry-run",
            help="Count passages and characters, and with --extractor llm estimate tokens and price from 20 passages;"
            " nothing is indexed.",
        ),
    ] = False,
    embedder: EmbedderName = None,
    offline: Offline = False,
    quiet: Annotated[bool, typer.Option("--quiet", "-q", help="Print errors and the result only.")] = False,
    verbose: Annotated[
        bool, typer.Option("--verbose", "-v", help="Name each file as it is read, and each that is skipped.")
    ] = False,
) -> None:
    """Index documents, or add and update them. If it is stopped, run it again to continue where it left off.

    Examples:

        triplebeam index my.index docs/

        triplebeam index my.index corpus.jsonl.gz --triples triples.jsonl.gz

        triplebeam index my.index report.pdf --extractor none

        triplebeam index my.index docs/ --extractor llm --budget 5.00

        triplebeam index my.index docs/ --extractor llm --dry-run

        triplebeam index my.index --retry-failed
    """
    _check(sources, extractor, triples, retry_failed, replace_triples, quiet and verbose, dry_run)
    choice = choose(folder.state, extractor, triples=triples, keywords=keywords, again=retry_failed)
    paid = choice.is_paid
    _check_budget(budget, paid)
    settings = assemble.read_settings(embedder=embedder, offline=offline or None)
    names = assemble.source_names(folder.state, sources or [])
    documents = read_sources(sources or [], encoding, names, follow_links=follow_links)
    if dry_run:
        preview(folder, documents, choice, settings, passage_tokens, split)
        return
    expected = _scan(sources, quiet, follow_links) if sources else 0
    with shown_progress(quiet) as progress, account() as bill:
        builder = assemble.index_builder(
            folder,
            settings,
            extractor=extractor,
            triples=triples,
            keywords=keywords,
            replace_triples=replace_triples,
            passage_tokens=passage_tokens,
            split=split,
            again=retry_failed,
            max_failures=max_failures,
            budget=None if budget is None else assemble.dollar_budget(budget, settings, bill),
            names=names,
            progress=progress,
        )
        try:
            if retry_failed:
                report = builder.retry_failed()
            else:
                report = builder.build(_name_each(documents) if verbose else documents, expected)
        finally:  # what was paid is printed however the run ends
            if paid:
                tell_cost(settings, bill)
    _tell(folder, report, triples, budget, paid=paid, quiet=quiet or verbose)  # --verbose has named each file already


def _check(
    sources: list[Path] | None,
    extractor: str | None,
    triples: Path | None,
    retry_failed: bool,
    replace_triples: bool,
    quiet_and_verbose: bool,
    dry_run: bool,
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
    if dry_run and retry_failed:
        raise BadInputError("--dry-run estimates the cost of a SOURCE and --retry-failed reads none: give only one.")
    if replace_triples and not extractor:
        raise BadInputError("--replace-triples says nothing about what replaces them: name an --extractor.")
    if quiet_and_verbose:
        raise BadInputError("--quiet and --verbose contradict each other: give only one of them.")


def _check_budget(budget: float | None, paid: bool) -> None:
    if budget is not None and not paid:
        raise BadInputError(
            "--budget is for extractors that call a model (llm, llm-two-step, --keywords): the others cost nothing."
        )


def _tell(
    folder: Location, report: BuildReport, triples: Path | None, budget: float | None, *, paid: bool, quiet: bool
) -> None:
    """Say what was done; the exit code is 1 where something was left out."""
    tell(folder, report, quiet=quiet)
    if paid:
        tell_of_doubts(report, budget)
    if triples:
        tell_of_unknown_passages(folder, triples)
    if report.unreadable or report.failures:
        tell_of_exit_code(report)
        raise typer.Exit(1)


def _scan(sources: Sequence[Path], quiet: bool, follow_links: bool = False) -> int:
    """Say what will be read and what is skipped; returns how many documents to expect, 0 where that is not known."""
    scan = scan_sources(sources, follow_links=follow_links)
    if not quiet:
        _tell_scan(scan)
    # A file of JSON lines, a table or a box of mail holds any number of documents, any other file is one.
    holds_many = any(ending.startswith((".jsonl", ".csv", ".tsv", ".mbox")) for ending in scan.read)
    return 0 if holds_many else sum(scan.read.values())


def _tell_scan(scan: Scan) -> None:
    output, skipped = Output(), sum(scan.skipped.values())
    reading = f"Reading {format_count(sum(scan.read.values()), 'file')}"
    output.note(
        f"{reading}; skipping {format_count(skipped, 'file')} of other kinds:" if skipped else f"{reading}.",
        style="dim",
    )
    for line in scan.describe_skipped():
        output.note(f"  {line}", style="dim")
    for line in scan.describe_missing_extras():
        output.warn(line)


def _name_each(readings: Iterable[Reading]) -> Iterator[Reading]:
    """The same readings; each is named as it is read."""
    output = Output()
    for reading in readings:
        match reading:
            case Skipped():
                output.note(f"skipped: {reading}", style="dim")
            case Unreadable():
                output.warn(f"not read: {reading}")
            case _:
                output.note(f"read: {reading.id} ({len(reading.text):,} characters)", style="dim")
        yield reading
