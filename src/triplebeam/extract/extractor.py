"""What every extractor offers, and what it returns."""

from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass
from typing import Protocol

from triplebeam.passage import Passage
from triplebeam.text.characters import replace_unstorable
from triplebeam.triple import Triple


@dataclass(frozen=True, slots=True, kw_only=True)
class Extraction:
    """What was extracted from one passage, or why nothing was.

    ``rejected`` are triples that cannot be used (an empty part): quarantined and counted, never silently dropped.
    """

    passage_id: str
    triples: tuple[Triple, ...] = ()
    entities: tuple[str, ...] = ()
    rejected: tuple[tuple[str, ...], ...] = ()
    failure: str | None = None
    unread_language: str | None = None
    """The code (``de``, ``zh``) of a language that the extractor does not read: nothing was extracted, and why."""
    known: bool = True
    """False: the extractor knows nothing about this passage, so earlier extractions stay."""


#: Part of the name of an extractor whose entities are a model's keywords.
KEYWORDS_MARK = "+keywords:"


def kind_of(name: str) -> str:
    """Return an extractor's name without versions and models: local, llm, llm-two-step, given, or your own."""
    return name.partition(KEYWORDS_MARK)[0].partition(":")[0]


class Extractor(Protocol):
    """Extracts triples from passages. ``name`` (with a version) is recorded for every passage it extracts."""

    @property
    def name(self) -> str:
        """Kind and version: another name means that passages are extracted again."""
        ...

    def extract(self, passages: Iterable[Passage]) -> Iterator[Extraction]:
        """One extraction per passage, in order, as they are ready."""
        ...


def sort_out(passage_id: str, rows: Sequence[Sequence[str]], entities: Sequence[str] = ()) -> Extraction:
    """Keep the rows that are triples with no empty part, once each; reject the others."""
    triples: dict[Triple, None] = {}
    rejected = []
    for row in rows:
        parts = tuple(replace_unstorable(part).strip() for part in row)
        if len(parts) == 3 and all(parts):
            triples[Triple(*parts)] = None
        else:
            rejected.append(tuple(row))
    return Extraction(
        passage_id=passage_id,
        triples=tuple(triples),
        entities=tuple(dict.fromkeys(map(replace_unstorable, entities))),
        rejected=tuple(rejected),
    )
