"""What the sources of an index hold, on stderr: in sum before they are read, and one by one while they are."""

from collections.abc import Iterable, Iterator, Sequence
from pathlib import Path

from triplebeam.ingest import Reading, Scan, Skipped, Unreadable, scan_sources
from triplebeam.serve.cli.display import err

SOURCES = (
    "Folders (searched recursively) and files: text, Markdown, HTML, reStructuredText, AsciiDoc, PDF, Word, PowerPoint,"
    " Excel, OpenDocument, RTF, EPUB, CSV, JSON, JSON lines, XML, YAML, TOML, notebooks, mail, manual pages, source"
    " code; text may be gzipped. Also BEIR folders."
)


def scanned(sources: Sequence[Path], quiet: bool, follow_links: bool = False) -> int:
    """Say what will be read and what is skipped; returns how many documents to expect, 0 where that is not known."""
    scan = scan_sources(sources, follow_links=follow_links)
    if not quiet:
        _tell(scan)
    # A file of JSON lines, a table or a box of mail holds any number of documents, any other file is one.
    holds_many = any(ending.startswith((".jsonl", ".csv", ".tsv", ".mbox")) for ending in scan.read)
    return 0 if holds_many else sum(scan.read.values())


def _tell(scan: Scan) -> None:
    console, skipped = err(), sum(scan.skipped.values())
    reading = f"Reading {_files(sum(scan.read.values()))}"
    console.print(f"{reading}; skipping {_files(skipped)} of other kinds:" if skipped else f"{reading}.", style="dim")
    for line in scan.skipped_lines():
        console.print(f"  {line}", style="dim", markup=False)
    for line in scan.missing_extras():
        console.print(line, style="yellow", markup=False)


def named(readings: Iterable[Reading]) -> Iterator[Reading]:
    """The same readings; each is named as it is read."""
    for reading in readings:
        match reading:
            case Skipped():
                err().print(f"skipped: {reading}", style="dim", markup=False)
            case Unreadable():
                err().print(f"not read: {reading}", style="yellow", markup=False)
            case _:
                err().print(f"read: {reading.id} ({len(reading.text):,} characters)", style="dim", markup=False)
        yield reading


def _files(count: int) -> str:
    return "1 file" if count == 1 else f"{count:,} files"
