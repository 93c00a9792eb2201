"""What is counted in a store, for the manifest and for reports."""

import sqlite3
from dataclasses import dataclass


@dataclass(frozen=True)
class Statistics:
    """Counts of what is in the store now."""

    db: sqlite3.Connection

    def counts(self) -> dict[str, int]:
        """How many there are of each kind."""
        queries = {
            "documents": "SELECT count(*) FROM document",
            "passages": "SELECT count(*) FROM passage",
            "triples": "SELECT count(*) FROM triple",
            "passages_without_extraction": "SELECT count(*) FROM passage WHERE extractor IS NULL",
            "passages_failed": "SELECT count(*) FROM passage WHERE failure IS NOT NULL",
            "passages_without_triples": "SELECT count(*) FROM passage p WHERE extractor IS NOT NULL AND failure IS NULL"
            " AND NOT EXISTS (SELECT 1 FROM triple t WHERE t.passage = p.number)",
            "triples_rejected": "SELECT count(*) FROM rejected",
        }
        return {name: self.db.execute(query).fetchone()[0] for name, query in queries.items()}

    def unread_languages(self) -> dict[str, int]:
        """How many passages there are in each language that their extractor does not read, the commonest first."""
        return dict(
            self.db.execute(
                "SELECT unread_language, count(*) FROM passage WHERE unread_language IS NOT NULL"
                " GROUP BY 1 ORDER BY 2 DESC, 1"
            )
        )

    def failures(self) -> list[tuple[str, str]]:
        """Passages whose extraction failed, with the reason."""
        return self.db.execute("SELECT id, failure FROM passage WHERE failure IS NOT NULL ORDER BY number").fetchall()
