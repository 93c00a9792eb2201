"""`triplebeam index`: documents in."""

import logging
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from triplebeam.errors import BadInputError
from triplebeam.serve.cli.options import EmbedderName, IndexFolder, Offline

if TYPE_CHECKING:
    from triplebeam.index.build import BuildReport


def index(
    folder: IndexFolder,
    sources: Annotated[
        list[Path],
        typer.Argument(
            metavar="SOURCE…",
            help="Folders (searched through), files of txt, md, html, pdf, docx, JSON lines (.jsonl, .jsonl.gz),"
            " BEIR folders.",
            show_default=False,
        ),
    ],
    extractor: Annotated[
        str | None,
        typer.Option(help="Who draws the triples: local (default, no key), llm, or none.", show_default=False),
    ] = None,
    triples: Annotated[
        Path | None,
        typer.Option(
            metavar="FILE",
            help='Triples you have already: JSON lines of {"passage_id", "triples": [[s, p, o], …]}, plain or gzipped.',
            show_default=False,
        ),
    ] = None,
    passage_tokens: Annotated[int, typer.Option(min=20, help="Tokens a passage has at the most.")] = 200,
    split: Annotated[bool, typer.Option("--split", help="Cut JSON lines and BEIR rows into passages too.")] = False,
    embedder: EmbedderName = None,
    offline: Offline = False,
) -> None:
    """Index documents, or add and update some. Stopped or killed, it goes on where it was when run again.

    Examples:

        triplebeam index my.index docs/

        triplebeam index my.index corpus.jsonl.gz --triples triples.jsonl.gz

        triplebeam index my.index report.pdf --extractor none
    """
    logging.getLogger("pypdf").setLevel(logging.CRITICAL)  # a file it cannot read is told by name, with the reason
    if extractor and triples:
        raise BadInputError("--extractor and --triples say two things about where triples come from: give one of them.")
    from triplebeam.assemble import DEFAULT_EMBEDDER, make_embedder, make_extractor
    from triplebeam.index.build import IndexBuilder, published
    from triplebeam.ingest import read_sources
    from triplebeam.serve.cli.display import progress_bars
    from triplebeam.settings import read_settings

    settings = read_settings(embedder=embedder, offline=offline or None)
    documents = read_sources(sources)
    there = published(folder)
    embedder_name = settings.embedder or (there.embedder.name if there else DEFAULT_EMBEDDER)
    with progress_bars() as progress:
        builder = IndexBuilder(
            folder=folder,
            embedder=make_embedder(embedder_name, settings, progress),
            extractor=make_extractor(extractor or "local", triples, settings, progress),
            passage_tokens=passage_tokens,
            split_passages=split,
            progress=progress,
        )
        report = builder.build(documents)
    _tell(folder, report)
    if triples:
        _tell_of_unknown_passages(folder, triples)
    if report.unreadable:
        raise typer.Exit(1)


def _tell(folder: Path, report: "BuildReport") -> None:
    """What was done, what was not and why."""
    from triplebeam.serve.cli.display import err

    console = err()
    for unreadable in report.unreadable:
        console.print(f"not indexed: {unreadable}", style="yellow", markup=False)
    if report.skipped:
        console.print(f"{len(report.skipped)} files of other kinds were passed over.", style="dim")
    if report.failures:
        console.print(
            f"{len(report.failures)} passages are without triples because their extraction failed:", style="yellow"
        )
        for passage_id, reason in report.failures[:5]:
            console.print(f"  {passage_id}: {reason}", style="yellow", markup=False)
    manifest = report.manifest
    if manifest is None:
        return
    if not report.published:
        console.print(f"{folder} is up to date: nothing had changed.", markup=False)
        return
    counts = manifest.counts
    console.print(
        f"{folder}: {counts['documents']:,} documents, {counts['passages']:,} passages, {counts['triples']:,} triples,"
        f" {counts['entities']:,} entities ({report.documents_changed:,} documents new or changed,"
        f" {report.texts_encoded:,} texts encoded).",
        markup=False,
    )
    if counts["triples_rejected"]:
        console.print(f"{counts['triples_rejected']} triples with an empty part were put aside.", style="yellow")


def _tell_of_unknown_passages(folder: Path, triples: Path) -> None:
    """Triples of passages that are not in the index are of no use, and most likely a mistake."""
    from triplebeam.extract.given import GivenTriples
    from triplebeam.index.opened import Index
    from triplebeam.serve.cli.display import err

    passages = Index.open(folder).passages
    unknown = [passage_id for passage_id in GivenTriples(triples).passage_ids if passage_id not in passages]
    if unknown:
        err().print(
            f"{triples} has triples of {len(unknown):,} passages that are not in the index, such as {unknown[0]!r}:"
            " its passage_id must be the id of an indexed passage.",
            style="yellow",
            markup=False,
        )
