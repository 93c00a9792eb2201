"""What a build did, for whoever started it."""

from dataclasses import dataclass, field
from typing import TypeAlias

from triplebeam.index.manifest import Manifest
from triplebeam.ingest import Skipped, Unreadable

#: A passage's id, and why its extraction failed.
Failure: TypeAlias = tuple[str, str]


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
