"""What the adapters to other libraries share: our results for them, and a search of the user's own as a base of ours.

Graph methods need passage ids of the index, best first, and nothing else: fusion counts ranks, not scores. A document
of another library is the passage whose id it carries, or else the one with exactly its text.
"""

from collections.abc import Callable, Container, Iterable, Sequence
from dataclasses import dataclass, field
from functools import cached_property
from pathlib import Path
from typing import TypeAlias

from triplebeam.assemble import IndexReader, open_index
from triplebeam.errors import BadInputError
from triplebeam.explain.search_results import SearchResult
from triplebeam.passage import Passage
from triplebeam.ranking import Hit, Ranking

#: Given a query and k, the ids of passages, best first.
Search: TypeAlias = Callable[[str, int], Iterable[str]]
#: Where passages are known from: an open index, or the passages themselves.
Source: TypeAlias = IndexReader | Sequence[Passage]

_MAX_CHARACTERS_SHOWN = 60


def metadata_of(found: SearchResult) -> dict[str, object]:
    """All but the text, as JSON values; the document's own metadata first."""
    return {
        **found.passage.metadata,
        "id": found.passage.id,
        "title": found.passage.title,
        "document_id": found.passage.document_id,
        "score": found.score,
        "chains": [[list(triple) for triple in chain] for chain in found.chains],
    }


def open_or_keep(index: IndexReader | str | Path) -> IndexReader:
    """Return an open index as it is; open an index folder."""
    return index if isinstance(index, IndexReader) else open_index(index)


@dataclass(frozen=True)
class OwnRetriever:
    """A search as a retriever: the n-th passage has score 1/n; a repeated passage counts once, where it came first."""

    name: str
    search: Search = field(repr=False)

    def retrieve(self, query: str, k: int = 10) -> Ranking:
        """Return the first k passages of the search."""
        ids = list(dict.fromkeys(self.search(query, k)))[:k]
        return Ranking(Hit(passage_id, 1 / rank) for rank, passage_id in enumerate(ids, start=1))


def from_function(search: Search, source: Source) -> OwnRetriever:
    """Use a function that returns passage ids, best first, as a base. An id that is not in the index is an error."""
    known = KnownPassages(source)
    name = getattr(search, "__name__", type(search).__name__)
    return OwnRetriever(name, lambda query, k: [known.find([passage_id]) for passage_id in search(query, k)])


@dataclass(frozen=True)
class KnownPassages:
    """Which passage of the index a document of another library is."""

    source: Source = field(repr=False)
    id_key: str = "id"
    """Where a document's metadata hold the id of its passage."""

    def find(self, ids: Sequence[object], text: str | None = None) -> str:
        """Return the first id that the index has, else that of the passage of this text, with its title or without."""
        for given in ids:
            if given is not None and str(given) in self._ids:
                return str(given)
        found = None if text is None else self._ids_by_text.get(text.strip())
        if found is None:
            raise BadInputError(self._not_found(ids, text))
        return found

    @cached_property
    def _ids(self) -> Container[str]:
        # A set answers whether an id is known, and nothing is taken from its order.
        return self.source.passages if isinstance(self.source, IndexReader) else {p.id for p in self.source}

    @cached_property
    def _ids_by_text(self) -> dict[str, str]:
        """Read only where a document carries no id we know. Of two passages that say the same, the first is taken."""
        ids: dict[str, str] = {}
        for passage in self.source:
            ids.setdefault(passage.text.strip(), passage.id)
            ids.setdefault(passage.searchable.strip(), passage.id)
        return ids

    def _not_found(self, ids: Sequence[object], text: str | None) -> str:
        named = ", ".join(repr(each) for each in ids if each is not None) or "none"
        if text is None:
            return f"your search gave the id {named}, which no passage of this index has: give ids that were indexed."
        shown = text if len(text) <= _MAX_CHARACTERS_SHOWN else text[:_MAX_CHARACTERS_SHOWN] + " …"
        return (
            f"your retriever gave the document {shown!r} (ids: {named}), which is no passage of this index: put the"
            f" passage's id into its metadata under {self.id_key!r}, or index the same texts."
        )
