"""What a job does: documents into an index, or out of it."""

import threading
import time
from collections.abc import Iterator, Set
from dataclasses import dataclass, field
from pathlib import Path

from triplebeam.assemble.indexing import embedder_name, index_builder, purge_index
from triplebeam.errors import BadInputError, IndexMissingError, TriplebeamError
from triplebeam.extract.extractor import Extractor
from triplebeam.generate.accounting import account
from triplebeam.index.build.build import IndexBuilder
from triplebeam.index.build.report import BuildReport
from triplebeam.index.location import Location
from triplebeam.index.store.corrections import parse_corrections
from triplebeam.ingest import Reading
from triplebeam.passage import Document
from triplebeam.serve.http.indexing.job_store import Job, JobRequest, JobStore
from triplebeam.serve.http.indexing.uploads import read_kept
from triplebeam.serve.library import Library
from triplebeam.text.phrases import format_count

_SECONDS_BETWEEN_NOTES = 0.25
_UNREADABLE_LOGGED = 100


class Cancelled(Exception):  # noqa: N818 - a request, not an error
    """Somebody cancelled the job."""


class Stopped(Exception):  # noqa: N818
    """The server is about to end; the job will be taken up again."""


@dataclass
class Work:
    """A job with what it needs. Its ``progress`` is where it is interrupted: between two batches."""

    library: Library
    job: Job
    request: JobRequest
    folder: Path
    store: JobStore
    stopping: threading.Event
    read: dict[str, None] = field(default_factory=dict)
    """The ids of the documents read so far, in order."""
    _stage: str = ""
    _noted: float = 0.0

    @property
    def index(self) -> Location:
        """Where the index is."""
        return self.library.location(self.job.index)

    def builder(self, extractor: str | Extractor | None = "none") -> IndexBuilder:
        """What writes to the index."""
        settings = self.library.settings
        embedder = self.library.embedder(embedder_name(self.index.state, settings))
        return index_builder(self.index, settings, extractor=extractor, embedder=embedder, progress=self.progress)

    def extractor(self) -> str | Extractor | None:
        """Where triples come from, as the job asks for it; None: as the index was built."""
        given = self.library.given_extractor
        return given if given and self.request.extractor != "none" else self.request.extractor

    def documents(self) -> Iterator[Reading]:
        """What was sent, remembering which documents there were."""
        for reading in read_kept(self.folder):
            if isinstance(reading, Document):
                self.read[reading.id] = None
            yield reading

    def check(self) -> None:
        """Stop if the job was cancelled or the server shuts down."""
        if self.stopping.is_set():
            raise Stopped
        if self.store.is_cancelling(self.job.id):
            raise Cancelled

    def progress(self, stage: str, done: int, total: int) -> None:
        """Store the progress now and then; stop if the job was cancelled."""
        self.check()
        now = time.monotonic()
        if stage != self._stage:
            self.store.log(self.job.id, stage)
        if stage != self._stage or now > self._noted + _SECONDS_BETWEEN_NOTES or done == total:
            self.store.set_progress(self.job.id, stage, done, total)
            self._stage, self._noted = stage, now

    def take_back(self) -> str:
        """Forget the documents that came with this job and were never published: the next job must not bring them.

        Those that replace others cannot be taken back, since what they replace is gone from the store: this is said.
        """
        if not self.read:
            return ""
        published = self.library.documents(self.job.index)
        new = [document_id for document_id in self.read if document_id not in published]
        self.builder().take_back(new)
        replaced = [document_id for document_id in self.read if document_id in published]
        if not replaced:
            return ""
        return (
            f"; the next job brings the new text of {len(replaced):,} that were there before, such as {replaced[0]!r}:"
            " send the old text again to keep it"
        )


def do(work: Work) -> str:
    """Do a job; what there is to say about it in the end."""
    work.check()
    match work.job.kind:
        case "delete":
            return _delete(work)
        case "correct":
            return _correct(work)
        case "compact":
            return _compact(work)
        case _:
            return _add(work)


def _add(work: Work) -> str:
    before = _published(work)
    with account() as bill:
        report = work.builder(work.extractor()).build(work.documents(), whole=work.job.kind == "sync")
    for warning in report.warnings[:_UNREADABLE_LOGGED]:
        work.store.log(work.job.id, f"read in part: {warning}")
    for unreadable in report.unreadable[:_UNREADABLE_LOGGED]:
        work.store.log(work.job.id, f"not indexed: {unreadable}")
    for passage_id, reason in report.failures[:_UNREADABLE_LOGGED]:
        work.store.log(work.job.id, f"no triples of {passage_id}: {reason}")
    if bill.usage.calls:
        usage = bill.usage
        work.store.log(work.job.id, f"{usage.calls:,} calls, {usage.tokens_in:,} tokens in, {usage.tokens_out:,} out")
    if not report.documents_seen:
        raise BadInputError(f"nothing could be read: {'; '.join(report.list_unread()[:5])}.")
    # Those that were read before a restart are in the store already, and no change for this run.
    new = {*report.added, *report.changed, *(work.read.keys() - before if before is not None else ())}
    return _summary(report, len(new))


def _published(work: Work) -> Set[str] | None:
    """The documents of the index; None if it is damaged, and about to be derived again."""
    try:
        return work.library.documents(work.job.index).keys()
    except TriplebeamError:
        return None


def _summary(report: BuildReport, new: int) -> str:
    said = [f"{new:,} of {format_count(report.documents_seen, 'document')} new or changed"]
    if report.removed:
        said.append(f"{len(report.removed):,} deleted")
    if report.unreadable:
        said.append(f"{len(report.unreadable):,} could not be read: see the log")
    if report.failures:
        said.append(f"{format_count(len(report.failures), 'passage')} without triples because their extraction failed")
    return "; ".join(said)


def _delete(work: Work) -> str:
    try:
        report = work.builder().remove(work.request.document_ids)
    except IndexMissingError:
        return "there was nothing to delete"
    return f"{format_count(report.documents_changed, 'document')} deleted"


def _correct(work: Work) -> str:
    manifest = work.builder().correct(parse_corrections(work.request.corrections)).manifest
    counts = manifest.corrections if manifest else None
    if counts is None:
        return "there are no corrections now"
    nothing = f"; matching nothing: lines {', '.join(map(str, counts.unmatched))}" if counts.unmatched else ""
    return f"{sum(counts.lines.values()):,} corrections{nothing}"


def _compact(work: Work) -> str:
    done = purge_index(work.index, work.library.settings)
    return (
        f"{done.bytes_before / 1e6:,.1f} MB before, {done.bytes_after / 1e6:,.1f} MB now;"
        f" {done.completions_removed:,} cached replies forgotten"
    )
