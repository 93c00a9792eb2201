"""What methods are built from: an open index, its embedder, the language models and the settings."""

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from functools import cached_property
from pathlib import Path
from threading import Lock

from triplebeam import support
from triplebeam.assemble.models import make_embedder, make_model
from triplebeam.embed.embedder import CachedEmbedder, Embedder
from triplebeam.generate.accounting import Accounted
from triplebeam.generate.language_model import LanguageModel
from triplebeam.index.folder.snapshot import Snapshot, view
from triplebeam.index.source import PassageLookup, Query, Source, SourceTriples
from triplebeam.retrieve.question_parts import clauses
from triplebeam.retrieve.retriever import Retriever
from triplebeam.settings import Settings
from triplebeam.system.work import Progress, ignore_progress
from triplebeam.where import Where

#: Retrievers kept per context. There is no end of those one can write with parameters in brackets.
_MAX_CACHED_RETRIEVERS = 32
#: Passages of all views that are kept, as a multiple of the passages of their index: that is what they cost in memory.
MAX_CACHED_RATIO = 2
#: Views that are kept, however few passages they have.
MAX_VIEWS = 256
#: Views that are kept of an index on a cluster. They have no passages of their own, but each keeps neighbourhoods.
_MAX_CLUSTER_VIEWS = 16
#: Neighbourhoods that are kept: an agent may come back to a query.
_MAX_NEIGHBOURHOODS = 8


