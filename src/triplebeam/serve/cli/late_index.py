"""`triplebeam late-index`: token vectors, for late interaction."""

import json
from typing import TYPE_CHECKING, Annotated

import typer

from triplebeam.serve.cli.options import AsJson, IndexFolder, Offline

if TYPE_CHECKING:
    from triplebeam.index.token_vectors import TokenBuildReport


def late_index(
    folder: IndexFolder,
    encoder: Annotated[
        str | None,
        typer.Option(
            metavar="NAME",
            help="minilm, a folder with an ONNX or BERT model, or a model hub's name; with the weights of"
            " colbert-ir/colbertv2.0 it is ColBERT. Default: the one used before, else the index's embedder.",
            show_default=False,
        ),
    ] = None,
    nbits: Annotated[
        int | None,
        typer.Option(help="Bits per dimension: 2, 4 or 8. Default: as before; 2 if new.", show_default=False),
    ] = None,
    as_json: AsJson = False,
    offline: Offline = False,
) -> None:
    """Encode the tokens of an index's passages, for late interaction. Run it again after the passages have changed.

    Only new passages are encoded. After an interruption, run it again to continue.

    Examples:

        triplebeam late-index my.index

        triplebeam late-index my.index --encoder models/colbertv2.0 --nbits 4
    """
    from triplebeam.embed import load_token_encoder
    from triplebeam.index.snapshot import Snapshot
    from triplebeam.index.token_vectors import TokenIndexBuilder, published_tokens
    from triplebeam.serve.cli.display import progress_bars
    from triplebeam.settings import read_settings

    settings = read_settings(offline=offline or None)
    index = Snapshot.open(folder)
    before = published_tokens(folder)
    name = encoder or (before.encoder if before else index.manifest.embedder.name)
    with progress_bars() as progress:
        report = TokenIndexBuilder(
            index=index,
            encoder=load_token_encoder(name, settings.home, offline=settings.offline, progress=progress),
            nbits=nbits or (before.nbits if before else 2),
            progress=progress,
        ).build()
    if as_json:
        typer.echo(json.dumps(_as_json(report), indent=2))
    else:
        _tell(str(folder), report)


def _as_json(report: "TokenBuildReport") -> dict[str, object]:
    manifest = report.manifest
    return {
        "encoder": manifest.encoder,
        "label": manifest.label,
        "nbits": manifest.nbits,
        **manifest.counts,
        "passages_encoded": report.passages_encoded,
        "bytes": manifest.bytes,
        "bytes_per_token": round(manifest.bytes / manifest.counts["tokens"], 1),
    }


def _tell(folder: str, report: "TokenBuildReport") -> None:
    from triplebeam.serve.cli.display import out

    manifest = report.manifest
    counts = manifest.counts
    out().print(
        f"{folder}: {manifest.label}, {counts['tokens']:,} tokens of {counts['passages']:,} passages"
        f" ({report.passages_encoded:,} encoded now), {counts['centroids']:,} centroids, {manifest.nbits} bits per"
        f" dimension, {manifest.bytes / 1e6:,.1f} MB, {manifest.bytes / counts['tokens']:.0f} bytes per token.",
        markup=False,
    )
