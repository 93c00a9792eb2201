"""What methods are built from: a snapshot of an index, its embedder, the language models and the settings."""

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from functools import cached_property
from pathlib import Path
from threading import Lock

import numpy as np
from numpy.typing import NDArray

from triplebeam.assemble.models import make_embedder, make_model
from triplebeam.embed.cached import CachedEmbedder
from triplebeam.embed.embedder import Embedder
from triplebeam.errors import BadInputError
from triplebeam.generate.accounting import Accounted
from triplebeam.generate.language_model import LanguageModel
from triplebeam.index.folder.passages import PassageTable
from triplebeam.index.folder.snapshot import Snapshot
from triplebeam.index.folder.triple_graph import TripleGraph
from triplebeam.index.folder.view import view
from triplebeam.methods.shared.question_answering import AlwaysAnswerer
from triplebeam.retrieve.retriever import Retriever
from triplebeam.settings import Settings
from triplebeam.support import prepare
from triplebeam.system.progress import Progress, silent
from triplebeam.where import Where

#: Retrievers kept per context. There is no end of those one can write with parameters in brackets.
_KEPT = 32
#: The views that are kept have so many times the passages of their index together: that is what they cost in memory.
VIEWS_KEPT = 2
#: However few passages they have.
MAX_VIEWS = 256
#: Of an index on a cluster so many are kept. They have no passages of their own, but each keeps neighbourhoods.
_CLUSTER_VIEWS_KEPT = 16
#: Neighbourhoods that are kept: an agent may come back to a query.
_NEARBY_KEPT = 8


@dataclass(frozen=True)
class Context:
    """Loads the embedder and connects to the models when a method first needs them."""

    snapshot: Snapshot
    settings: Settings
    given_embedder: Embedder | None = None
    given_model: LanguageModel | None = None
    progress: Progress = field(default=silent, repr=False)
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
    def passages(self) -> PassageTable:
        """Passages by id."""
        return self.snapshot.passages

    @property
    def triples(self) -> TripleGraph:
        """The graph of triples."""
        return self.snapshot.triples

    @property
    def seed(self) -> int:
        """The seed of agents that sample: the settings', else one that never changes."""
        return self.settings.seed or 0

    @cached_property
    def embedder(self) -> Embedder:
        """The embedder the index was built with; it remembers recent texts."""
        if self.whole:
            return self.whole.embedder
        space = self.snapshot.manifest.embedder
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
        prepare(self.settings.home, offline=self.settings.offline, progress=self.progress)  # what it reads is checked
        return Accounted(self.given_model) if self.given_model else make_model(self.settings)

    @cached_property
    def answerer(self) -> AlwaysAnswerer | None:
        """What reads the answer of every agent, if it must answer; None: each agent's own."""
        return AlwaysAnswerer(model=self.model, passages=self.passages) if self.always_answer else None

    @cached_property
    def reading_model(self) -> LanguageModel:
        """The language model that reads: the same, unless another is configured for it."""
        if self.whole:
            return self.whole.reading_model
        if self.given_model or self.settings.endpoint("reading") == self.settings.endpoint("answering"):
            return self.model  # one client, so that the limits on requests hold for both
        return make_model(self.settings, "reading")

    def once(self, name: str, make: Callable[[], Retriever]) -> Retriever:
        """The retriever of that name, made at first use and kept: some compute a matrix."""
        if (known := self._retrievers.get(name)) is not None:
            return known
        while len(self._retrievers) >= _KEPT:  # other threads may do the same
            self._retrievers.pop(next(iter(tuple(self._retrievers)), name), None)
        return self._retrievers.setdefault(name, make())

    def view(self, where: Where) -> "Context":
        """The same over the passages for which a filter holds; the latest views are kept.

        A view of a folder takes up to a second: whoever asks for one that is being made waits for it.
        """
        whole, filters = self.whole or self, (*self.filters, where)
        found = whole._views.get(filters) or _View(whole, filters, *self._visible(where))
        with whole._keeping:
            kept = whole._views.pop(filters, found)
            whole._views[filters] = kept  # behind the others: it was used last
            while len(whole._views) > 1 and whole._has_too_many_views():
                whole._views.pop(next(iter(whole._views))).release()
        return kept.context()

    @property
    def is_remote(self) -> bool:
        """Whether the index is on a cluster, and its graphs are not in memory."""
        return self.snapshot.parts is not None

    def nearby(self, query: str) -> "Context":
        """Of an index on a cluster: the neighbourhood of a query, in memory; the latest are kept."""
        parts = self.snapshot.parts
        assert parts is not None
        if (known := self._nearby.get(query)) is not None:
            return known
        [vector] = self.embedder.embed([query], kind="query")
        made = self.over(parts.of_question(query, vector))
        while len(self._nearby) >= _NEARBY_KEPT:  # other threads may do the same, and remove this one, too
            self._nearby.pop(next(iter(tuple(self._nearby)), query), None)
        self._nearby[query] = made
        return made

    def over(self, snapshot: Snapshot) -> "Context":
        """The same models over another snapshot."""
        return replace(self, snapshot=snapshot, whole=self.whole or self)

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

    def _has_too_many_views(self) -> bool:
        sizes = [view.size for view in self._views.values()]
        return sum(sizes) > VIEWS_KEPT * len(self.passages) or len(sizes) > MAX_VIEWS

    def _visible(self, where: Where) -> tuple[int, Callable[[], Snapshot]]:
        """What a filter leaves: its passages in memory, about, and what makes its snapshot."""
        whole = self.whole or self
        if (parts := self.snapshot.parts) is not None:
            visible = parts.where(where)
            return max(1, VIEWS_KEPT * len(whole.passages) // _CLUSTER_VIEWS_KEPT), lambda: visible
        rows = self._rows(where)
        return len(rows), lambda: view(whole.snapshot, rows)

    def _rows(self, where: Where) -> NDArray[np.int64]:
        """What a filter leaves, by the rows of the whole index."""
        rows = visible_rows(self.passages, where)
        return self.snapshot.rows[rows] if self.whole else rows


@dataclass(eq=False)
class _View:
    """A view that is made when it is first needed, once."""

    whole: Context
    filters: tuple[Where, ...]
    size: int
    """How many passages it is counted as."""
    make: Callable[[], Snapshot]
    _context: Context | None = None
    _making: Lock = field(default_factory=Lock)

    def context(self) -> Context:
        with self._making:
            if self._context is None:
                self._context = replace(self.whole, snapshot=self.make(), whole=self.whole, filters=self.filters)
            return self._context

    def release(self) -> None:
        """Forget what its context keeps."""
        if context := self._context:
            context.release()


def visible_rows(passages: PassageTable, where: Where) -> NDArray[np.int64]:
    """The rows of the passages for which a filter holds; there must be one."""
    fields = list(passages.fields())
    known: dict[str, set[str]] = {}
    for each in fields:
        for name, value in each.items():
            known.setdefault(name, set()).add(value)
    where.check(known)
    rows = [row for row, each in enumerate(fields) if where.holds(each)]
    if not rows:
        meant = "".join(f" (did you mean {value!r}?)" for value in where.other_case(known)[:1])
        raise BadInputError(f"no passage matches the filter {str(where)!r}{meant}: change a value or drop a condition.")
    return np.array(rows, np.int64)
