"""An index, as a program sees it: documents go in, passages and answers come out."""

import logging
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import TYPE_CHECKING

from triplebeam import assemble, support
from triplebeam.answer import Agent, Answer, Evidence, Run, Step
from triplebeam.assemble.context import Context
from triplebeam.assemble.method import Method, expand
from triplebeam.embed.embedder import Embedder
from triplebeam.errors import BadInputError, IndexMissingError, check_question
from triplebeam.explain.search_results import SearchResults
from triplebeam.extract.extractor import Extractor
from triplebeam.generate.language_model import LanguageModel
from triplebeam.index.folder.snapshot import Snapshot
from triplebeam.index.location import Location, parse_location
from triplebeam.index.protocols import PassageLookup, Source, SourceTriples
from triplebeam.index.store.lookup import has_store, read_index_corrections
from triplebeam.index.stores import is_published, open_source
from triplebeam.ingest import FolderFiles
from triplebeam.passage import Passage
from triplebeam.retrieve.retriever import Retriever, retrieve_many
from triplebeam.settings import Settings, read_settings
from triplebeam.system.cancellation import run_in_thread
from triplebeam.system.progress import Progress, ignore_progress
from triplebeam.where import Where, parse

if TYPE_CHECKING:
    from triplebeam.assemble.given_documents import Given
    from triplebeam.index.build.purge import PurgeReport
    from triplebeam.index.build.report import BuildReport
    from triplebeam.index.content.corrected import LineMatches

DEFAULT_METHOD = "blend"
DEFAULT_AGENT = "auto"


