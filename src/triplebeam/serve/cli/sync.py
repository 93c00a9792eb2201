"""`triplebeam sync`: an index kept up to date with folders."""

import time
from collections.abc import Callable
from functools import partial
from pathlib import Path
from typing import Annotated

import typer

from triplebeam import assemble
from triplebeam.errors import TriplebeamError
from triplebeam.index.build.intake import BuildReport
from triplebeam.index.location import Location
from triplebeam.ingest import FolderFiles, wait_for_changes
from triplebeam.serve.cli.options import AsJson, EmbedderName, FollowLinks, IndexPlace, Offline, complete_extractor
from triplebeam.serve.cli.output import Output, shown_progress
from triplebeam.text.phrases import format_count

_MAX_DOCUMENTS_SHOWN = 20


def sync(
    folder: IndexPlace,
    folders: Annotated[
        list[Path], typer.Argument(metavar="FOLDER…", help="Folders (or files) to sync the index with.")
    ],
    dry_run: Annotated[bool, typer.Option("--dry-run", help="Print the changes without making them.")] = False,
    watch: Annotated[bool, typer.Option("--watch", help="Repeat until Ctrl-C.")] = False,
    interval: Annotated[
        float, typer.Option(metavar="SECONDS", min=0.2, max=3600, help="With --watch: time between two scans.")
    ] = 2.0,
    extractor: Annotated[
        str | None,
        typer.Option(
            help="Extractor of triples, as for `triplebeam index`. Default: the extractor of the index.",
            autocompletion=complete_extractor,
        ),
    ] = None,
    encoding: Annotated[
        str | None, typer.Option(metavar="NAME", help="Encoding of text files. Default: detected per file.")
    ] = None,
    follow_links: FollowLinks = False,
    as_json: AsJson = False,
    embedder: EmbedderName = None,
    offline: Offline = False,
) -> None:
    """Sync an index with folders: add new files, update changed ones, remove deleted ones.

    Reads only files whose size or modification time has changed. A renamed or moved file keeps its triples.
    Documents from other folders stay.

    Examples:

        triplebeam sync my.index docs/

        triplebeam sync my.index docs/ notes/ --dry-run

        triplebeam sync my.index docs/ --watch --interval 10
    """
    settings = assemble.read_settings(embedder=embedder, offline=offline or None)
    with shown_progress(quiet=as_json or watch) as progress:
        index = assemble.Index(folder, settings=settings, progress=progress)

        def sync_once() -> bool:
            report = index.sync(
                *folders, extractor=extractor, encoding=encoding, dry_run=dry_run, follow_links=follow_links
            )
            if as_json:
                Output().json(_as_json(report, dry_run), indent=None)
            else:
                _show(index.location, report, dry_run)
            return bool(report.unreadable or report.failures)

        if watch and not dry_run:
            _keep_doing(index, folders, sync_once, interval, follow_links)
        elif sync_once():
            raise typer.Exit(1)


def _keep_doing(
    index: "assemble.IndexReader", folders: list[Path], once: Callable[[], bool], interval: float, follow_links: bool
) -> None:
    """Sync after each change that has settled; what goes wrong is printed, and tried again."""

    def look() -> object:
        try:
            names = assemble.source_names(index.location.state, folders)
            return FolderFiles.of(folders, names, follow_links=follow_links).files
        except TriplebeamError as error:  # a folder that is gone for a while, an index that is busy
            return str(error)

    wait = partial(time.sleep, interval)
    for _ in wait_for_changes(look, wait):
        said = ""
        while True:
            try:
                once()
                break
            except TriplebeamError as error:
                if said != str(error):
                    Output().warn(str(error))
                said = str(error)
                wait()


def _as_json(report: BuildReport, dry_run: bool) -> dict[str, object]:
    counts = report.manifest.counts if report.manifest else {"documents": 0, "passages": 0}
    done: dict[str, object] = {} if dry_run else {name: counts[name] for name in ("documents", "passages")}
    return {
        "added": report.added,
        "changed": report.changed,
        "renamed": [{"from": before, "to": after} for before, after in report.renamed],
        "removed": report.removed,
        "skipped": [{"source": each.source, "reason": each.reason} for each in report.skipped if each.reason],
        "unreadable": [{"source": each.source, "reason": each.reason} for each in report.unreadable],
        "dry_run": dry_run,
        "published": report.published,
        **({"unpublished": report.unpublished} if dry_run else {}),
        **done,
    }


def _show(folder: Location, report: BuildReport, dry_run: bool) -> None:
    output = Output()
    kinds = {
        "add": report.added,
        "change": report.changed,
        "rename": [f"{before} -> {after}" for before, after in report.renamed],
        "remove": report.removed,
    }
    for kind, documents in kinds.items():
        for document in documents if dry_run else documents[:_MAX_DOCUMENTS_SHOWN]:
            output.note(f"{kind} {document}")
        if not dry_run and len(documents) > _MAX_DOCUMENTS_SHOWN:
            output.note(f"{kind} {len(documents) - _MAX_DOCUMENTS_SHOWN:,} more")
    for skipped in report.skipped:
        if skipped.reason:
            output.note(f"skipped: {skipped}", style="dim")
    for unreadable in report.unreadable if dry_run else ():  # otherwise it was logged
        output.warn(f"not indexed: {unreadable}")
    if not any(kinds.values()):  # an earlier run may have been killed before it published what it changed
        if report.unpublished:
            output.note(
                f"{folder}: no file has changed, but an earlier run was interrupted before it published its changes:"
                " sync publishes them."
            )
        else:
            again = ", and the index was published again" if report.published else ""
            output.note(f"{folder} is up to date: nothing has changed{again}.")
    if report.published and report.manifest:
        counts = report.manifest.counts
        document_count, passage_count = (format_count(counts[f"{kind}s"], kind) for kind in ("document", "passage"))
        output.note(f"{folder}: {document_count}, {passage_count}.")
