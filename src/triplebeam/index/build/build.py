"""Building an index: read, extract, encode, publish. Each stage keeps its work as it goes.

Killed at any moment, a build continues where it was when it is run again: documents, extractions and vectors are
committed in small transactions, and the published generation changes only at the very end. Nothing is
done twice.
"""

from collections.abc import Iterable, Iterator, Mapping
from contextlib import closing, contextmanager
from dataclasses import dataclass, field
from pathlib import Path

from triplebeam.embed.embedder import Embedder, EncodeWindows, encode_here
from triplebeam.errors import BadInputError, TriplebeamError
from triplebeam.extract.extractor import Extractor, kind_of
from triplebeam.index.build.extraction import (
    MAX_FAILURES,
    Budget,
    Numbered,
    OverwritePolicy,
    extract_triples,
    passages_to_extract,
)
from triplebeam.index.build.intake import BuildReport, Differences, Intake, report_progress
from triplebeam.index.build.writing import (
    check_store,
    open_for_write,
    open_store_copy,
    remove_failed_index,
    require_index,
)
from triplebeam.index.content.content import Content
from triplebeam.index.content.encoding import VectorCache, encode_missing
from triplebeam.index.folder.manifest import find_damaged_files, make_empty_error
from triplebeam.index.folder.publish import FolderPublisher, Publisher
from triplebeam.index.source import MAX_PASSAGES, VectorSpace
from triplebeam.index.store.corrections import Corrections
from triplebeam.index.store.store import Store
from triplebeam.ingest import FolderFiles, Reading
from triplebeam.passage import PASSAGE_TOKENS
from triplebeam.system.work import Progress, ignore_progress