@dataclass(eq=False)
class Index:
    """An index in a folder or on a cluster, open for reading and writing; `triplebeam.create` and `triplebeam.open`
    return one.

    It reads the generation that was published when it was opened, or by its own last `add` or `remove`.
    """

    location: Location
    settings: Settings = field(repr=False)
    given_embedder: Embedder | None = field(default=None, repr=False)
    given_model: LanguageModel | None = field(default=None, repr=False)
    progress: Progress = field(default=ignore_progress, repr=False)
    _context: Context | None = field(default=None, init=False, repr=False)

    @classmethod
    def of(
        cls,
        source: Source,
        settings: Settings,
        embedder: Embedder | None = None,
        model: LanguageModel | None = None,
        progress: Progress = ignore_progress,
    ) -> "Index":
        """An index over a source that is already open."""
        index = cls(source.location, settings, embedder, model, progress)
        index._context = Context(source, settings, embedder, model, progress=progress)
        return index

    # -- what is in it

    @property
    def folder(self) -> Path:
        """The local folder with its documents."""
        return self.location.state

    @property
    def context(self) -> Context:
        """What methods are built from; an empty index has none."""
        if self._context is None:
            if has_store(self.folder) and not is_published(self.location):
                raise IndexMissingError(
                    f"the index at {self.location} is empty: add documents to it first; where indexing was stopped, run"
                    " the same `triplebeam index` again."
                )
            self._context = Context(
                open_source(self.location), self.settings, self.given_embedder, self.given_model, progress=self.progress
            )
        return self._context

    @property
    def source(self) -> Source:
        """The published generation that is read."""
        return self.context.source

    @property
    def snapshot(self) -> Snapshot:
        """The same with its graphs; an index on a cluster has these around passages or a question only."""
        return self.context.snapshot

    @property
    def passages(self) -> PassageLookup:
        """Passages by id."""
        return self.context.passages

    @property
    def triples(self) -> SourceTriples:
        """The graph of triples."""
        return self.context.triples

    @property
    def embedder(self) -> Embedder:
        """The embedder the index was built with, loaded when it is first needed."""
        return self.context.embedder

    @property
    def model(self) -> LanguageModel:
        """The language model that reasons and answers."""
        return self.context.model

    @property
    def reading_model(self) -> LanguageModel:
        """The language model that reads: the same, unless another is configured for it."""
        return self.context.reading_model

    @property
    def is_empty(self) -> bool:
        """Nothing has been added yet, or everything was removed."""
        return self._context is None and not is_published(self.location)

    def documents(self) -> list[str]:
        """The ids of the documents, in the order they were added."""
        return [] if self.is_empty else list(self.passages.document_ids)

    def __len__(self) -> int:
        return 0 if self.is_empty else len(self.passages)

    def __bool__(self) -> bool:
        """An empty index is still an index."""
        return True

    def __iter__(self) -> Iterator[Passage]:
        return iter(()) if self.is_empty else iter(self.passages)

    def where(self, where: str | Where) -> "Index":
        """A view of the passages for which a filter holds, such as ``year >= 2020 and source in ("a", "b")``.

        It is an index of these passages alone, for searching and asking with every method. It takes the vectors of the
        whole index over and encodes nothing. It can be filtered again, and not be written to.
        """
        made = replace(self)
        made._context = self.context.view(parse(where))
        return made

    @property
    def filter(self) -> str:
        """What holds for the passages of a view; empty for a whole index."""
        filters = self._context.filters if self._context else ()
        return str(filters[0]) if len(filters) == 1 else " and ".join(f"({each})" for each in filters)

    # -- documents in and out

    def add(
        self,
        documents: "str | Given | Iterable[Given]",
        *,
        extractor: str | Extractor | None = None,
        triples: str | Path | None = None,
        keywords: bool = False,
        split: bool = False,
        encoding: str | None = None,
        replace_triples: bool = False,
        follow_links: bool = False,
    ) -> "BuildReport":
        """Add documents, or update existing ones; unchanged documents are not processed again.

        ``documents`` is a path, as on the command line; or a list of `Path`s, rows (dicts with ``text``, optionally
        ``id`` and ``title``, and metadata), texts, or `Document`s. Texts and rows without an id are called text-1,
        text-2 and so on. Files that cannot be read are logged and listed in the report.
        ``extractor`` says where triples come from: local, llm, llm-two-step, none, or your own extractor; by default
        the index goes on with the one it was built with. ``triples`` is a file of existing triples. Triples that were
        given or paid for are replaced with ``replace_triples`` only. ``split`` also splits rows into passages;
        ``encoding`` is that of files of text, which is detected by default. Links that lead out of a folder are
        skipped, unless ``follow_links``.
        """
        self._check_writable()
        listed = assemble.as_list(documents)
        names = assemble.source_names(self.folder, (each for each in listed if isinstance(each, Path)))
        readings = assemble.read_given(listed, self.documents(), encoding, names, follow_links=follow_links)
        builder = assemble.index_builder(
            self.location,
            self.settings,
            extractor=extractor,
            triples=Path(triples) if triples else None,
            keywords=keywords,
            replace_triples=replace_triples,
            split=split,
            embedder=self.given_embedder,
            names=names,
            progress=self.progress,
        )
        report = builder.build(readings)
        self._reopen(builder.embedder)
        _log(report)
        return report

    def sync(
        self,
        *folders: str | Path,
        extractor: str | Extractor | None = None,
        encoding: str | None = None,
        dry_run: bool = False,
        follow_links: bool = False,
    ) -> "BuildReport":
        """Bring the index in step with folders: add what is new, read again what changed, remove what is gone.

        Only files whose size or time of change differs are read. A file that was renamed or moved keeps its triples.
        Documents from elsewhere are left alone. Links that lead out of a folder are skipped, unless ``follow_links``.
        With ``dry_run`` nothing is written: the report says what would be.
        """
        self._check_writable()
        paths = [Path(folder) for folder in folders]
        names = assemble.source_names(self.folder, paths)
        files = FolderFiles.of(paths, names, encoding, follow_links=follow_links)
        builder = assemble.index_builder(
            self.location,
            self.settings,
            extractor="none" if dry_run else extractor,
            embedder=self.given_embedder,
            names=names,
            progress=self.progress,
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
        self._check_writable()
        if self.is_empty:
            raise BadInputError(f"there is no document to remove: the index at {self.location} is empty.")
        known = assemble.known_documents(self.folder, self.passages, documents)
        builder = assemble.index_builder(self.location, self.settings, extractor="none", embedder=self.given_embedder)
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
        self._check_writable()
        read = assemble.read_corrections(corrections)
        if not dry_run:
            builder = assemble.index_builder(
                self.location, self.settings, extractor="none", embedder=self.given_embedder
            )
            builder.correct(read)
            self._reopen(builder.embedder)
        return assemble.correction_matches(self.folder, read)

    def corrections(self) -> str:
        """The corrections of the index, as JSON lines."""
        self._check_writable()
        return read_index_corrections(self.folder).text

    def compact(self) -> "PurgeReport":
        """Rewrite the files so that no byte of what was removed is left, and forget cached replies about it."""
        self._check_writable()
        done = assemble.purge_index(self.location, self.settings)
        if self._context is not None:
            self._reopen(self._context.embedder)
        return done

    def _check_writable(self) -> None:
        if self.filter:
            raise BadInputError(f"this is a view of {self.location}, filtered by {self.filter!r}: open the index.")

    def _reopen(self, embedder: Embedder) -> None:
        """Read what was just published, with the embedder that is loaded already."""
        if self._context is not None:
            self._context.release()
        self.given_embedder, self._context = embedder, None
        if is_published(self.location):
            _ = self.context

    # -- passages and answers out

    def search(
        self,
        question: str,
        method: str | Method | Retriever = DEFAULT_METHOD,
        k: int = 10,
        *,
        where: str | Where | None = None,
    ) -> SearchResults:
        """The best k passages for a question, with their texts, among those for which the filter ``where`` holds.

        ``method`` may be a retriever of your own, too; where there is a filter, it is to be built over that view.
        """
        return self.search_many([question], method, k, where=where)[0]

    def search_many(
        self,
        questions: Sequence[str],
        method: str | Method | Retriever = DEFAULT_METHOD,
        k: int = 10,
        *,
        where: str | Where | None = None,
    ) -> list[SearchResults]:
        """What `search` returns for each question, apart from the rounding of scores; several times faster together."""
        for question in questions:
            check_question(question)
        if where is not None:
            return self.where(where).search_many(questions, method, k)
        if k < 1:
            raise BadInputError(f"k is {k}: ask for at least one passage.")
        retriever = self.retriever(method) if isinstance(method, str | Method) else method
        name = str(method) if isinstance(method, str | Method) else type(method).__name__
        rankings = retrieve_many(retriever, questions, k)
        return [
            SearchResults(self.source, question, name, ranking)
            for question, ranking in zip(questions, rankings, strict=True)
        ]

    def ask(self, question: str, method: str | Method = DEFAULT_AGENT, *, where: str | Where | None = None) -> Answer:
        """The answer of an agent, with its evidence and its steps; it sees passages for which ``where`` holds alone."""
        return self.run(question, method, where=where).answer

    def ask_steps(
        self, question: str, method: str | Method = DEFAULT_AGENT, *, where: str | Where | None = None
    ) -> Iterator[Step | Answer]:
        """Each step as it happens, then the answer."""
        run = self.run(question, method, where=where)
        yield from run.steps
        yield run.answer

    def run(self, question: str, method: str | Method = DEFAULT_AGENT, *, where: str | Where | None = None) -> Run:
        """An agent at work on a question: its steps, its answer, and a way to stop it."""
        check_question(question)
        index = self if where is None else self.where(where)
        return index.agent(method).run(question)

    def find_fault(self, fact: Evidence) -> str | None:
        """Say why the words that a fact quotes do not support it; None if they do. See `Answer.verify`."""
        if fact.span is None:
            return "the answer quotes nothing that supports it"
        if fact.span.passage_id not in self.passages:
            return f"the index has no passage {fact.span.passage_id!r}"
        support.prepare(self.settings.home, offline=self.settings.offline, progress=self.progress)
        return support.fault_of(fact.triple, fact.span, self.passages[fact.span.passage_id], fact.statement)

    async def search_async(
        self,
        question: str,
        method: str | Method = DEFAULT_METHOD,
        k: int = 10,
        *,
        where: str | Where | None = None,
    ) -> SearchResults:
        """`search` for asyncio: in a thread; cancelling the task stops calls to a language model."""
        return await run_in_thread(lambda: self.search(question, method, k, where=where))

    async def ask_async(
        self, question: str, method: str | Method = DEFAULT_AGENT, *, where: str | Where | None = None
    ) -> Answer:
        """`ask` for asyncio: in a thread; cancelling the task stops calls to a language model."""
        return await run_in_thread(lambda: self.ask(question, method, where=where))

    # -- methods by name

    def retriever(self, method: str | Method = DEFAULT_METHOD) -> Retriever:
        """The retriever with that name, such as ``hybrid+naive_ge[scorer=exact]``; built once and kept."""
        return Method.parse(method).retriever(self.context)

    def expand(self, base: Retriever, expansion: str = "naive_ge") -> Retriever:
        """Your own retriever, made multi-hop by ``naive_ge``, ``sync_ge[base_k=10]`` or another expansion."""
        return expand(self.context, base, expansion)

    def agent(self, method: str | Method = DEFAULT_AGENT, base: Retriever | None = None) -> Agent:
        """The agent with that name: ``agent``, ``agent:bm25``, ``gear[max_steps=2]:hybrid``, ``single_step``, ``auto``.

        Your own ``base`` replaces the one after the colon.
        """
        return Method.parse(method).build_agent(self.context, base)


def open_index(
    place: str | Path | Location,
    *,
    embedder: Embedder | None = None,
    model: LanguageModel | None = None,
    settings: Settings | None = None,
    progress: Progress = ignore_progress,
) -> Index:
    """Open an index: a folder, or an address such as ``opensearch://host:9200/prefix``.

    Pass your own ``embedder`` or ``model`` to use it instead of the configured one.
    """
    settings = settings or read_settings()
    index = Index(parse_location(place, settings.state), settings, embedder, model, progress)
    if not has_store(index.folder) or is_published(index.location):
        _ = index.context  # what is wrong with it is said now
    return index


def create_index(
    place: str | Path | Location,
    *,
    embedder: Embedder | None = None,
    model: LanguageModel | None = None,
    settings: Settings | None = None,
    progress: Progress = ignore_progress,
) -> Index:
    """Create an empty index in a new or empty folder; `Index.add` adds documents."""
    settings = settings or read_settings()
    index = Index(parse_location(place, settings.state), settings, embedder, model, progress)
    if has_store(index.folder) or is_published(index.location):
        there = str(index.location)
        raise BadInputError(f"there is an index at {there} already: open it with triplebeam.open({there!r}).")
    assemble.create_empty_index(index.folder)
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
