"""Passages of a cluster by id or by number. What a search has just shown is not fetched again."""

from collections.abc import Iterable, Iterator, Sequence
from functools import cached_property

import numpy as np
from numpy.typing import NDArray

from triplebeam.errors import BadInputError
from triplebeam.index.opensearch.client import Json
from triplebeam.index.opensearch.documents import fields_of, key, passage_number, passage_of
from triplebeam.index.opensearch.generation import Published
from triplebeam.passage import Passage

#: Passages that are kept in memory.
_MAX_CACHED = 20_000


class ClusterPassages:
    """`PassageLookup` over a cluster. The row of a passage is its number; there are more numbers than passages."""

    def __init__(self, published: Published) -> None:
        self._published = published
        self._known: dict[int, Passage] = {}

    def __len__(self) -> int:
        return self._published.manifest.counts["passages"]

    def remember(self, sources: Sequence[Json]) -> None:
        """Keep what a search showed."""
        if len(self._known) > _MAX_CACHED:
            self._known.clear()
        self._known |= {source["number"]: passage_of(source) for source in sources}

    def rows(self, passage_ids: Iterable[str]) -> list[int]:
        """Return the numbers of these passages, which must be there: one request."""
        return [passage_number(passage.id) for passage in self.of(list(passage_ids))]

    def __getitem__(self, passage_id: str) -> Passage:
        return self.of([passage_id])[0]

    def __contains__(self, passage_id: object) -> bool:
        return isinstance(passage_id, str) and self._fetch_passages([passage_id])[0] is not None

    def of(self, passage_ids: Sequence[str]) -> list[Passage]:
        """Return the passages of these ids, which must be there."""
        found = self._fetch_passages(passage_ids)
        for passage_id, passage in zip(passage_ids, found, strict=True):
            if passage is None:
                raise BadInputError(
                    f"there is no passage {passage_id!r} in this index: ids must be those that were indexed."
                )
        return [passage for passage in found if passage is not None]

    def _fetch_passages(self, passage_ids: Sequence[str]) -> list[Passage | None]:
        known = dict(self._known)
        missing = [id_ for id_ in dict.fromkeys(passage_ids) if passage_number(id_) not in known]
        sources = [source for source in self._published.sources("passages", list(map(key, missing))) if source]
        self.remember(sources)
        known |= {source["number"]: passage_of(source) for source in sources}
        return [known.get(passage_number(id_)) for id_ in passage_ids]

    def ids(self, rows: Iterable[int] | NDArray[np.int64]) -> list[str]:
        """Return the ids of these numbers."""
        numbers = [int(row) for row in rows]
        known = dict(self._known)
        if missing := [number for number in dict.fromkeys(numbers) if number not in known]:
            body = {"query": {"terms": {"number": missing}}, "size": len(missing)}
            sources = [hit["_source"] for hit in self._published.search("passages", body)["hits"]["hits"]]
            known |= {source["number"]: passage_of(source) for source in sources}
            self.remember(sources)
        if not known.keys() >= set(numbers):
            raise self._published.make_changed_error()
        return [known[number].id for number in numbers]

    # -- all of them, which takes as long as there are many

    def __iter__(self) -> Iterator[Passage]:
        in_order = [{"document": "asc"}, {"position": "asc"}]
        return (passage_of(hit["_source"]) for hit in self._published.scan("passages", _source=True, sort=in_order))

    @cached_property
    def _listed(self) -> list[tuple[str, int, str, str]]:
        """Document, position, title and id of every passage, in their order."""
        hits = self._published.scan("passages", _source=["id", "document", "position", "content.title"])
        sources = (hit["_source"] for hit in hits)
        return sorted((each["document"], each["position"], each["content"]["title"], each["id"]) for each in sources)

    @cached_property
    def documents(self) -> Sequence[str]:
        """The document of every passage."""
        return [document for document, *_ in self._listed]

    @cached_property
    def titles(self) -> Sequence[str]:
        """The title of every passage."""
        return [title for _, _, title, _ in self._listed]

    @cached_property
    def document_ids(self) -> dict[str, None]:
        """The ids of the documents, in their order."""
        return dict.fromkeys(self.documents)

    def of_document(self, document_id: str) -> list[Passage]:
        """Return the passages of a document, in their order."""
        body = {"query": {"term": {"document": document_id}}, "size": 10_000, "sort": [{"position": "asc"}]}
        return [passage_of(hit["_source"]) for hit in self._published.search("passages", body)["hits"]["hits"]]

    def fields(self) -> Iterator[dict[str, str]]:
        """Return what filters compare, of every passage, in their order."""
        by_id = {passage.id: fields_of(passage) for passage in self}
        return (by_id[id_] for *_, id_ in self._listed)
