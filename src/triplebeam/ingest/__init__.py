"""Documents to passages: read what the user names, and cut it at sections, paragraphs and sentences."""

from triplebeam.ingest.folder_files import FolderFiles, SourceFile
from triplebeam.ingest.formats import ENDINGS
from triplebeam.ingest.json_lines import check_plain_fields, row_document
from triplebeam.ingest.naming import SourceNames
from triplebeam.ingest.outcome import Reading, Skipped, Unreadable, watched
from triplebeam.ingest.scan import Scan, scan_sources, settled
from triplebeam.ingest.sources import document_id, read_sources
from triplebeam.ingest.split import split
from triplebeam.text.sentences import sentence_spans

__all__ = [
    "ENDINGS",
    "FolderFiles",
    "Reading",
    "Scan",
    "Skipped",
    "SourceFile",
    "SourceNames",
    "Unreadable",
    "check_plain_fields",
    "document_id",
    "read_sources",
    "row_document",
    "scan_sources",
    "sentence_spans",
    "settled",
    "split",
    "watched",
]
