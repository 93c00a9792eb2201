"""Which triples stay when a passage meets another extractor. Those that were given or paid for are not replaced by
accident: not by an update, not by a new version of a prompt, and by another extractor only on request.
"""

import logging
from collections import Counter
from collections.abc import Iterable
from typing import Literal, TypeAlias

from triplebeam.extract.extractor import KEYWORDS_MARK

#: What an extractor replaces: what an older version of it extracted ("older", for an update that names no extractor);
#: also what the local extractor did ("free", for one that is named); or everything.
Replaces: TypeAlias = Literal["older", "free", "all"]

_LOG = logging.getLogger("triplebeam")


def kind_of(name: str) -> str:
    """An extractor's name without versions and models: local, llm, llm-two-step, given, or the kind of your own."""
    return name.partition(KEYWORDS_MARK)[0].partition(":")[0]


def is_paid(name: str) -> bool:
    """Does an extractor of that name call a language model?"""
    return kind_of(name).startswith("llm") or KEYWORDS_MARK in name


def stays(made_by: str, now: str, replaces: Replaces) -> bool:
    """Do the triples of a passage stay, made by one extractor, when another comes to it?"""
    if replaces == "all" or kind_of(now) == "given":
        return False
    if now.startswith(made_by + KEYWORDS_MARK):  # the same triples, and keywords besides
        return replaces == "older"
    if kind_of(made_by) == kind_of(now):
        return is_paid(made_by)
    return replaces == "older" or kind_of(made_by) != "local" or is_paid(made_by)


def announce(kept: Iterable[str], replaced: Iterable[str], waiting: int, now: str, replaces: Replaces) -> None:
    """Say, before the work starts, which triples stay and which are replaced; the names are those of extractors."""
    stay, go = Counter(map(kind_of, kept)), Counter(kind_of(name) for name in replaced if stays(name, now, "free"))
    if go:
        _LOG.warning("The triples of %s are replaced: %s extracts them again.", _passages(go), kind_of(now))
    if stay and replaces == "free":
        _LOG.warning(
            "The triples of %s stay, because they were given or paid for: --replace-triples extracts them again with"
            " %s.",
            _passages(stay),
            kind_of(now),
        )
    if stay["given"] and waiting and replaces == "older":
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
