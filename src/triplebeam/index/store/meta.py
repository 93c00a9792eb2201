"""Values that a store keeps for the index as a whole, under names."""

import json
import secrets
import sqlite3
from collections.abc import Mapping
from dataclasses import dataclass

from triplebeam.index.manifest import MAX_PASSAGES, VectorSpace
from triplebeam.index.store.corrections import Corrections, parse_corrections


@dataclass(frozen=True)
class MetaTable:
    """Reads and writes the table ``meta``."""

    db: sqlite3.Connection

    def get(self, key: str) -> str | None:
        """Return a value."""
        row = self.db.execute("SELECT value FROM meta WHERE key = ?", (key,)).fetchone()
        return row[0] if row else None

    def set(self, key: str, value: str) -> None:
        """Keep a value."""
        self.db.execute("INSERT INTO meta VALUES (?, ?) ON CONFLICT DO UPDATE SET value = excluded.value", (key, value))

    @property
    def revision(self) -> int:
        """Another number after every change of what is searched; a generation records the one it was made from.

        It is random, so that a store that was restored from a copy and changed since is not taken for the published.
        """
        return int(self.get("revision") or 0)

    def mark_changed(self) -> None:
        """Choose another revision."""
        self.set("revision", str(secrets.randbits(53)))

    @property
    def embedder(self) -> VectorSpace | None:
        """The space of the index; None while nothing was indexed."""
        space = self.get("embedder")
        return VectorSpace.model_validate_json(space) if space else None

    def set_embedder(self, space: VectorSpace) -> None:
        """Keep the space of a new index."""
        self.set("embedder", space.model_dump_json())

    @property
    def keyword_passages(self) -> int:
        """A keyword of more passages than this makes no edges between them; 0: every keyword does."""
        return int(self.get("keyword_passages") or MAX_PASSAGES)

    @property
    def tuned_share(self) -> float | None:
        """How much walks count in the default search, where `triplebeam tune` chose it."""
        value = self.get("tuned_share")
        return float(value) if value else None

    def tune(self, share: float | None) -> None:
        """Keep a chosen share, or None to go by the ownership again. What is searched does not change."""
        self.set("tuned_share", "" if share is None else str(share))

    @property
    def extractor(self) -> str | None:
        """The extractor that new passages go to: the one last chosen. Given triples are for the passages they name."""
        return self.get("extractor")

    def choose_extractor(self, name: str) -> None:
        """Choose the extractor of new passages."""
        if self.extractor != name:
            self.set("extractor", name)
            self.mark_changed()

    @property
    def corrections(self) -> Corrections:
        """What a person corrected."""
        return parse_corrections(self.get("corrections") or "")

    def set_corrections(self, corrections: Corrections) -> None:
        """Keep other corrections."""
        self.set("corrections", corrections.text)

    @property
    def source_names(self) -> dict[str, str]:
        """The names of sources by their absolute paths; see `triplebeam.ingest.SourceNames`."""
        return dict(json.loads(self.get("source_names") or "{}"))

    def set_source_names(self, names: Mapping[str, str]) -> None:
        """Keep under which names files and folders were indexed."""
        self.set("source_names", json.dumps(dict(names)))
