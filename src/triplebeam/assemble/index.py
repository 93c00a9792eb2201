"""An index, as a program sees it: documents go in, passages and answers come out."""

import logging
from collections.abc import Iterable, Iterator, Mapping
from pathlib import Path
from typing import TYPE_CHECKING, TypedDict, Unpack

from triplebeam import assemble, ingest
from triplebeam.assemble.context import Context
from triplebeam.assemble.models import is_published, open_source
from triplebeam.assemble.reader import IndexReader
from triplebeam.embed.embedder import Embedder
from triplebeam.errors import BadInputError, IndexMissingError
from triplebeam.extract.extractor import Extractor
from triplebeam.generate.language_model import LanguageModel
from triplebeam.index.location import Location, parse_location
from triplebeam.index.store.tables import has_store
from triplebeam.passage import Document, Passage
from triplebeam.settings import Settings, read_settings
from triplebeam.system.work import Progress, ignore_progress

if TYPE_CHECKING:
    from triplebeam.index.build.intake import BuildReport
    from triplebeam.index.build.writing import PurgeReport
    from triplebeam.index.content.corrected import LineMatches
    from triplebeam.ingest import Reading, SourceNames


class BuildOptions(TypedDict, total=False):
    """What `Index.add`, `Index.add_texts` and `Index.add_documents` take, too."""

    extractor: str | Extractor | None
    """Where triples come from: local, llm, llm-two-step, none, or your own extractor; by default the index goes on with
    the one it was built with."""
    triples: str | Path | None
    """A file of existing triples."""
    replace_triples: bool
    """Also replace triples that were given or paid for."""
    keywords: bool
    """Also ask the model for the keywords of each passage."""
    split: bool
    """Also split rows into passages."""


