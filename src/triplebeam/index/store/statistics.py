"""What is counted in a store, for the manifest and for reports."""

import sqlite3
from dataclasses import dataclass

from triplebeam.text.language import is_language_throughout

#: A language of a smaller share of the passages is counted only where the detection is sure.
_MIN_SHARE = 0.05
_MAX_SAMPLE = 20


@dataclass(frozen=True)
class Statistics:
    """Counts of what is in the store now."""

    db: sqlite3.Connection

    def counts(self) -> dict[str, int]:
        """Count what there is of each kind."""
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

    def count_unread_languages(self) -> dict[str, int]:
        """Count the passages in each language that their extractor does not support, the most common first.

        A few passages of code or of names that look like a rare language do not make it one of the collection's.
        """
        counts = self.db.execute(
            "SELECT unread_language, count(*) FROM passage WHERE unread_language IS NOT NULL"
            " GROUP BY 1 ORDER BY 2 DESC, 1"
        ).fetchall()
        (passages,) = self.db.execute("SELECT count(*) FROM passage").fetchone()
        return {code: n for code, n in counts if n >= _MIN_SHARE * passages or self._is_sure(code)}

    def _is_sure(self, language: str) -> bool:
        """Return whether most of its first passages are in this language from beginning to end."""
        texts = self.db.execute(
            "SELECT substr(text, start + 1, stop - start) FROM passage JOIN document ON document.number = document"
            " WHERE unread_language = ? ORDER BY passage.number LIMIT ?",
            (language, _MAX_SAMPLE),
        )
        found = [is_language_throughout(text, language) for (text,) in texts]
        return 2 * sum(found) > len(found)

    def failures(self) -> list[tuple[str, str]]:
        """List passages whose extraction failed, with the reason."""
        return self.db.execute("SELECT id, failure FROM passage WHERE failure IS NOT NULL ORDER BY number").fetchall()
