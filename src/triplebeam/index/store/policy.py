"""Which triples stay when a passage meets another extractor. Those that were given or paid for are not replaced by
accident: not by an update, not by a new version of a prompt, and by another extractor only on request.
"""

import logging
from collections import Counter
from collections.abc import Iterable
from enum import StrEnum

from triplebeam.extract.extractor import KEYWORDS_MARK

_LOG = logging.getLogger("triplebeam")


class OverwritePolicy(StrEnum):
    """Which triples of other extractors an extractor replaces."""

    SAME = "older"
    """What an older version of the same extractor made: for an update that names no extractor."""
    LOCAL = "free"
    """Also what the local extractor made: for an extractor that is named."""
    ALL = "all"


def kind_of(name: str) -> str:
    """Return an extractor's name without versions and models: local, llm, llm-two-step, given, or your own."""
    return name.partition(KEYWORDS_MARK)[0].partition(":")[0]


def is_paid(name: str) -> bool:
    """Return whether an extractor of that name calls a language model."""
    return kind_of(name).startswith("llm") or KEYWORDS_MARK in name


def keep_existing(made_by: str, now: str, policy: OverwritePolicy) -> bool:
    """Tell whether the triples of a passage, made by one extractor, stay when another comes to it."""
    if policy == OverwritePolicy.ALL or kind_of(now) == "given":
        return False
    if now.startswith(made_by + KEYWORDS_MARK):  # the same triples, and keywords besides
        return policy == OverwritePolicy.SAME
    if kind_of(made_by) == kind_of(now):
        return is_paid(made_by)
    return policy == OverwritePolicy.SAME or kind_of(made_by) != "local" or is_paid(made_by)


def log_policy(kept: Iterable[str], replaced: Iterable[str], waiting: int, now: str, policy: OverwritePolicy) -> None:
    """Log, before the work starts, which triples stay and which are replaced; the names are those of extractors."""
    stay = Counter(map(kind_of, kept))
    go = Counter(kind_of(name) for name in replaced if keep_existing(name, now, OverwritePolicy.LOCAL))
    if go:
        _LOG.warning("The triples of %s are replaced: %s extracts them again.", _passages(go), kind_of(now))
    if stay and policy == OverwritePolicy.LOCAL:
        _LOG.warning(
            "The triples of %s stay, because they were given or paid for: --replace-triples extracts them again with"
            " %s.",
            _passages(stay),
            kind_of(now),
        )
    if stay["given"] and waiting and policy == OverwritePolicy.SAME:
        _LOG.warning(
            "The given triples of %s stay; extracting %s without any with %s.",
            _count(stay["given"]),
            _count(waiting),
            kind_of(now),
        )


def _passages(kinds: Counter[str]) -> str:
    return f"{_count(kinds.total())} ({', '.join(f'{kind}: {count:,}' for kind, count in kinds.most_common())})"


def _count(passages: int) -> str:
    return "1 passage" if passages == 1 else f"{passages:,} passages"
