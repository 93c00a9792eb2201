"""`triplebeam encode`: the expensive part of indexing, on another machine than the index."""

import json
import shutil
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from triplebeam.errors import BadInputError
from triplebeam.serve.cli.options import (
    AsJson,
    EmbedderName,
    ExtractorName,
    FollowLinks,
    Keywords,
    Offline,
    PassageTokens,
    Split,
    TextEncoding,
    TriplesPath,
)
from triplebeam.serve.cli.sources_display import SOURCES

if TYPE_CHECKING:
    from triplebeam.index.build_report import BuildReport


def encode(
    sources: Annotated[list[Path], typer.Argument(metavar="SOURCE…", help=SOURCES, show_default=False)],
    out: Annotated[
        Path, typer.Option("--out", metavar="SHARDS", help="The folder that shards are added to.", show_default=False)
    ],
    shard: Annotated[
        str,
        typer.Option(metavar="I/N", help="Only the I-th of N shares of the documents; each machine takes another."),
    ] = "1/1",
    extractor: ExtractorName = None,
    triples: TriplesPath = None,
    keywords: Keywords = False,
    passage_tokens: PassageTokens = 200,
    split: Split = False,
    encoding: TextEncoding = None,
    follow_links: FollowLinks = False,
    embedder: EmbedderName = None,
    offline: Offline = False,
    quiet: Annotated[bool, typer.Option("--quiet", "-q", help="Print errors and the result only.")] = False,
    as_json: AsJson = False,
) -> None:
    """Extract and encode documents into shards, which `triplebeam index --encoded` takes on any machine.

    Several machines encode a share each; copy their shards into one folder. What a shard has already is not done again.
    If it is stopped, run it again to continue where it left off. Give `index` the same sources and options.

    Examples:

        triplebeam encode docs/ --out shards/

        triplebeam encode docs/ --out shards/ --shard 1/4

        triplebeam index my.index docs/ --encoded shards/
    """
    if extractor and triples:
        raise BadInputError("--extractor and --triples both say where triples come from: give only one of them.")
    from triplebeam.assemble.indexing import index_builder, source_names
    from triplebeam.generate.accounting import account
    from triplebeam.index.shards import Shards
    from triplebeam.ingest import Share, read_sources
    from triplebeam.serve.cli.build_report import tell_cost
    from triplebeam.serve.cli.progress_display import shown_progress
    from triplebeam.serve.cli.sources_display import scanned
    from triplebeam.settings import read_settings

    share = Share.parse(shard)
    work = out / f".work-{share}"
    settings = read_settings(embedder=embedder, offline=offline or None)
    names = source_names(work, sources)
    documents = share.of_all(read_sources(sources, encoding, names, follow_links=follow_links))
    expected = scanned(sources, quiet, follow_links) // share.of
    with shown_progress(quiet) as progress, account() as bill:
        builder = index_builder(
            work,
            settings,
            extractor=extractor,
            triples=triples,
            keywords=keywords,
            passage_tokens=passage_tokens,
            split=split,
            names=names,
            progress=progress,
        ).taking(Shards.found(out))
        try:
            report = builder.encode(documents, expected)
        finally:
            if bill.usage.calls:
                tell_cost(settings, bill)
    shutil.rmtree(work)  # all of it is in shards now
    if as_json:
        typer.echo(json.dumps(_as_json(report)))
    _tell(out, report)
    if report.unreadable or report.failures:
        raise typer.Exit(1)


def _as_json(report: "BuildReport") -> dict[str, object]:
    return {
        "shard": None if report.shard is None else str(report.shard),
        "documents": report.documents_seen,
        "passages_extracted": report.passages_extracted,
        "passages_taken": report.passages_taken,
        "texts_encoded": report.texts_encoded,
        "unreadable": list(map(str, report.unreadable)),
        "failures": dict(report.failures),
    }


def _tell(out: Path, report: "BuildReport") -> None:
    from triplebeam.evaluate.numbers import plural
    from triplebeam.index.extraction import grouped
    from triplebeam.serve.cli.display import err

    console = err()
    for line in report.not_read():
        console.print(f"not read: {line}", style="yellow", markup=False)
    for reason, passage_ids in grouped(report.failures):
        failed = f"{plural(len(passage_ids), 'extraction')} failed and will be retried by `triplebeam index`: {reason}"
        console.print(failed, style="yellow", markup=False)
    if report.shard is None:
        console.print(f"{out}: nothing new in {plural(report.documents_seen, 'document')}.", markup=False)
    else:
        console.print(
            f"{report.shard}: {plural(report.documents_seen, 'document')},"
            f" {plural(report.texts_encoded, 'text')} encoded.",
            markup=False,
        )
