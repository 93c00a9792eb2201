"""Building an index: read, extract, encode, publish. Each stage keeps its work as it goes.

Killed at any instant, a build goes on where it was when it is run again: documents, extractions and vectors are
committed in small transactions, and the published generation changes only at the very end. Nothing that is there
already is done again.
"""

from collections.abc import Iterable, Iterator
from contextlib import closing, contextmanager
from dataclasses import dataclass, field
from itertools import chain, islice
from pathlib import Path
from typing import TypeVar

from filelock import FileLock, Timeout

from triplebeam.embed.embedder import Embedder
from triplebeam.errors import BadInputError, IndexBusyError, IndexDamagedError, SourceError
from triplebeam.extract.extractor import Extractor
from triplebeam.index.manifest import Manifest, is_index, read_manifest
from triplebeam.index.publish import publish_generation
from triplebeam.index.space import VectorSpace
from triplebeam.index.store import Store, vector_key
from triplebeam.ingest import Skipped, Unreadable, split
from triplebeam.passage import Document
from triplebeam.progress import Progress, silent

T = TypeVar("T")

#: Texts encoded between two commits: few enough to lose little, many enough to sort by length.
ENCODING_WINDOW = 512
EXTRACTION_WINDOW = 64
READING_WINDOW = 256


@dataclass(slots=True)
class BuildReport:
    """What a build did, for whoever started it."""

    documents_seen: int = 0
    documents_changed: int = 0
    passages_extracted: int = 0
    texts_encoded: int = 0
    unreadable: list[Unreadable] = field(default_factory=list)
    skipped: list[Skipped] = field(default_factory=list)
    failures: list[tuple[str, str]] = field(default_factory=list)
    published: bool = False
    manifest: Manifest | None = None


@dataclass(frozen=True, kw_only=True)
class IndexBuilder:
    """Brings documents into an index folder. Without an extractor the index has no graph."""

    folder: Path
    embedder: Embedder
    extractor: Extractor | None = None
    passage_tokens: int = 200
    split_passages: bool = False
    progress: Progress = field(default=silent, repr=False)

    def build(self, sources: Iterable[Document | Unreadable | Skipped]) -> BuildReport:
        """Read the sources, do what is not done yet, and publish."""
        report = BuildReport()
        with _writing(self.folder) as store:
            self._check_embedder(store)
            document_ids = self._read(store, sources, report)
            if self.extractor:
                self._extract(store, self.extractor, document_ids, report)
            self._encode(store, report)
            report.failures = store.failures()
            self._publish(store, report)
        return report

    def _check_embedder(self, store: Store) -> None:
        known = store.meta("embedder")
        if known is None:
            store.set_meta("embedder", VectorSpace.of(self.embedder).model_dump_json())
        else:
            VectorSpace.model_validate_json(known).check(self.embedder)

    def _read(
        self, store: Store, sources: Iterable[Document | Unreadable | Skipped], report: BuildReport
    ) -> dict[str, None]:
        """Documents into the store; the ids of those that were named, in order."""
        document_ids: dict[str, None] = {}
        for window in _windows(sources, READING_WINDOW):
            with store.transaction():
                for source in window:
                    if isinstance(source, Unreadable):
                        report.unreadable.append(source)
                    elif isinstance(source, Skipped):
                        report.skipped.append(source)
                    else:
                        self._put(store, source, report)
                        document_ids[source.id] = None
            report.documents_seen = len(document_ids)
            self.progress("read", len(document_ids), 0)
        return document_ids

    def _put(self, store: Store, document: Document, report: BuildReport) -> None:
        passages = split(document, self.passage_tokens, force=self.split_passages)
        try:
            report.documents_changed += store.put_document(document, passages)
        except SourceError as error:
            report.unreadable.append(Unreadable(document.id, str(error)))

    def _extract(self, store: Store, extractor: Extractor, document_ids: Iterable[str], report: BuildReport) -> None:
        name = extractor.name
        waiting = list(store.passages_awaiting(name, document_ids))
        extractions = extractor.extract(passage for _, passage in waiting)
        pairs = zip(waiting, extractions, strict=True)
        self.progress("extract", 0, len(waiting))
        for window in _windows(pairs, EXTRACTION_WINDOW):
            with store.transaction():
                for (number, _), extraction in window:
                    store.put_extraction(number, extraction, name)
            report.passages_extracted += len(window)
            self.progress("extract", report.passages_extracted, len(waiting))

    def _encode(self, store: Store, report: BuildReport) -> None:
        """Vectors for every text that has none. Progress counts characters: long texts take long."""
        passages = (passage.searchable for _, passage in store.passages())
        triples = (str(entry.triple) for entry in store.triples())
        texts = {vector_key(self.embedder.fingerprint, text): text for text in chain(passages, triples)}
        missing = store.keys_without_vector(texts)
        waiting = [(key, text) for key, text in texts.items() if key in missing]
        total, done = sum(len(text) for _, text in waiting), 0
        self.progress("embed", 0, total)
        for window in _windows(waiting, ENCODING_WINDOW):
            vectors = self.embedder.embed([text for _, text in window])
            with store.transaction():
                store.put_vectors({key: row for (key, _), row in zip(window, vectors, strict=True)})
            report.texts_encoded += len(window)
            done += sum(len(text) for _, text in window)
            self.progress("embed", done, total)
        with store.transaction():
            store.forget_vectors_but(texts)

    def _publish(self, store: Store, report: BuildReport) -> None:
        current = _published(self.folder)
        if current and current.revision == store.revision:
            report.manifest = current
            return
        if not store.counts()["passages"]:
            raise BadInputError(
                f"nothing could be read from the sources, so there is no index to make at {self.folder}."
            )
        report.manifest = publish_generation(self.folder, store, self.embedder, self.progress)
        report.published = True


@contextmanager
def _writing(folder: Path) -> Iterator[Store]:
    """The store, for one writer at a time."""
    try:
        folder.mkdir(parents=True, exist_ok=True)
    except OSError as error:
        raise BadInputError(
            f"there can be no index at {folder} ({error.strerror}): name a folder that is new or an index already."
        ) from error
    try:
        with FileLock(folder / "write.lock", timeout=0), closing(Store(folder / "store.sqlite")) as store:
            yield store
    except Timeout:
        raise IndexBusyError(
            f"another process is writing to {folder}: wait until it is done, then try again."
        ) from None


def _published(folder: Path) -> Manifest | None:
    """What is published now; a damaged generation counts as none, since it can be derived again."""
    try:
        return read_manifest(folder) if is_index(folder) else None
    except IndexDamagedError:
        return None


def _windows(items: Iterable[T], size: int) -> Iterator[list[T]]:
    iterator = iter(items)
    while window := list(islice(iterator, size)):
        yield window
