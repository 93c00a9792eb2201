"""`triplebeam plan`: what extraction by a model will cost, before it is paid for."""

import json
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from triplebeam.passage import PASSAGE_TOKENS
from triplebeam.serve.cli.options import AsJson, FollowLinks

if TYPE_CHECKING:
    from collections.abc import Callable

    from triplebeam.extract.quote import Interval, Quote, Sample
    from triplebeam.passage import Passage


def plan(
    sources: Annotated[
        list[Path],
        typer.Argument(metavar="SOURCE…", help="What you would give to `triplebeam index`.", show_default=False),
    ],
    sample: Annotated[int, typer.Option(min=5, help="How many passages to extract for the estimate.")] = 20,
    seed: Annotated[int, typer.Option(help="Another seed gives another sample.")] = 0,
    passage_tokens: Annotated[
        int, typer.Option(min=20, help="Largest number of tokens in a passage.")
    ] = PASSAGE_TOKENS,
    split: Annotated[bool, typer.Option("--split", help="Also split JSON lines and BEIR rows into passages.")] = False,
    follow_links: FollowLinks = False,
    as_json: AsJson = False,
) -> None:
    """Extract a random sample of passages and estimate what `triplebeam index --extractor llm` will cost.

    Nothing is paid for beyond the sample, whose completions are kept: indexing does not pay for them again.

    Examples:

        triplebeam plan docs/

        triplebeam plan corpus.jsonl.gz --sample 50 --json
    """
    from triplebeam.assemble import make_extractor
    from triplebeam.extract.llm import LLMExtractor
    from triplebeam.extract.quote import draw_sample, extract_sample, quote
    from triplebeam.generate.accounting import price_of
    from triplebeam.serve.cli.display import err
    from triplebeam.settings import read_settings

    settings = read_settings()
    extractor = make_extractor("llm", None, settings)
    assert isinstance(extractor, LLMExtractor)
    model = extractor.model.name
    passages = _passages(sources, passage_tokens, split, follow_links)
    # A text that comes twice is paid for once: its second completion is in the cache.
    distinct = list({passage.searchable: passage for passage in passages}.values())
    chosen = draw_sample(distinct, sample, seed)
    err().print(f"Extracting {len(chosen)} of {len(distinct):,} passages with {model} …", markup=False)
    drawn = extract_sample(extractor, chosen)
    lengths = [len(passage.searchable) for passage in distinct]
    quoted = quote(drawn.measured, lengths, price_of(model, settings.prices))
    if as_json:
        typer.echo(json.dumps(_as_json(model, len(passages), quoted, drawn), ensure_ascii=False, indent=2))
    else:
        _draw(model, len(passages), quoted, drawn)


def _passages(sources: list[Path], passage_tokens: int, force: bool, follow_links: bool) -> "list[Passage]":
    """Cut exactly as `triplebeam index` cuts them."""
    from triplebeam.errors import BadInputError
    from triplebeam.ingest import Unreadable, read_sources, split
    from triplebeam.passage import Document
    from triplebeam.serve.cli.display import err

    passages = []
    for source in read_sources(sources, follow_links=follow_links):
        if isinstance(source, Document):
            passages += split(source, passage_tokens, force=force)
        elif isinstance(source, Unreadable) or source.reason:
            err().print(f"not counted: {source}", style="yellow", markup=False)
    if not passages:
        raise BadInputError("nothing could be read from the sources, so there is nothing to plan: name other ones.")
    return passages


def _as_json(model: str, passages: int, quoted: "Quote", drawn: "Sample") -> dict[str, object]:
    def bounds(interval: "Interval | None") -> dict[str, float] | None:
        return None if interval is None else {name: round(value, 4) for name, value in interval._asdict().items()}

    failures = [extraction.failure for extraction in drawn.extractions if extraction.failure]
    return {
        "model": model,
        "passages": passages,
        "distinct_passages": quoted.passages,
        "tokens_in": bounds(quoted.tokens_in),
        "tokens_out": bounds(quoted.tokens_out),
        "tokens_estimated": drawn.usage.estimated,
        "price_usd": bounds(quoted.price),
        "seconds": bounds(quoted.seconds),
        "coverage": quoted.coverage,
        "sample": {
            "passages": quoted.sampled,
            "triples": sum(len(extraction.triples) for extraction in drawn.extractions),
            "without_triples": sum(not each.triples and not each.failure for each in drawn.extractions),
            "failures": failures,
            "calls_paid": drawn.usage.calls,
            "calls_cached": drawn.usage.cached_calls,
        },
    }


def _draw(model: str, passages: int, quoted: "Quote", drawn: "Sample") -> None:
    from triplebeam.serve.cli.display import out

    triples = sum(len(extraction.triples) for extraction in drawn.extractions)
    failures = [extraction.failure for extraction in drawn.extractions if extraction.failure]
    twice = passages - quoted.passages
    tokens = "tokens (estimated)" if drawn.usage.estimated else "tokens"
    rows = {
        "model": model,
        "passages": f"{passages:,}" + (f", {twice:,} of them repeated, which cost nothing" if twice else ""),
        "sample": f"{quoted.sampled} passages: {triples / quoted.sampled:.1f} triples per passage,"
        f" {len(failures)} failed" + (f" ({failures[0]})" if failures else ""),
        f"{tokens} in": _range(quoted.tokens_in, "{:,.0f}".format),
        f"{tokens} out": _range(quoted.tokens_out, "{:,.0f}".format),
        "price": _range(quoted.price, "${:,.2f}".format)
        if quoted.price
        else f"unknown: set it in triplebeam.toml, {_how_to_price(model)}",
        "time": _range(quoted.seconds, _duration) + ", if the endpoint stays as fast"
        if quoted.seconds
        else "unknown, because the sample was in the cache: try another --seed",
    }
    console = out()
    for name, value in rows.items():
        console.print(f"[dim]{name:>20}[/dim]  ", end="")
        console.print(value, markup=False)
    console.print(
        f"\nIn brackets: {quoted.coverage:.0%} intervals, extrapolated from the sample by passage length. A rare"
        " passage that costs many times the others may be missing from a sample.",
        style="dim",
    )


def _how_to_price(model: str) -> str:
    return f'prices = {{"{model}" = {{input = 0.10, output = 0.40}}}}, in US dollars per million tokens'


def _range(interval: "Interval", show: "Callable[[float], str]") -> str:
    return f"{show(interval.estimate)} ({show(interval.low)} to {show(interval.high)})"


def _duration(seconds: float) -> str:
    minutes, rest = divmod(round(seconds), 60)
    hours, minutes = divmod(minutes, 60)
    if hours:
        return f"{hours} h {minutes:02} min"
    return f"{minutes} min {rest:02} s" if minutes else f"{rest} s"