class Index(IndexReader):
    """An index in a folder or on a cluster, open for reading and writing.

    ``Index(path)`` opens the index at a path; where there is none, the first `add` creates it. `triplebeam.open` raises
    an error where there is none. An index reads the generation that was published when it was opened, or by its own
    last change.
    """

    def __init__(
        self,
        location: str | Path | Location,
        *,
        embedder: Embedder | None = None,
        model: LanguageModel | None = None,
        settings: Settings | None = None,
        progress: Progress = ignore_progress,
    ) -> None:
        """Name a folder, or an address such as ``opensearch://host:9200/prefix``.

        Pass your own ``embedder`` or ``model`` to use it instead of the configured one.
        """
        self.settings = settings or read_settings()
        self.location = parse_location(location, self.settings.state)
        self._embedder, self._model, self._progress = embedder, model, progress
        self._opened = None

    def __len__(self) -> int:
        return 0 if self._is_empty else len(self.passages)

    def __iter__(self) -> Iterator[Passage]:
        return iter(()) if self._is_empty else iter(self.passages)

    def add(
        self,
        paths: str | Path | Iterable[str | Path],
        *,
        encoding: str | None = None,
        follow_links: bool = False,
        **options: Unpack[BuildOptions],
    ) -> "BuildReport":
        """Add files and folders, as on the command line, or update them; unchanged files are not processed again.

        Files that cannot be read are logged and listed in the report. ``encoding`` is that of files of text, which is
        detected by default. Links that lead out of a folder are skipped, unless ``follow_links``. See `BuildOptions`.
        """
        listed = assemble.list_paths(paths)
        names = assemble.source_names(self.location.state, listed)
        return self._build(assemble.read_paths(listed, encoding, names, follow_links=follow_links), names, **options)

    def add_texts(self, texts: str | Iterable[str], **options: Unpack[BuildOptions]) -> "BuildReport":
        """Add texts. They are called text-1, text-2 and so on. See `BuildOptions`."""
        return self._build(assemble.read_texts(texts, self._document_ids()), **options)

    def add_documents(
        self,
        documents: Document | Mapping[str, object] | Iterable[Document | Mapping[str, object]],
        **options: Unpack[BuildOptions],
    ) -> "BuildReport":
        """Add `Document`s or rows, which are dicts with ``text``, optionally ``id`` and ``title``, and metadata.

        Rows without an id are called text-1, text-2 and so on. See `BuildOptions`.
        """
        return self._build(assemble.read_documents(documents, self._document_ids()), **options)

    def sync(
        self,
        *folders: str | Path,
        extractor: str | Extractor | None = None,
        encoding: str | None = None,
        dry_run: bool = False,
        follow_links: bool = False,
    ) -> "BuildReport":
        """Synchronize the index with folders: add what is new, read again what changed, remove what is gone.

        Only files whose size or time of change differs are read. A file that was renamed or moved keeps its triples.
        Documents from elsewhere are left alone. Links that lead out of a folder are skipped, unless ``follow_links``.
        With ``dry_run`` nothing is written: the report says what would be.
        """
        paths = [Path(folder) for folder in folders]
        names = assemble.source_names(self.location.state, paths)
        files = ingest.FolderFiles.of(paths, names, encoding, follow_links=follow_links)
        builder = assemble.index_builder(
            self.location,
            self.settings,
            extractor="none" if dry_run else extractor,
            embedder=self._embedder,
            names=names,
            progress=self._progress,
        )
        if dry_run:
            return builder.preview(files)
        report = builder.sync(files)
        self._reopen(builder.embedder)
        _log(report)
        return report

    def remove(self, *documents: str | Path) -> "BuildReport":
        """Remove documents by id, or all that came from a folder. If one of them does not exist, that is an error and
        nothing is removed.
        """
        if self._is_empty:
            raise BadInputError(f"there is no document to remove: the index at {self.location} is empty.")
        known = assemble.known_documents(self.location.state, self.passages, documents)
        builder = assemble.index_builder(self.location, self.settings, extractor="none", embedder=self._embedder)
        report = builder.remove(known)
        self._reopen(builder.embedder)
        return report

    def correct(
        self, corrections: str | Path | Iterable[Mapping[str, object]], *, dry_run: bool = False
    ) -> "list[LineMatches]":
        """Keep corrections of triples with the index, instead of those it has, and apply them from now on.

        They are a file, by its path, or rows such as ``{"drop": ["Uranus", "is", "*"]}``; see
        `triplebeam.index.store.corrections`. No rows take all corrections back. Returns what each line concerns; with
        ``dry_run`` nothing is written.
        """
        read = assemble.read_corrections(corrections)
        if not dry_run:
            builder = assemble.index_builder(self.location, self.settings, extractor="none", embedder=self._embedder)
            builder.correct(read)
            self._reopen(builder.embedder)
        return assemble.correction_matches(self.location.state, read)

    def purge(self) -> "PurgeReport":
        """Rewrite the files so that no byte of what was removed is left, and forget cached replies about it."""
        done = assemble.purge_index(self.location, self.settings)
        if self._opened is not None:
            self._reopen(self._opened.embedder)
        return done

    def _build(
        self,
        readings: "Iterable[Reading]",
        names: "SourceNames | None" = None,
        **options: Unpack[BuildOptions],
    ) -> "BuildReport":
        builder = assemble.index_builder(
            self.location,
            self.settings,
            embedder=self._embedder,
            names=names,
            progress=self._progress,
            **options,
        )
        report = builder.build(readings)
        self._reopen(builder.embedder)
        _log(report)
        return report

    @property
    def _is_empty(self) -> bool:
        """Nothing has been added yet, or everything was removed."""
        return self._opened is None and not is_published(self.location)

    def _document_ids(self) -> Iterable[str]:
        return () if self._is_empty else self.passages.document_ids

    def _open(self) -> Context:
        if self._opened is None:
            if has_store(self.location.state) and not is_published(self.location):
                raise IndexMissingError(
                    f"the index at {self.location} is empty: add documents to it first; where indexing was stopped, run"
                    " the same `triplebeam index` again."
                )
            source = open_source(self.location)
            self._opened = Context(source, self.settings, self._embedder, self._model, progress=self._progress)
        return self._opened

    def _reopen(self, embedder: Embedder) -> None:
        """Read what was just published, with the embedder that is loaded already."""
        if self._opened is not None:
            self._opened.release()
        self._embedder, self._opened = embedder, None
        if is_published(self.location):
            self._open()


def open_index(
    location: str | Path | Location,
    *,
    embedder: Embedder | None = None,
    model: LanguageModel | None = None,
    settings: Settings | None = None,
    progress: Progress = ignore_progress,
) -> Index:
    """Open an index that exists; an error says what is wrong with it. See `Index` for the parameters."""
    index = Index(location, embedder=embedder, model=model, settings=settings, progress=progress)
    if not has_store(index.location.state) or is_published(index.location):
        index._open()
    return index


def _log(report: "BuildReport") -> None:
    """Log what was left out, for callers who do not look at the report."""
    log = logging.getLogger("triplebeam")
    for warning in report.warnings:
        log.warning("read in part: %s", warning)
    for unreadable in report.unreadable:
        log.warning("not indexed: %s", unreadable)
    for skipped in report.skipped:
        if skipped.reason:
            log.info("skipped: %s", skipped)
    if report.failures:
        log.warning("%s passages are without triples because their extraction failed.", f"{len(report.failures):,}")
