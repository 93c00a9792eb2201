"""`triplebeam index`: documents in; with `--dry-run`, what extraction by a model will cost."""

from collections.abc import Iterable, Iterator, Sequence
from pathlib import Path
from typing import Annotated

import typer

from triplebeam import assemble
from triplebeam.assemble.models import Choice, choose, make_chosen
from triplebeam.errors import BadInputError
from triplebeam.extract.llm import LLMExtractor
from triplebeam.extract.quote import Sample, draw_sample, extract_sample
from triplebeam.generate.accounting import account, find_price
from triplebeam.index.location import Location
from triplebeam.ingest import Reading, Skipped, Unreadable, read_sources, scan_sources
from triplebeam.ingest.split import split as split_document
from triplebeam.passage import Document, Passage
from triplebeam.serve.cli.build_report import tell, tell_cost, tell_of_doubts
from triplebeam.serve.cli.options import EmbedderName, FollowLinks, IndexPlace, Offline, complete_extractor
from triplebeam.serve.cli.output import Output, shown_progress
from triplebeam.text.phrases import format_count

_SOURCES = (
    "Folders (searched recursively) and files: text, Markdown, HTML, reStructuredText, AsciiDoc, PDF, Word, PowerPoint,"
    " Excel, OpenDocument, RTF, EPUB, CSV, JSON, JSON lines, XML, YAML, TOML, notebooks, mail, manual pages, source"
    " code; text may be gzipped. Also BEIR folders."
)
_SAMPLED_PASSAGES = 20


