"""`triplebeam index --dry-run`: what there is to index, and what extraction by a model will cost."""

from collections.abc import Iterable

from triplebeam import assemble
from triplebeam.assemble.models import Choice, make_chosen
from triplebeam.errors import BadInputError
from triplebeam.extract.llm import LLMExtractor
from triplebeam.extract.quote import Sample, draw_sample, extract_sample
from triplebeam.generate.accounting import find_price
from triplebeam.index.location import Location
from triplebeam.ingest import Reading, Unreadable
from triplebeam.ingest.split import split
from triplebeam.passage import Document, Passage
from triplebeam.serve.cli.output import Output

_SAMPLED_PASSAGES = 20


def dry_run(
    folder: Location,
    documents: Iterable[Reading],
    choice: Choice,
    settings: "assemble.Settings",
    passage_tokens: int,
    split_passages: bool,
) -> None:
    """Print passages, characters and, where a model extracts, tokens and price, from a sample that is extracted."""
    passages = _split(documents, passage_tokens, split_passages)
    # A text that comes twice is paid for once: its second completion is in the cache.
    distinct = list({passage.searchable: passage for passage in passages}.values())
    twice, characters = len(passages) - len(distinct), sum(len(passage.searchable) for passage in distinct)
    rows = {
        "passages": f"{len(passages):,}" + (f", {twice:,} of them repeated, which cost nothing" if twice else ""),
        "characters": f"{characters:,}",
    }
    if choice.is_paid:
        rows |= _cost(folder, choice, settings, distinct, characters)
    else:
        rows["price"] = f"nothing: the extractor {choice.extractor} calls no model"
    Output().rows(rows, 22)


def _split(documents: Iterable[Reading], passage_tokens: int, force: bool) -> list[Passage]:
    """Cut documents exactly as indexing cuts them."""
    passages = []
    for source in documents:
        if isinstance(source, Document):
            passages += split(source, passage_tokens, force=force)
        elif isinstance(source, Unreadable) or source.reason:
            Output().warn(f"not counted: {source}")
    if not passages:
        raise BadInputError("nothing could be read from the sources, so there is nothing to index: name other ones.")
    return passages


def _cost(
    folder: Location, choice: Choice, settings: "assemble.Settings", passages: list[Passage], characters: int
) -> dict[str, str]:
    extractor = make_chosen(folder, choice, settings)
    if not isinstance(extractor, LLMExtractor):
        raise BadInputError("--dry-run estimates the price of --extractor llm only: name it, without --keywords.")
    chosen = draw_sample(passages, _SAMPLED_PASSAGES)
    model = extractor.model.name
    Output().note(f"Extracting {len(chosen)} of {len(passages):,} passages with {model} …")
    return {"model": model, **_estimates(extract_sample(extractor, chosen), characters, model, settings)}


def _estimates(sample: Sample, characters: int, model: str, settings: "assemble.Settings") -> dict[str, str]:
    triples = sum(len(extraction.triples) for extraction in sample.extractions)
    failures = [extraction.failure for extraction in sample.extractions if extraction.failure]
    tokens_in = [usage.tokens_in + usage.cached_tokens_in for usage in sample.usages]
    tokens_out = [usage.tokens_out + usage.cached_tokens_out for usage in sample.usages]
    unit = "tokens (estimated)" if any(usage.estimated for usage in sample.usages) else "tokens"
    price, count = find_price(model, settings.prices), len(sample.usages)
    rows = {
        "sample": f"{count} passages: {triples / count:.1f} triples per passage, {len(failures)} failed"
        + (f" ({failures[0]})" if failures else "")
    }
    for name, costs in ((f"{unit} in", tokens_in), (f"{unit} out", tokens_out)):
        estimate = sample.estimate(costs, characters)
        rows[name] = f"{estimate.total:,.0f} ± {estimate.spread:,.0f}"
    if price is None:
        rows["price"] = (
            f'unknown: set it in triplebeam.toml, prices = {{"{model}" = {{input = 0.10, output = 0.40}}}},'
            " in US dollars per million tokens"
        )
    else:
        pairs = zip(tokens_in, tokens_out, strict=True)
        dollars = [(read * price.input + written * price.output) / 1_000_000 for read, written in pairs]
        estimate = sample.estimate(dollars, characters)
        rows["price"] = f"${estimate.total:,.2f} ± {estimate.spread:,.2f}"
    return rows
