"""The first stage of a build: documents are cut into passages and put into the store; and the report of all stages.

Where an index is kept up to date with folders, only what differs from them is read.
"""

from collections.abc import Iterable, Iterator, Sequence, Set
from dataclasses import dataclass, field
from typing import TypeAlias, TypeVar

from triplebeam.errors import SourceError, TriplebeamError
from triplebeam.index.source import Manifest
from triplebeam.index.store.store import Store, content_hash
from triplebeam.ingest import FolderFiles, Reading, Skipped, SourceFile, Unreadable
from triplebeam.ingest.split import split
from triplebeam.passage import Document, Passage
from triplebeam.system.work import Progress

#: A passage's id, and why its extraction failed.
Failure: TypeAlias = tuple[str, str]
T = TypeVar("T")
READING_WINDOW = 256


@dataclass(slots=True)
class BuildReport:
    """What a build did."""

    documents_seen: int = 0
    documents_changed: int = 0
    passages_extracted: int = 0
    passages_without_triples: int = 0
    """Of those extracted: suspicious where there are many, since a passage has sentences."""
    passages_kept: int = 0
    """Of other extractors, whose triples stayed: see ``IndexBuilder.overwrite``."""
    passages_left: int = 0
    """Not extracted, since the budget was used up."""
    texts_encoded: int = 0
    added: list[str] = field(default_factory=list)
    """Documents by their ids, as all of these lists."""
    changed: list[str] = field(default_factory=list)
    renamed: list[tuple[str, str]] = field(default_factory=list)
    """From and to, of files that were renamed or moved: nothing is extracted again."""
    removed: list[str] = field(default_factory=list)
    unreadable: list[Unreadable] = field(default_factory=list)
    skipped: list[Skipped] = field(default_factory=list)
    warnings: list[str] = field(default_factory=list)
    """Documents that were indexed, but not read as they may have been meant; each with its file."""
    damaged: list[str] = field(default_factory=list)
    """Files of the published generation that were not as they were written: they were derived again."""
    failures: list[Failure] = field(default_factory=list)
    """All that are in the index, from this build and earlier ones."""
    published: bool = False
    unpublished: bool = False
    """In a preview: a run that was interrupted left changes, which the next one publishes."""
    manifest: Manifest | None = None

    def list_unread(self) -> list[str]:
        """List what should have been read and was not, and why."""
        return [*map(str, self.unreadable), *(str(each) for each in self.skipped if each.reason)]


@dataclass
class Differences:
    """Found by names, sizes and times; which documents a changed file still has is known when it was read."""

    folders: FolderFiles
    changed: list[SourceFile]
    """Files that are new, or differ from when they were read."""
    staying: set[str]
    """Documents of other files, there and unchanged, or in no folder."""
    in_step: list[str]
    """Of those, the ones in the folders."""
    missing: dict[str, str]
    """Documents that were not met yet, in files that are gone or changed, with the names of their files."""
    renamable: dict[bytes, str]
    """Documents of files that are gone, by their content."""
    known: frozenset[str]
    """Every document there was."""
    left_behind: frozenset[str]
    """Files that were read once and are not in the folders now."""
    _unreadable: set[str] = field(default_factory=set)
    _read_in_part: set[str] = field(default_factory=set)
    """Files with lines that are no documents: their other lines say which documents they have."""

    @classmethod
    def compare(cls, store: Store, folders: FolderFiles) -> "Differences":
        """Compare the folders with what was read from them before."""
        known = store.files.states()
        changed = [file for file in folders.files if known.get(file.name) != file.state]
        unchanged = {file.name for file in folders.files}.difference(file.name for file in changed)
        sources = store.files.sources()
        covered = {id_: source for id_, source in sources.items() if folders.has_source(source)}
        missing = {id_: source for id_, source in covered.items() if source not in unchanged}
        there = {file.name for file in folders.files}
        gone = [id_ for id_, source in missing.items() if source not in there and not folders.is_unreadable(source)]
        return cls(
            folders,
            changed,
            staying=sources.keys() - missing.keys(),
            in_step=[id_ for id_ in covered if id_ not in missing],
            missing=missing,
            renamable=store.contents(gone),
            known=frozenset(sources),
            left_behind=frozenset(name for name in known if name not in there and folders.has_source(name)),
        )

    def read(self) -> Iterator[Reading]:
        """Read the documents of the files that changed."""
        names = {str(file.path): file.name for file in self.changed}
        for reading in self.folders.read(self.changed, set(self.staying)):
            if isinstance(reading, Unreadable):
                kind = self._unreadable if reading.line is None else self._read_in_part
                kind.add(names[reading.source])
            elif isinstance(reading, Document):
                self.missing.pop(reading.id, None)
            yield reading

    def find_renamed(self, document: Document, passages: Sequence[Passage]) -> str | None:
        """Find the id that this document had before its file was renamed."""
        if not self.renamable or document.id in self.known:
            return None
        before = self.renamable.pop(content_hash(document, passages), None)
        if before is not None:
            self.missing.pop(before, None)
        return before

    def list_removed(self) -> list[str]:
        """List documents that are no longer there. A file or folder that could not be read loses none."""
        sources = {source for source in self.missing.values() if self.folders.is_unreadable(source)} | self._unreadable
        return [id_ for id_, source in self.missing.items() if source not in sources]

    def collect_file_states(self) -> dict[str, str | None]:
        """Return the states to store: of files that were read whole, and None for removed ones."""
        forgotten: dict[str, str | None] = dict.fromkeys((*self.left_behind, *self.missing.values()))
        unfinished = self._unreadable | self._read_in_part
        return forgotten | {file.name: file.state for file in self.changed if file.name not in unfinished}


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


def report_progress(readings: Iterable[Reading], expected: int, progress: Progress) -> Iterator[Reading]:
    """Yield readings and report progress as each comes; ``expected`` is their number where it is known, else 0."""
    done = 0
    for reading in readings:
        if not isinstance(reading, Skipped):
            done += 1
            progress("read", done, max(done, expected) if expected else 0)
        yield reading
    progress("read", done, done)


def split_windows(items: Iterable[T], size: int, *, keep_on_error: bool = False) -> Iterator[list[T]]:
    """Yield the items in windows. Where they end in an error, ``keep_on_error`` yields those before it first."""
    window: list[T] = []
    try:
        for item in items:
            window.append(item)
            if len(window) == size:
                yield window
                window = []
    except TriplebeamError:
        if window and keep_on_error:
            yield window
        raise
    if window:
        yield window
