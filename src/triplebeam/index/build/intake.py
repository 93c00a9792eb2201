"""The first stage of a build: documents are cut into passages and put into the store."""

from collections.abc import Iterable, Set
from dataclasses import dataclass

from triplebeam.errors import SourceError
from triplebeam.index.build.extraction import split_windows
from triplebeam.index.build.report import BuildReport
from triplebeam.index.build.sync import Differences
from triplebeam.index.store.store import Store
from triplebeam.ingest import Reading, Skipped, Unreadable
from triplebeam.ingest.split import split
from triplebeam.passage import Document

READING_WINDOW = 256


@dataclass(frozen=True)
class Intake:
    """Puts documents into a store, and notes in a report what changed."""

    store: Store
    report: BuildReport
    passage_tokens: int
    split_passages: bool

    def read(self, sources: Iterable[Reading], differences: Differences | None = None) -> dict[str, None]:
        """Put documents into the store; returns their ids, in order."""
        report = self.report
        document_ids: dict[str, None] = {}
        for window in split_windows(sources, READING_WINDOW):
            with self.store.transaction():
                for source in window:
                    if isinstance(source, Unreadable):
                        report.unreadable.append(source)
                    elif isinstance(source, Skipped):
                        report.skipped.append(source)
                    else:
                        report.warnings += [f"{source.source or source.id}: {warning}" for warning in source.warnings]
                        self._put(source, differences)
                        document_ids[source.id] = None
            report.documents_seen = len(document_ids)
        return document_ids

    def _put(self, document: Document, differences: Differences | None) -> None:
        passages = split(document, self.passage_tokens, force=self.split_passages)
        store, report = self.store, self.report
        try:
            if differences and (before := differences.find_renamed(document, passages)):
                store.rename_document(before, document, passages)
                report.renamed.append((before, document.id))
                return
            there = store.has_document(document.id)
            if store.put_document(document, passages):
                (report.changed if there else report.added).append(document.id)
                report.documents_changed += 1
        except SourceError as error:
            report.unreadable.append(Unreadable(document.id, str(error)))

    def remove_others(self, document_ids: Set[str]) -> None:
        """Remove all other documents, unless they came from a file that cannot be read now."""
        unread = {each.source for each in self.report.unreadable if each.line is None}
        others = {id_ for id_, source in self.store.files.sources().items() if source not in unread}
        with self.store.transaction():
            self.report.removed = self.store.remove_documents(sorted(others - document_ids))