@dataclass(frozen=True)
class Context:
    """Loads the embedder and connects to the models when a method first needs them."""

    source: Source
    settings: Settings
    given_embedder: Embedder | None = None
    given_model: LanguageModel | None = None
    progress: Progress = field(default=ignore_progress, repr=False)
    query_entities: Path | None = None
    """A file with the entities of questions, for ``entities=given``."""
    always_answer: bool = False
    """Whether the last reading of every agent has to answer, as in the papers' experiments."""
    gold: Mapping[str, Sequence[str]] = field(default_factory=dict, repr=False)
    """The gold passages of questions, for the upper bound ``gold``: known in an evaluation only."""
    whole: "Context | None" = field(default=None, repr=False)
    """Of a view: the context of all passages, whose models it shares."""
    _retrievers: dict[str, Retriever] = field(default_factory=dict, init=False, repr=False, compare=False)
    filters: tuple[Where, ...] = ()
    """Of a view: what holds for its passages."""
    _views: "dict[tuple[Where, ...], _View]" = field(default_factory=dict, init=False, repr=False, compare=False)
    _nearby: "dict[str, Context]" = field(default_factory=dict, init=False, repr=False, compare=False)
    _keeping: Lock = field(default_factory=Lock, init=False, repr=False, compare=False)

    @property
    def snapshot(self) -> Snapshot:
        """The graphs of the whole index; where it does not have them in memory, that is an error: see `around`."""
        return self.source.graph()

    @property
    def passages(self) -> PassageLookup:
        """Passages by id."""
        return self.source.passages

    @property
    def triples(self) -> SourceTriples:
        """The graph of triples."""
        return self.source.triples

    @property
    def filter_text(self) -> str:
        """What holds for the passages of a view; empty for a whole index."""
        return str(self.filters[0]) if len(self.filters) == 1 else " and ".join(f"({each})" for each in self.filters)

    @property
    def seed(self) -> int:
        """The seed of agents that sample: the settings', else one that never changes."""
        return self.settings.seed or 0

    @cached_property
    def embedder(self) -> Embedder:
        """The embedder the index was built with; it remembers recent texts."""
        if self.whole:
            return self.whole.embedder
        space = self.source.manifest.embedder
        embedder = self.given_embedder or make_embedder(
            self.settings.embedder or space.name, self.settings, self.progress
        )
        space.check(embedder)
        return CachedEmbedder(embedder)

    @cached_property
    def model(self) -> LanguageModel:
        """The language model that reasons and answers; its calls count towards the open accounts."""
        if self.whole:
            return self.whole.model
        # What it reads is checked.
        support.prepare(self.settings.home, offline=self.settings.offline, progress=self.progress)
        return Accounted(self.given_model) if self.given_model else make_model(self.settings)

    @cached_property
    def reading_model(self) -> LanguageModel:
        """The language model that reads: the same, unless another is configured for it."""
        if self.whole:
            return self.whole.reading_model
        if self.given_model or self.settings.endpoint("reading") == self.settings.endpoint("answering"):
            return self.model  # one client, so that the limits on requests hold for both
        return make_model(self.settings, "reading")

    def once(self, name: str, make: Callable[[], Retriever]) -> Retriever:
        """Return the retriever of that name, made at first use and kept: some compute a matrix."""
        if (known := self._retrievers.get(name)) is not None:
            return known
        while len(self._retrievers) >= _MAX_CACHED_RETRIEVERS:  # other threads may do the same
            self._retrievers.pop(next(iter(tuple(self._retrievers)), name), None)
        return self._retrievers.setdefault(name, make())

    def view(self, where: Where) -> "Context":
        """Return the same over the passages for which a filter holds; the latest views are kept.

        A view of a folder takes up to a second: whoever asks for one that is being made waits for it.
        """
        whole, filters = self.whole or self, (*self.filters, where)
        found = whole._views.get(filters) or _View(whole, filters, *self._visible(where))
        with whole._keeping:
            kept = whole._views.pop(filters, found)
            whole._views[filters] = kept  # behind the others: it was used last
            while len(whole._views) > 1 and (
                sum(view.size for view in whole._views.values()) > MAX_CACHED_RATIO * len(whole.passages)
                or len(whole._views) > MAX_VIEWS
            ):
                whole._views.pop(next(iter(whole._views))).release()
        return kept.context()

    def around(self, query: str) -> "Context":
        """Return the same over the graphs near a query; the latest are kept."""
        if (known := self._nearby.get(query)) is not None:
            return known
        parts = clauses(query)
        vector = self.embedder.embed([query, *parts], kind="query")[0]
        made = self.over(self.source.graph(Query(query, vector, parts)))
        while len(self._nearby) >= _MAX_NEIGHBOURHOODS:  # other threads may do the same, and remove this one, too
            self._nearby.pop(next(iter(tuple(self._nearby)), query), None)
        self._nearby[query] = made
        return made

    def over(self, source: Source) -> "Context":
        """Return the same models over another source."""
        return replace(self, source=source, whole=self.whole or self)

    def release(self) -> None:
        """Forget all views and retrievers. What they hold is freed when the last search that uses them ends.

        They refer to this context and it to them, so that otherwise it would be freed by a garbage collection at some
        later time.
        """
        with self._keeping:
            views = list(self._views.values())
            self._views.clear()
        for each in views:
            each.release()
        self._retrievers.clear()
        self._nearby.clear()

    def _visible(self, where: Where) -> tuple[int, Callable[[], Source]]:
        """Return what a filter leaves: its passages in memory, about, and what makes its source."""
        if isinstance(seen := self.source, Snapshot):
            rows = seen.passages.find_rows(where)
            whole, rows = (seen, rows) if seen.whole is None else (seen.whole, seen.rows[rows])
            return len(rows), lambda: view(whole, rows)
        visible, passages = seen.filter(where), len((self.whole or self).passages)
        return max(1, MAX_CACHED_RATIO * passages // _MAX_CLUSTER_VIEWS), lambda: visible


@dataclass(eq=False)
class _View:
    """A view that is made when it is first needed, once."""

    whole: Context
    filters: tuple[Where, ...]
    size: int
    """How many passages it is counted as."""
    make: Callable[[], Source]
    _context: Context | None = None
    _making: Lock = field(default_factory=Lock)

    def context(self) -> Context:
        with self._making:
            if self._context is None:
                self._context = replace(self.whole, source=self.make(), whole=self.whole, filters=self.filters)
            return self._context

    def release(self) -> None:
        """Forget what its context keeps."""
        if context := self._context:
            context.release()
