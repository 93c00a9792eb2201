"""The extraction stage of a build: triples are extracted and kept, failures are quarantined with their reason.

Two things end it early, and both keep what is done: too large a share of failures, which is an error, and a budget that
is used up, which is not. Triples that were given or paid for are not replaced by accident: not by an update, not by a
new version of a prompt, and by another extractor only on request.
"""

import logging
import re
from collections import Counter
from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import dataclass, field
from enum import StrEnum
from typing import NamedTuple, TypeAlias, TypeVar

from triplebeam.errors import ExtractionError
from triplebeam.extract.extractor import KEYWORDS_MARK, Extractor
from triplebeam.index.build.intake import BuildReport, Failure, split_windows
from triplebeam.index.store.store import Store
from triplebeam.passage import Passage
from triplebeam.system.work import Progress

_LOG = logging.getLogger("triplebeam")
T = TypeVar("T")
Numbered: TypeAlias = tuple[int, Passage]
#: The share of extractions that may fail before a build stops.
MAX_FAILURES = 0.05
#: Fewer passages than this say nothing about the share that fails.
_MIN_EXTRACTIONS = 20
#: As many passages as a model is asked at a time by default: a run that goes wrong stops early, and budgets are kept.
EXTRACTION_WINDOW = 16
_QUOTATION = "; it begins with "
_NUMBER = re.compile(r"\d+")


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


class FailureGroup(NamedTuple):
    """Passages that failed for the same reason, with the words of the first."""

    reason: str
    passage_ids: tuple[str, ...]


def group_failures(failures: Iterable[Failure]) -> list[FailureGroup]:
    """Group failures by their reason, the most common first. Differing numbers and quoted replies are ignored."""
    groups: dict[str, list[Failure]] = {}
    for passage_id, reason in failures:
        kind = _NUMBER.sub("#", reason.partition(_QUOTATION)[0])
        groups.setdefault(kind, []).append((passage_id, reason))
    alike = sorted(groups.values(), key=len, reverse=True)
    return [FailureGroup(group[0][1], tuple(passage_id for passage_id, _ in group)) for group in alike]


@dataclass(frozen=True)
class Budget:
    """What a run may cost, and what it has cost so far, in one currency."""

    limit: float
    spent: Callable[[], float] = field(repr=False)


def extract_triples(
    store: Store,
    extractor: Extractor,
    waiting: Sequence[Numbered],
    report: BuildReport,
    *,
    max_failures: float,
    budget: Budget | None,
    progress: Progress,
) -> None:
    """Extract the passages and keep the results, a window of passages per transaction.

    Raises ExtractionError when a larger share than ``max_failures`` fails; of a few passages, when all of them fail and
    the index has no triple yet.
    """
    failures: list[Failure] = []
    report.passages_left = len(waiting)
    progress("extract", 0, len(waiting))
    for batch in split_by_budget(waiting, budget):
        extractions = zip(batch, extractor.extract(passage for _, passage in batch), strict=True)
        for done in split_windows(extractions, EXTRACTION_WINDOW, keep_on_error=True):
            with store.transaction():
                for (number, _), each in done:
                    if each.known:
                        store.extractions.put(number, each, extractor.name)
            report.passages_extracted += len(done)
            report.passages_left -= len(done)
            read = [each for _, each in done if each.known and each.failure is None]
            report.passages_without_triples += sum(not each.triples for each in read)
            failures += [(each.passage_id, each.failure) for _, each in done if each.failure is not None]
            progress("extract", report.passages_extracted, len(waiting))
            if (tried := report.passages_extracted) >= _MIN_EXTRACTIONS and len(failures) > max_failures * tried:
                raise _make_failure_error(failures, tried, max_failures)
    tried = report.passages_extracted
    if max_failures < 1 and tried == len(failures) > 0 and next(store.extractions.triples(), None) is None:
        raise _make_failure_error(failures, tried, max_failures)


def passages_to_extract(
    store: Store, extractor: str, document_ids: Iterable[str], overwrite: OverwritePolicy
) -> tuple[list[Numbered], int]:
    """Return the passages of documents to extract: those without triples, and those whose triples may be replaced.

    Also returns how many keep the triples of another extractor.
    """
    made_by = store.extractions.extractors()
    waiting = list(store.passages_awaiting(extractor, document_ids))
    kept = {
        number for number, _ in waiting if number in made_by and keep_existing(made_by[number], extractor, overwrite)
    }
    left = [(number, passage) for number, passage in waiting if number not in kept]
    replaced = [made_by[number] for number, _ in left if number in made_by]
    log_policy([made_by[number] for number in kept], replaced, len(left), extractor, overwrite)
    return left, len(kept)


def split_by_budget(waiting: Sequence[T], budget: Budget | None) -> Iterator[Sequence[T]]:
    """Yield everything at once without a budget; else batches within it, at the highest price per passage so far.

    Until something was paid, the price is unknown: it begins with single passages, then each batch may double.
    """
    if budget is None:
        yield waiting
        return
    start, size, highest = 0, 1, 0.0
    while start < len(waiting) and (before := budget.spent()) < budget.limit:
        if highest:
            size = min(2 * size, EXTRACTION_WINDOW, int((budget.limit - before) / highest))
        if not size:
            return
        yield waiting[start : start + size]
        start += size
        highest = max(highest, (budget.spent() - before) / size)


def _make_failure_error(failures: Sequence[Failure], tried: int, max_failures: float) -> ExtractionError:
    commonest = group_failures(failures)[0]
    reason = " ".join(commonest.reason.split())
    return ExtractionError(
        f"the extraction of {len(failures)} of {tried} passages failed, more than the {max_failures:.0%}"
        f" allowed, so it was stopped; what is done is kept. Most common error ({len(commonest.passage_ids)}×):"
        f" {reason} Run `triplebeam doctor` to see what the model can do, then `triplebeam index INDEX --retry-failed`;"
        " or allow more with --max-failures."
    )