@dataclass(frozen=True, kw_only=True)
class IndexBuilder:
    """Puts documents into an index folder; without an extractor, they have no triples.

    When more than the share ``max_failures`` of the extractions fails, the build stops with an ExtractionError; when
    the next ones may not be within the ``budget``, it publishes what there is. Either way the next build continues.
    Triples that were given or paid for stay, unless it may ``overwrite`` all. The index remembers the extractor.
    """

    folder: Path
    """Where documents, extracted triples and vectors are."""
    embedder: Embedder
    extractor: Extractor | None = None
    passage_tokens: int = PASSAGE_TOKENS
    split_passages: bool = False
    max_failures: float = MAX_FAILURES
    budget: Budget | None = None
    overwrite: OverwritePolicy = OverwritePolicy.LOCAL
    source_names: Mapping[str, str] = field(default_factory=dict, repr=False)
    """Which file or folder each name of a source means, by absolute path: see `triplebeam.ingest.SourceNames`."""
    triples_in_context: bool = True
    """Whether a new index encodes triples in the context of their passages, if the embedder can."""
    keyword_passages: int = MAX_PASSAGES
    """A keyword of more passages makes no edges in the passage graph of a new index; 0: every keyword does."""
    encode_windows: EncodeWindows = field(default=encode_here, repr=False)
    """Where texts are encoded: here, or on a cluster."""
    progress: Progress = field(default=ignore_progress, repr=False)
    publisher: Publisher | None = field(default=None, repr=False)
    """What publishes the index; None: it is published in its own folder."""

    def build(self, sources: Iterable[Reading], expected: int = 0, *, whole: bool = False) -> BuildReport:
        """Read the sources, do what is not done yet, and publish.

        ``expected`` is the number of documents in the sources where it is known, for the progress. With ``whole`` the
        sources are all there is: other documents are removed, unless they came from a file that cannot be read now.
        """
        with remove_failed_index(self.folder), self._open() as (store, report):
            self._remember(store)
            document_ids = self._make_intake(store, report).read(report_progress(sources, expected, self.progress))
            self._extract_from(store, document_ids, report)
            if whole and document_ids:
                self._make_intake(store, report).remove_others(document_ids.keys())
            reasons = "; ".join(report.list_unread()[:5]) or "they hold no files of a kind that is read"
            empty = f"nothing could be read from the sources, so there is no index to make at {self.folder}: {reasons}."
            self._finish(store, report, BadInputError(empty))
        return report

    def sync(self, folders: FolderFiles) -> BuildReport:
        """Synchronise the index with folders: add, read again, rename and remove documents, and publish once.

        Only files whose size or time of change differs are opened. Documents from elsewhere are left alone.
        """
        with self._open() as (store, report):
            self._remember(store)
            document_ids = self._compare(store, folders, report)
            self._extract_from(store, document_ids, report)
            self._finish(store, report)
        return report

    def preview(self, folders: FolderFiles) -> BuildReport:
        """Report what `sync` would add, change, rename and remove. The files are read, and nothing is written."""
        report = BuildReport()
        with open_store_copy(self.folder) as store:
            report.unpublished = self._publisher.read_revision() != (
                store.meta.revision if _count_passages(store) else None
            )
            self._compare(store, folders, report)
        return report

    def retry_failed(self) -> BuildReport:
        """Retry every passage of the index whose extraction failed, and no other, and publish."""
        if self.extractor is None:
            raise BadInputError("passages that failed can only be retried with an extractor: name one.")
        with self._open("nothing that failed") as (store, report):
            self._extract(store, self.extractor, list(store.passages_failed()), report)
            self._finish(store, report, make_empty_error(self.folder))
        return report

    def remove(self, document_ids: Iterable[str]) -> BuildReport:
        """Remove documents from the index, and publish. Ids that are not there make no difference.

        When no document is left nothing is published any more; the folder may be indexed into again.
        """
        with self._open("no document to remove") as (store, report):
            with store.transaction():
                report.removed = store.remove_documents(document_ids)
            report.documents_changed = len(report.removed)
            self._finish(store, report)
        return report

    def correct(self, corrections: Corrections) -> BuildReport:
        """Keep these corrections with the index, instead of those it has, and publish."""
        with self._open("there is nothing to correct") as (store, report):
            with store.transaction():
                store.correct(corrections)
            self._finish(store, report)
        return report

    def repair(self) -> BuildReport:
        """Derive again what is damaged, from what is not: a generation from the store. The store must be sound."""
        with self._open("there is nothing to repair") as (store, report):
            check_store(store.db)
            report.damaged = find_damaged_files(self.folder)
            self._finish(store, report, make_empty_error(self.folder))
        return report

    def take_back(self, document_ids: Iterable[str]) -> None:
        """Remove the documents of a build that was cancelled before it published them; nothing is published."""
        require_index(self.folder, "no document to take back")
        with open_for_write(self.folder) as store, store.transaction():
            store.remove_documents(document_ids)

    @contextmanager
    def _open(self, otherwise: str = "") -> Iterator[tuple[Store, BuildReport]]:
        """Open the store for writing; where there has to be an index, ``otherwise`` says what cannot be done."""
        if otherwise:
            require_index(self.folder, otherwise)
        with open_for_write(self.folder) as store:
            self._check_embedder(store)
            yield store, BuildReport()

    def _finish(self, store: Store, report: BuildReport, empty: TriplebeamError | None = None) -> None:
        """Encode what is not encoded yet, and publish if anything changed. Where no passage is left, nothing stays
        published, and ``empty`` is raised, if that is an error.
        """
        publisher = self._publisher
        if not _count_passages(store):
            publisher.withdraw()
            if empty:
                raise empty
            return
        report.failures = store.statistics.failures()
        if current := publisher.read_current(store):
            report.manifest = current
            return
        embedder, space = self.embedder, self._check_embedder(store)
        contents = Content.of(store, in_context=space.triples_in_context)
        previous = publisher.previous.arrays
        with closing(VectorCache(self.folder, embedder.fingerprint, embedder.dimension, previous)) as encoded:
            report.texts_encoded = encode_missing(contents, encoded, embedder, self.progress, self.encode_windows)
            report.manifest = publisher.publish(store, contents, encoded, space, self.progress)
            report.published = True

    @property
    def _publisher(self) -> Publisher:
        return self.publisher or FolderPublisher(self.folder)

    def _check_embedder(self, store: Store) -> VectorSpace:
        """Return the index's vector space, which must be the embedder's; a new index takes the embedder's."""
        self._publisher.check(store)
        space = store.meta.embedder
        if space is None:
            space = VectorSpace.of(self.embedder, triples_in_context=self.triples_in_context)
            store.meta.set("embedder", space.model_dump_json())
            store.meta.set("keyword_passages", str(self.keyword_passages))
        else:
            space.check(self.embedder)
        return space

    def _remember(self, store: Store) -> None:
        """Record the extractor, but neither a file of triples nor ``none``, except in a new index."""
        with store.transaction():
            if self.source_names:
                store.meta.set_source_names(self.source_names)
            if self.extractor is None and store.meta.extractor is None:
                store.meta.choose_extractor("none")
            elif self.extractor and kind_of(self.extractor.name) != "given":
                store.meta.choose_extractor(self.extractor.name)

    def _compare(self, store: Store, folders: FolderFiles, report: BuildReport) -> list[str]:
        """Put into the store what differs from it, and take out what is gone; the documents of the folders."""
        report.unreadable += folders.unreadable
        report.skipped += folders.skipped
        differences = Differences.compare(store, folders)
        readings = report_progress(differences.read(), len(differences.changed), self.progress)
        document_ids = self._make_intake(store, report).read(readings, differences)
        with store.transaction():
            report.removed = store.remove_documents(differences.list_removed())
            store.files.set_states(differences.collect_file_states())
        report.documents_changed += len(report.removed) + len(report.renamed)
        report.documents_seen += len(differences.in_step)
        return [*differences.in_step, *document_ids]

    def _make_intake(self, store: Store, report: BuildReport) -> Intake:
        return Intake(store, report, self.passage_tokens, self.split_passages)

    def _extract_from(self, store: Store, document_ids: Iterable[str], report: BuildReport) -> None:
        if self.extractor:
            waiting, report.passages_kept = passages_to_extract(
                store, self.extractor.name, document_ids, self.overwrite
            )
            self._extract(store, self.extractor, waiting, report)

    def _extract(self, store: Store, extractor: Extractor, waiting: list[Numbered], report: BuildReport) -> None:
        extract_triples(
            store,
            extractor,
            waiting,
            report,
            max_failures=self.max_failures,
            budget=self.budget,
            progress=self.progress,
        )


def _count_passages(store: Store) -> int:
    return store.statistics.counts()["passages"]
