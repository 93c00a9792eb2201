"""Extractions on their way through shards: from the store of one machine to the build of another."""

import json
import logging
from collections.abc import Iterable, Iterator
from dataclasses import dataclass, field

from triplebeam.extract.extractor import Extraction, Extractor
from triplebeam.index.keys import as_keys, key_of
from triplebeam.index.shards import Shards
from triplebeam.index.store import Store
from triplebeam.passage import Passage
from triplebeam.triple import Triple

_LOG = logging.getLogger("triplebeam")


@dataclass(frozen=True)
class TakenExtractions:
    """An extractor that takes from shards what is there, and leaves other passages to the extractor it replaces."""

    extractor: Extractor
    shards: Shards = field(repr=False)

    def __post_init__(self) -> None:
        others = self.shards.extractors() - {self.name}
        if others:
            _LOG.warning(
                "%s has extractions of %s, which are not taken: this run extracts with %s.",
                *(self.shards.folder, " and ".join(sorted(others)), self.name),
            )

    @property
    def name(self) -> str:
        """That of the extractor: what is taken was made by it, too."""
        return self.extractor.name

    def extract(self, passages: Iterable[Passage]) -> Iterator[Extraction]:
        """One extraction per passage, in order."""
        listed = list(passages)
        rows = self.shards.extractions(as_keys(passage_key(self.name, passage) for passage in listed))
        others = iter(self.extractor.extract(each for place, each in enumerate(listed) if place not in rows))
        for place, passage in enumerate(listed):
            yield _extraction(passage.id, rows[place]) if place in rows else next(others)


def passage_key(extractor: str, passage: Passage) -> bytes:
    """The key of what an extractor finds in a passage: it sees a title, a section and a text."""
    return key_of(extractor, passage.title, passage.section, passage.text)


def stored_rows(store: Store, extractor: str) -> Iterator[tuple[bytes, str]]:
    """What an extractor found in each passage of a store, by key, as JSON. Failures are left out: they are retried."""
    made_by, languages = store.extracted_by(), dict(store.db.execute("SELECT number, unread_language FROM passage"))
    triples = _by_passage(store, "SELECT passage, subject, predicate, object FROM triple ORDER BY number")
    entities = _by_passage(store, "SELECT passage, name FROM entity ORDER BY rowid")
    rejected = _by_passage(store, "SELECT passage, parts FROM rejected ORDER BY rowid")
    for number, passage in store.passages():
        if made_by.get(number) == extractor:
            row = {
                "triples": triples.get(number, []),
                "entities": [name for (name,) in entities.get(number, [])],
                "rejected": [json.loads(parts) for (parts,) in rejected.get(number, [])],
                "unread_language": languages[number],
            }
            yield passage_key(extractor, passage), json.dumps(row)


def _by_passage(store: Store, select: str) -> dict[int, list[tuple[str, ...]]]:
    rows: dict[int, list[tuple[str, ...]]] = {}
    for number, *columns in store.db.execute(select):
        rows.setdefault(number, []).append(tuple(columns))
    return rows


def _extraction(passage_id: str, row: str) -> Extraction:
    found = json.loads(row)
    return Extraction(
        passage_id=passage_id,
        triples=tuple(Triple(*triple) for triple in found["triples"]),
        entities=tuple(found["entities"]),
        rejected=tuple(map(tuple, found["rejected"])),
        unread_language=found["unread_language"],
        taken=True,
    )
