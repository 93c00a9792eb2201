"""`triplebeam doctor`: what works, what does not, and what to do about it."""

from collections.abc import Iterator
from dataclasses import asdict
from typing import Annotated
from urllib.parse import urlsplit

import typer

from triplebeam import assemble
from triplebeam.assemble.models import open_source
from triplebeam.errors import ModelMissingError, TriplebeamError
from triplebeam.extract.health import Check, check_model
from triplebeam.generate.connect import WithParameters
from triplebeam.generate.openai_compatible import OpenAICompatible
from triplebeam.index.location import Location
from triplebeam.index.store.tables import read_embedder
from triplebeam.serve.cli.options import AsJson, Offline, read_location
from triplebeam.serve.cli.output import Output, shown_progress
from triplebeam.weights import ENGLISH_PARSER, GRANITE, ensure

_MARKS = {"ok": "[green]✔[/green]", "note": "[yellow]–[/yellow]", "broken": "[red]✘[/red]"}


def doctor(
    folder: Annotated[
        Location | None, typer.Argument(metavar="INDEX", help="An index to check as well.", parser=read_location)
    ] = None,
    install: Annotated[
        bool,
        typer.Option("--install", help="Download the default embedder and the English parser if they are missing."),
    ] = False,
    as_json: AsJson = False,
    offline: Offline = False,
) -> None:
    """Check the language model, the local models and an index, and say how to fix each problem.

    Sends a few short prompts to a configured model, which may cost money. The exit code is 1 if something is broken;
    a missing configuration is not an error.

    Examples:

        triplebeam doctor

        triplebeam doctor my.index --json

        triplebeam doctor --install
    """
    settings = assemble.read_settings(offline=offline or None)
    if install:
        for weights in (GRANITE, ENGLISH_PARSER):
            with shown_progress() as progress:
                place = ensure(weights, settings.home, offline=settings.offline, progress=progress)
            Output().note(f"{weights.name} is in {place}")
        return
    checks, output = [], Output()
    for check in _checks(settings, folder):
        checks.append(check)
        if not as_json:
            output.row(
                f"{_MARKS[check.state]} {check.name:>18}",
                check.finding + (f" → {check.advice}" if check.advice else ""),
            )
    broken = any(check.state == "broken" for check in checks)
    if as_json:
        report = {"healthy": not broken, "checks": [asdict(check) for check in checks]}
        output.json(report)
    if broken:
        raise typer.Exit(1)


def _checks(settings: "assemble.Settings", folder: Location | None) -> Iterator[Check]:
    yield from _model(settings)
    yield _embedder(settings, folder)
    try:
        ensure(ENGLISH_PARSER, settings.home, offline=True)
        yield Check("English parser", "ok", ENGLISH_PARSER.name)
    except ModelMissingError as error:
        yield _not_here("English parser", ENGLISH_PARSER.name, settings, error)
    if folder is not None:
        yield from _index(folder)


def _model(settings: "assemble.Settings") -> Iterator[Check]:
    """Check the model for extraction as it is, without cache and retries: what it does now is what is asked."""
    endpoint = settings.endpoint("extraction")
    if not endpoint.model:
        advice = f"search works without one; to ask questions, {assemble.HOW_TO_CONFIGURE}"
        yield Check("language model", "note", "none is configured", advice)
        return
    key = endpoint.api_key.get_secret_value() if endpoint.api_key else None
    try:
        model = OpenAICompatible(endpoint.model, endpoint.base_url, key, settings.timeout)
    except TriplebeamError as error:
        yield Check("language model", "broken", str(error), assemble.HOW_TO_CONFIGURE)
        return
    # Without a user's name and password, if the address has them.
    place = urlsplit(endpoint.base_url).netloc.rpartition("@")[2] if endpoint.base_url else "the default endpoint"
    yield Check("language model", "ok", f"{endpoint.model} at {place}")
    with_parameters = WithParameters(model, max_tokens=settings.max_tokens, parameters=settings.parameters)
    yield from check_model(with_parameters, lambda: model.refused)


def _embedder(settings: "assemble.Settings", folder: Location | None) -> Check:
    name = settings.embedder or assemble.DEFAULT_EMBEDDER
    try:
        there = read_embedder(folder.state) if folder else None
        if there and not settings.embedder:
            name = there.name
        # A check downloads nothing.
        vectors = assemble.make_embedder(name, settings.model_copy(update={"offline": True})).embed(
            ["Hamburg is a port."]
        )
    except ModelMissingError as error:
        return _not_here("embedder", name, settings, error)
    except TriplebeamError as error:
        return Check("embedder", "broken", str(error), "choose another with --embedder, or TRIPLEBEAM_EMBEDDER")
    return Check("embedder", "ok", f"{name}, {vectors.shape[1]} dimensions")


def _not_here(check: str, name: str, settings: "assemble.Settings", error: Exception) -> Check:
    if settings.offline:
        return Check(check, "broken", str(error), "run `triplebeam doctor --install` once without TRIPLEBEAM_OFFLINE")
    advice = "it is downloaded at first use, or now by `triplebeam doctor --install`"
    return Check(check, "note", f"{name} is not in {settings.home} yet", advice)


def _index(folder: Location) -> Iterator[Check]:
    try:
        counts = open_source(folder).manifest.counts
    except TriplebeamError as error:
        yield Check("index", "broken", str(error))
        return
    yield Check("index", "ok", f"{folder}: {counts['passages']:,} passages, {counts['triples']:,} triples")
    failed, empty = counts["passages_failed"], counts.get("passages_without_triples", 0)
    if failed:
        advice = f"run `triplebeam index {folder} --retry-failed`"
        yield Check("quarantine", "note", f"the extraction of {failed:,} passages failed", advice)
    else:
        yield Check("quarantine", "ok", "no passage failed")
    if empty > counts["passages"] / 5:
        advice = "look at some of them; index again with a stronger model if they state facts"
        yield Check("without triples", "note", f"{empty:,} passages have no triples", advice)
