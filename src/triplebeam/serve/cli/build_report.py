"""What an indexing run reports at its end, on stderr."""

from collections.abc import Mapping
from pathlib import Path

from triplebeam import assemble
from triplebeam.assemble.models import open_source
from triplebeam.extract.triples_file import TriplesFile
from triplebeam.generate.accounting import Account, compute_cost
from triplebeam.index.build.extraction import group_failures
from triplebeam.index.build.intake import BuildReport
from triplebeam.index.location import Location
from triplebeam.serve.cli.output import Output
from triplebeam.text.phrases import format_count

#: If a larger share of passages has no triples, the model is probably too weak.
_SUSPICIOUS = 0.2
_MAX_IDS_SHOWN, _MAX_REASONS_SHOWN = 3, 5

_LANGUAGES = (
    "ar Arabic, be Belarusian, bg Bulgarian, bn Bengali, ca Catalan, cs Czech, cy Welsh, da Danish, de German, el"
    " Greek, eo Esperanto, es Spanish, et Estonian, eu Basque, fa Persian, fi Finnish, fr French, ga Irish, gl"
    " Galician, gu Gujarati, he Hebrew, hi Hindi, hr Croatian, hu Hungarian, hy Armenian, id Indonesian, is"
    " Icelandic, it Italian, ja Japanese, ka Georgian, kk Kazakh, km Khmer, kn Kannada, ko Korean, la Latin, lo"
    " Lao, lt Lithuanian, lv Latvian, mk Macedonian, ml Malayalam, mn Mongolian, mr Marathi, ms Malay, nb"
    " Norwegian, ne Nepali, nl Dutch, nn Norwegian, no Norwegian, pa Punjabi, pl Polish, pt Portuguese, ro"
    " Romanian, ru Russian, si Sinhala, sk Slovak, sl Slovenian, sq Albanian, sr Serbian, sv Swedish, sw Swahili,"
    " ta Tamil, te Telugu, th Thai, tl Tagalog, tr Turkish, uk Ukrainian, ur Urdu, vi Vietnamese, zh Chinese"
)
_LANGUAGE_NAMES = dict(entry.split() for entry in _LANGUAGES.split(", "))


def tell(folder: Location, report: BuildReport, *, quiet: bool = False) -> None:
    """Print what was done, what was not and why."""
    output = Output()
    for skipped in report.skipped:
        if skipped.reason and not quiet:
            output.note(f"skipped: {skipped}", style="dim")
    for warning in report.warnings:
        output.warn(f"read in part: {warning}")
    for unreadable in report.unreadable:
        output.warn(f"not indexed: {unreadable}")
    _tell_of_failures(folder, report)
    if report.manifest and not report.published:
        output.note(f"{folder} is up to date: nothing has changed.")
    elif report.manifest:
        counts = report.manifest.counts
        output.note(
            f"{folder}: {format_count(counts['documents'], 'document')}, {format_count(counts['passages'], 'passage')},"
            f" {format_count(counts['triples'], 'triple')}, {counts['entities']:,}"
            f" {'entity' if counts['entities'] == 1 else 'entities'}"
            f" ({format_count(report.documents_changed, 'document')} new or changed,"
            f" {format_count(report.texts_encoded, 'text')} encoded)."
        )
        for line in not_parsed(report.manifest.unread_languages):
            output.warn(line)
        if counts["triples_rejected"]:
            output.warn(f"{counts['triples_rejected']} triples with an empty part were rejected.")


def tell_of_doubts(
    folder: Location, report: BuildReport, triples: Path | None, budget: float | None, *, paid: bool
) -> bool:
    """Print what the budget left undone, and whether the triples look right; return whether something was left out."""
    output = Output()
    if paid and report.passages_left:
        output.warn(
            f"The budget of ${budget:,.2f} leaves {report.passages_left:,} passages unfinished: run the same command"
            " again to continue."
        )
    if paid and report.passages_without_triples > _SUSPICIOUS * report.passages_extracted:
        output.warn(
            f"{report.passages_without_triples:,} of {report.passages_extracted:,} passages have no triples, which is"
            " suspicious if they state facts: see `triplebeam doctor`, or use a stronger model."
        )
    known = open_source(folder).passages if triples else ()
    unknown = [id_ for id_ in TriplesFile(triples).passage_ids if id_ not in known] if triples else []
    if unknown:  # they are useless, and most likely a mistake
        output.warn(
            f"{triples} has triples of {len(unknown):,} passages that are not in the index, such as {unknown[0]!r}:"
            " its passage_id must be the id of an indexed passage."
        )
    counts = {"not indexed": len(report.unreadable), "passages that failed": len(report.failures)}
    reasons = ", ".join(f"{count:,} {what}" for what, count in counts.items() if count)
    if reasons:
        output.warn(f"Exit code 1, because of problems listed above: {reasons}.")
    return bool(reasons)


def _tell_of_failures(folder: Location, report: BuildReport) -> None:
    if not report.failures:
        return
    output, groups = Output(), group_failures(report.failures)
    output.warn(f"{len(report.failures):,} passages are without triples because their extraction failed:")
    for reason, passage_ids in groups[:_MAX_REASONS_SHOWN]:
        ids = ", ".join(passage_ids[:_MAX_IDS_SHOWN]) + (", …" if len(passage_ids) > _MAX_IDS_SHOWN else "")
        output.warn(f"  {len(passage_ids):,} × {' '.join(reason.split())} ({ids})")
    if len(groups) > _MAX_REASONS_SHOWN:
        output.warn(f"  and {len(groups) - _MAX_REASONS_SHOWN} other reasons")
    output.warn(f"Retry them with `triplebeam index {folder} --retry-failed`.")


def tell_cost(settings: "assemble.Settings", bill: Account) -> None:
    """Print what the calls of a run cost."""
    usage = bill.usage
    paid = compute_cost(usage, settings.endpoint("extraction").model or "", settings.prices)
    Output().note(
        f"{usage.calls:,} calls, {usage.tokens_in:,} tokens in, {usage.tokens_out:,} out"
        f"{' (estimated)' if usage.estimated else ''}; {usage.cached_calls:,} more calls from the cache;"
        f" {'price not known' if paid is None else f'${paid:,.4f}'}."
    )


def not_parsed(languages: Mapping[str, int]) -> list[str]:
    """Write a line for each language that was not parsed."""
    return [
        f"{count:,} {'passage' if count == 1 else 'passages'} in {_LANGUAGE_NAMES.get(code, f'the language {code!r}')}"
        f" {'was' if count == 1 else 'were'} not parsed for facts: use --extractor llm."
        for code, count in languages.items()
    ]