def index(
    folder: IndexPlace,
    sources: Annotated[list[Path] | None, typer.Argument(metavar="SOURCE…", help=_SOURCES)] = None,
    extractor: Annotated[
        str | None,
        typer.Option(
            help="Extractor of triples: local (no key), llm, llm-two-step (needs triplebeam-research), none. Default:"
            " the extractor that the index was built with; local for a new index.",
            autocompletion=complete_extractor,
        ),
    ] = None,
    triples: Annotated[
        Path | None,
        typer.Option(
            metavar="FILE",
            help='Existing triples: JSON lines of {"passage_id", "triples": [[s, p, o], …]}, plain or gzipped.',
        ),
    ] = None,
    replace_triples: Annotated[
        bool,
        typer.Option(
            "--replace-triples",
            help="With --extractor: also replace triples given with --triples or extracted by a language model.",
        ),
    ] = False,
    keywords: Annotated[
        bool,
        typer.Option(
            "--keywords",
            help="Ask the model for keywords, for gnn_ret (needs triplebeam-research). Default: entities of triples.",
        ),
    ] = False,
    passage_tokens: Annotated[int, typer.Option(min=20, help="Maximum number of tokens per passage.")] = 200,
    split: Annotated[bool, typer.Option("--split", help="Also split JSON lines and BEIR rows into passages.")] = False,
    encoding: Annotated[
        str | None,
        typer.Option(metavar="NAME", help="Encoding of text files, such as latin-1. Default: detected per file."),
    ] = None,
    follow_links: FollowLinks = False,
    retry_failed: Annotated[
        bool,
        typer.Option(
            "--retry-failed",
            help="Retry all failed extractions; uses the LLM unless --extractor says otherwise.",
        ),
    ] = False,
    max_failures: Annotated[
        float | None,
        typer.Option(
            min=0.0,
            max=1.0,
            help="Stop if a larger share of extractions fails. Default: 0.05; with --retry-failed, 0.5.",
        ),
    ] = None,
    budget: Annotated[
        float | None,
        typer.Option(
            metavar="USD",
            min=0.0,
            help="With --extractor llm: stop before the cost exceeds this; the next run continues.",
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
    quiet: Annotated[bool, typer.Option("--quiet", "-q", help="Print only errors and the result.")] = False,
    verbose: Annotated[
        bool, typer.Option("--verbose", "-v", help="Print the name of each file read or skipped.")
    ] = False,
) -> None:
    """Index documents: add new ones and update changed ones. Run it again to continue after an interruption.

    Examples:

        triplebeam index my.index docs/

        triplebeam index my.index corpus.jsonl.gz --triples triples.jsonl.gz

        triplebeam index my.index report.pdf --extractor none

        triplebeam index my.index docs/ --extractor llm --budget 5.00

        triplebeam index my.index docs/ --extractor llm --dry-run

        triplebeam index my.index --retry-failed
    """
    refused = {
        "--extractor and --triples both say where triples come from: give only one of them.": extractor and triples,
        "--retry-failed retries what failed in the whole index and reads no SOURCE: leave one of them out.": (
            retry_failed and sources
        ),
        "there is no SOURCE: name the index, then files or folders, as in `triplebeam index my.index docs/`, or"
        " --retry-failed.": not (retry_failed or sources),
        "--dry-run estimates the cost of a SOURCE and --retry-failed reads none: give only one.": (
            dry_run and retry_failed
        ),
        "--replace-triples says nothing about what replaces them: name an --extractor.": (
            replace_triples and not extractor
        ),
        "--quiet and --verbose contradict each other: give only one of them.": quiet and verbose,
    }
    if message := next((message for message, is_asked in refused.items() if is_asked), None):
        raise BadInputError(message)
    choice = choose(folder.state, extractor, triples=triples, keywords=keywords, again=retry_failed)
    if budget is not None and not choice.is_paid:
        raise BadInputError(
            "--budget is for extractors that call a model (llm, llm-two-step, --keywords): the others cost nothing."
        )
    settings = assemble.read_settings(embedder=embedder, offline=offline or None)
    names = assemble.source_names(folder.state, sources or [])
    documents = read_sources(sources or [], encoding, names, follow_links=follow_links)
    if dry_run:
        passages = _split(documents, passage_tokens, split)
        _print_estimate(folder, passages, choice, settings)
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
            if choice.is_paid:
                tell_cost(settings, bill)
    tell(folder, report, quiet=quiet or verbose)  # --verbose has named each file already
    if tell_of_doubts(folder, report, triples, budget, paid=choice.is_paid):
        raise typer.Exit(1)


def _scan(sources: Sequence[Path], quiet: bool, follow_links: bool) -> int:
    """Print what will be read and what is skipped; return how many documents to expect, 0 where that is not known."""
    scan, output = scan_sources(sources, follow_links=follow_links), Output()
    if not quiet:
        skipped = sum(scan.skipped.values())
        reading = f"Reading {format_count(sum(scan.read.values()), 'file')}"
        others = f"; skipping {format_count(skipped, 'file')} of other kinds:" if skipped else "."
        output.note(reading + others, style="dim")
        for line in scan.describe_skipped():
            output.note(f"  {line}", style="dim")
        for line in scan.describe_missing_extras():
            output.warn(line)
    # A file of JSON lines, a table or a box of mail holds any number of documents, any other file is one.
    holds_many = any(ending.startswith((".jsonl", ".csv", ".tsv", ".mbox")) for ending in scan.read)
    return 0 if holds_many else sum(scan.read.values())


def _name_each(readings: Iterable[Reading]) -> Iterator[Reading]:
    """Yield the same readings; each is named as it is read."""
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


def _split(documents: Iterable[Reading], passage_tokens: int, force: bool) -> list[Passage]:
    """Cut documents exactly as indexing cuts them."""
    passages = []
    for source in documents:
        if isinstance(source, Document):
            passages += split_document(source, passage_tokens, force=force)
        elif isinstance(source, Unreadable) or source.reason:
            Output().warn(f"not counted: {source}")
    if not passages:
        raise BadInputError("nothing could be read from the sources, so there is nothing to index: name other ones.")
    return passages


def _print_estimate(
    folder: Location, passages: Sequence[Passage], choice: Choice, settings: "assemble.Settings"
) -> None:
    """Print passages, characters and, where a model extracts, tokens and price, from a sample that is extracted."""
    # A text that comes twice is paid for once: its second completion is in the cache.
    distinct = list({passage.searchable: passage for passage in passages}.values())
    twice, characters = len(passages) - len(distinct), sum(len(passage.searchable) for passage in distinct)
    rows = {
        "passages": f"{len(passages):,}" + (f", {twice:,} of them repeated, which cost nothing" if twice else ""),
        "characters": f"{characters:,}",
    }
    if choice.is_paid:
        extractor = make_chosen(folder, choice, settings)
        if not isinstance(extractor, LLMExtractor):
            raise BadInputError("--dry-run estimates the price of --extractor llm only: name it, without --keywords.")
        chosen, model = draw_sample(distinct, _SAMPLED_PASSAGES), extractor.model.name
        Output().note(f"Extracting {len(chosen)} of {len(distinct):,} passages with {model} …")
        rows |= {"model": model, **_estimate(extract_sample(extractor, chosen), characters, model, settings)}
    else:
        rows["price"] = f"nothing: the extractor {choice.extractor} calls no model"
    Output().rows(rows, 22)


def _estimate(sample: Sample, characters: int, model: str, settings: "assemble.Settings") -> dict[str, str]:
    triples = sum(len(extraction.triples) for extraction in sample.extractions)
    failures = [extraction.failure for extraction in sample.extractions if extraction.failure]
    tokens_in = [usage.tokens_in + usage.cached_tokens_in for usage in sample.usages]
    tokens_out = [usage.tokens_out + usage.cached_tokens_out for usage in sample.usages]
    unit = "tokens (estimated)" if any(usage.estimated for usage in sample.usages) else "tokens"
    price, count = find_price(model, settings.prices), len(sample.usages)
    rows = {
        "sample": f"{count} passages: {triples / count:.1f} triples per passage, {len(failures)} failed"
        + (f" ({failures[0]})" if failures else "")
    }
    for name, costs in ((f"{unit} in", tokens_in), (f"{unit} out", tokens_out)):
        estimate = sample.estimate(costs, characters)
        rows[name] = f"{estimate.total:,.0f} ± {estimate.spread:,.0f}"
    if price is None:
        rows["price"] = (
            f'unknown: set it in triplebeam.toml, prices = {{"{model}" = {{input = 0.10, output = 0.40}}}},'
            " in US dollars per million tokens"
        )
    else:
        pairs = zip(tokens_in, tokens_out, strict=True)
        dollars = [(read * price.input + written * price.output) / 1_000_000 for read, written in pairs]
        estimate = sample.estimate(dollars, characters)
        rows["price"] = f"${estimate.total:,.2f} ± {estimate.spread:,.2f}"
    return rows
