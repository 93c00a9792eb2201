"""What jobs do: each task is a value that is stored with its job, and run with a context."""

import json
import threading
import time
from collections.abc import Iterator, Set
from dataclasses import dataclass, field
from pathlib import Path
from typing import Annotated, Literal, TypeAlias

from pydantic import BaseModel, Field, TypeAdapter

from triplebeam.assemble.indexing import embedder_name, index_builder, purge_index
from triplebeam.errors import BadInputError, IndexMissingError, TriplebeamError
from triplebeam.extract.extractor import Extractor
from triplebeam.generate.accounting import account
from triplebeam.index.build.build import IndexBuilder
from triplebeam.index.build.intake import BuildReport
from triplebeam.index.location import Location
from triplebeam.index.store.corrections import parse_corrections
from triplebeam.ingest import Reading
from triplebeam.passage import Document
from triplebeam.serve.http.job_store import Job, JobStore, Kind
from triplebeam.serve.http.uploads import read_kept
from triplebeam.serve.library import Library
from triplebeam.text.phrases import format_count

_SECONDS_BETWEEN_NOTES = 0.25
_MAX_LOGGED = 100


class Cancelled(Exception):  # noqa: N818 - a request, not an error
    """Somebody cancelled the job."""


class Stopped(Exception):  # noqa: N818
    """The server is about to end; the job will be taken up again."""


@dataclass
class JobContext:
    """What a task works with. Its ``progress`` is where a job is interrupted: between two batches."""

    library: Library
    job: Job
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
        """Return what writes to the index."""
        settings = self.library.settings
        embedder = self.library.embedder(embedder_name(self.index.state, settings))
        return index_builder(self.index, settings, extractor=extractor, embedder=embedder, progress=self.progress)

    def log(self, text: str) -> None:
        """Add a line to the job's log."""
        self.store.log(self.job.id, text)

    def documents(self) -> Iterator[Reading]:
        """Read what was sent, remembering which documents there were."""
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
            self.log(stage)
        if stage != self._stage or now > self._noted + _SECONDS_BETWEEN_NOTES or done == total:
            self.store.set_progress(self.job.id, stage, done, total)
            self._stage, self._noted = stage, now

    def take_back(self) -> str:
        """Forget the documents that came with this job and were never published: the next job must not bring them.

        Those that replace others cannot be taken back, since what they replace is gone from the store: this is said.
        """
        if not self.read:
            return ""
        try:
            published = self.library.documents(self.job.index)
            self.builder().take_back([document_id for document_id in self.read if document_id not in published])
        except TriplebeamError:  # the disk is full, or another process writes
            return "; what was read of it comes with the next job"
        replaced = [document_id for document_id in self.read if document_id in published]
        if not replaced:
            return ""
        return (
            f"; the next job brings the new text of {len(replaced):,} that were there before, such as {replaced[0]!r}:"
            " send the old text again to keep it"
        )


class AddDocuments(BaseModel):
    """Add what was sent; ``sync`` also deletes all other documents."""

    kind: Literal["add", "sync"] = "add"
    extractor: str | None = None
    """Unless named, the one the index was built with."""

    def run(self, context: JobContext) -> str:
        """Index the documents, and log what was left out."""
        try:
            published: Set[str] = context.library.documents(context.job.index).keys()
        except TriplebeamError:  # it is damaged, and about to be derived again
            published = context.read.keys()
        given = context.library.given_extractor
        builder = context.builder(given if given and self.extractor != "none" else self.extractor)
        with account() as bill:
            report = builder.build(context.documents(), whole=self.kind == "sync")
        problems = (
            [f"read in part: {warning}" for warning in report.warnings],
            [f"not indexed: {unreadable}" for unreadable in report.unreadable],
            [f"no triples of {passage_id}: {reason}" for passage_id, reason in report.failures],
        )
        for line in (line for lines in problems for line in lines[:_MAX_LOGGED]):
            context.log(line)
        if (usage := bill.usage).calls:
            context.log(f"{usage.calls:,} calls, {usage.tokens_in:,} tokens in, {usage.tokens_out:,} out")
        if not report.documents_seen:
            raise BadInputError(f"nothing could be read: {'; '.join(report.list_unread()[:5])}.")
        # Those that were read before a restart are in the store already, and no change for this run.
        new = {*report.added, *report.changed, *(context.read.keys() - published)}
        return _summarize(report, len(new))


class DeleteDocuments(BaseModel):
    """Delete documents."""

    kind: Literal["delete"] = "delete"
    document_ids: list[str]

    def run(self, context: JobContext) -> str:
        """Remove the documents, if they are still there."""
        try:
            report = context.builder().remove(self.document_ids)
        except IndexMissingError:
            return "there was nothing to delete"
        return f"{format_count(report.documents_changed, 'document')} deleted"


class CorrectTriples(BaseModel):
    """Replace the corrections of an index."""

    kind: Literal["correct"] = "correct"
    corrections: str = ""
    """JSON lines; empty takes all corrections back."""

    def run(self, context: JobContext) -> str:
        """Apply the corrections."""
        manifest = context.builder().correct(parse_corrections(self.corrections)).manifest
        counts = manifest.corrections if manifest else None
        if counts is None:
            return "there are no corrections now"
        nothing = f"; matching nothing: lines {', '.join(map(str, counts.unmatched))}" if counts.unmatched else ""
        return f"{sum(counts.lines.values()):,} corrections{nothing}"


class Compact(BaseModel):
    """Leave no byte of deleted documents."""

    kind: Literal["compact"] = "compact"

    def run(self, context: JobContext) -> str:
        """Purge the index and the cache of completions."""
        done = purge_index(context.index, context.library.settings)
        return (
            f"{done.bytes_before / 1e6:,.1f} MB before, {done.bytes_after / 1e6:,.1f} MB now;"
            f" {done.completions_removed:,} cached replies forgotten"
        )


Task: TypeAlias = AddDocuments | DeleteDocuments | CorrectTriples | Compact
_TASK: TypeAdapter[Task] = TypeAdapter(Annotated[Task, Field(discriminator="kind")])


def parse_task(kind: Kind, request: str) -> Task:
    """Parse a stored task."""
    return _TASK.validate_python({**json.loads(request), "kind": kind})


def _summarize(report: BuildReport, new: int) -> str:
    said = [f"{new:,} of {format_count(report.documents_seen, 'document')} new or changed"]
    if report.removed:
        said.append(f"{len(report.removed):,} deleted")
    if report.unreadable:
        said.append(f"{len(report.unreadable):,} could not be read: see the log")
    if report.failures:
        said.append(f"{format_count(len(report.failures), 'passage')} without triples because their extraction failed")
    return "; ".join(said)
