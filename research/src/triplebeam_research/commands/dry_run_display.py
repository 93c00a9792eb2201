"""What an experiment would cost, on a terminal or as JSON."""

import json
from collections.abc import Mapping, Sequence
from dataclasses import asdict
from typing import TYPE_CHECKING

import typer

from triplebeam.serve.cli.display import out

if TYPE_CHECKING:
    from triplebeam_research.experiments.dry_run import Planned


def show_plans(planned: Mapping[str, "Sequence[Planned]"], model: str | None, *, as_json: bool) -> None:
    """A table per dataset, or JSON of everything."""
    if as_json:
        rows = {name: [asdict(each) for each in methods] for name, methods in planned.items()}
        typer.echo(json.dumps({"model": model, "datasets": rows}, indent=2))
        return
    for name, methods in planned.items():
        _draw(name, methods)
    out().print(_total(planned, model), markup=False)


def _draw(name: str, methods: "Sequence[Planned]") -> None:
    from rich.table import Table

    table = Table(box=None, title=name, title_justify="left", title_style="dim")
    table.add_column("method", no_wrap=True)
    for column in ("questions", "seeds", "calls", "tokens", "$"):
        table.add_column(column, justify="right", no_wrap=True)
    for each in methods:
        calls = _range(each.least.calls, each.most.calls)
        tokens = _range(each.least.all_tokens, each.most.all_tokens)
        dollars = "{:,.2f} to {:,.2f}".format(*each.dollars) if each.dollars else "–"
        method = each.method.replace("[", "\\[")
        table.add_row(method, f"{each.questions:,}", str(each.seeds), calls, tokens, dollars)
    out().print(table)


def _range(low: int, high: int) -> str:
    return f"{low:,}" if low == high else f"{low:,} to {high:,}"


def _total(planned: Mapping[str, "Sequence[Planned]"], model: str | None) -> str:
    every = [each for methods in planned.values() for each in methods]
    calls = _range(sum(each.least.calls for each in every), sum(each.most.calls for each in every))
    if not any(each.most.calls for each in every):
        return "No model is called."
    priced = [each.dollars for each in every if each.dollars]
    cost = f"${sum(low for low, _ in priced):,.2f} to ${sum(high for _, high in priced):,.2f}"
    price = cost if priced else "at a price that is not known: set prices in triplebeam.toml"
    return (
        f"In all {calls} calls of {model or 'a model (none is configured)'}, {price}. The least is if every agent stops"
        " as soon as it may, the most if none does. Tokens are estimates; replies that are kept already cost nothing."
    )
