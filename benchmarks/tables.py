"""Rewrite the generated tables of README and docs: ``make tables``.

A page marks the place of a table with ``<!-- table: NAME -->`` and ``<!-- /table -->``. Figures come from results.json,
which ``triplebeam research experiment`` writes with ``--results``; tables.toml names rows and columns.
"""

import json
import re
import tomllib
from pathlib import Path
from typing import Any, TypeAlias

from triplebeam_research.experiments.output import KEY

HERE = Path(__file__).parent
PAGES = [HERE.parent / "README.md", *sorted((HERE.parent / "docs").rglob("*.md"))]
#: Heading, datasets, measures, and the embedder where a column has its own.
Column: TypeAlias = tuple[str, list[str], list[str], dict[str, str]]
_FORMATS = {"encodings": ".0f", "nodes": ",.0f", "edges_per_node": ".2f", "density": ".4f", "alpha": ""}
_MARKED = re.compile(r"(?<=<!-- table: )(?P<name>[\w-]+)(?P<open> -->\n).*?(?=<!-- /table -->)", re.DOTALL)


class Tables:
    """The tables by name, filled in from the results."""

    def __init__(self, results: Path = HERE / "results.json", layout: Path = HERE / "tables.toml") -> None:
        self._layout: dict[str, Any] = tomllib.loads(layout.read_text(encoding="utf-8"))
        rows = json.loads(results.read_text(encoding="utf-8"))
        self._results = {tuple(row.get(name, "") for name in KEY): row for row in rows}

    def rewritten(self, page: str) -> str:
        """Return the text of a page with its tables as they should be."""
        return _MARKED.sub(lambda found: f"{found['name']}{found['open']}{self.table(found['name'])}", page)

    def table(self, name: str) -> str:
        """Return a table in Markdown."""
        if not isinstance(table := self._layout.get(name), dict):
            raise SystemExit(f"tables.toml has no table {name!r}.")
        defaults = {key: value for key, value in self._layout.items() if not isinstance(value, dict)}
        settings = defaults | (self._layout["small"] if table.get("small") else {}) | table
        settings["questions"] = self._layout["questions"] | settings.get("questions", {})
        columns = [_column(column, settings) for column in table["columns"]]
        lines = [[heading for heading, *_ in columns], ["---"] * len(columns)]
        lines += [self._row(row, columns, settings) for row in table["rows"]]
        return "".join(f"| {' | '.join(line)} |\n".replace("|  |", "| |") for line in lines)

    def _row(self, row: dict[str, Any], columns: list[Column], settings: dict[str, Any]) -> list[str]:
        if "method" not in row:
            return list(row["text"])
        text = iter(row.get("text") or [f"`{row['method']}`"])
        cells = [
            self._cell(datasets, measures, settings | embedder | row) if datasets else next(text)
            for _, datasets, measures, embedder in columns
        ]
        if list(text):
            raise SystemExit(f"The row {row} of tables.toml has more text than its table has columns for text.")
        return cells

    def _cell(self, datasets: list[str], measures: list[str], said: dict[str, Any]) -> str:
        after = self._figures(datasets, measures, said, said["method"])
        if None in after:
            if "missing" in said:
                return str(said["missing"])
            raise SystemExit(f"results.json has no {measures} of {said['method']} on {datasets}: measure it first.")
        words = _written(after, measures)
        if "over" in said:
            before = self._figures(datasets, measures, said, said["over"])
            gains = " / ".join(_gain(*pair) for pair in zip(before, after, strict=True))
            words = f"{_written(before, measures)} → {words} ({gains})"
        words = said.get("cell", "{}").format(words)
        return f"**{words}**" if said.get("bold") else words

    def _figures(self, datasets: list[str], measures: list[str], said: dict[str, Any], method: str) -> list[Any]:
        results = []
        for dataset in datasets:
            row = said | {"dataset": dataset, "method": method, "questions": said["questions"][dataset]}
            on_graph = any(name in method for name in ("gnn_ret", "kgp"))
            on_every = on_graph and f"{said['embedder']} {dataset}" in said["every_keyword"]
            row["keyword_passages"] = 0 if on_every else ""
            results.append(self._results.get(tuple(row[name] for name in KEY), {}))
        return [result.get(measure) for result in results for measure in measures]


def _column(text: str, settings: dict[str, Any]) -> Column:
    """``HEADING = DATASET … by EMBEDDER: MEASURE …`` in its parts; without datasets it is a column of text."""
    heading, _, source = text.partition(" = ")
    shown, _, measures = source.partition(": ")
    datasets, _, embedder = shown.partition(" by ")
    own = {"embedder": embedder} if embedder else {}
    return heading, datasets.split(), (measures or settings["measures"]).split(), own


def _gain(before: float, after: float) -> str:
    return f"{after - before:+.1f}".replace("-", "−")


def _written(figures: list[Any], measures: list[str]) -> str:
    return " / ".join(f"{figure:{_format(name)}}" for figure, name in _named(figures, measures))


def _format(measure: str) -> str:
    return _FORMATS.get(measure, ".1f")


def _named(figures: list[Any], measures: list[str]) -> list[tuple[Any, str]]:
    """Each figure with its measure: all measures of one dataset, then those of the next."""
    return list(zip(figures, measures * (len(figures) // len(measures)), strict=True))


def main() -> None:
    tables = Tables()
    for page in PAGES:
        text = page.read_text(encoding="utf-8")
        if (rewritten := tables.rewritten(text)) != text:
            page.write_text(rewritten, encoding="utf-8")
            print(f"rewritten: {page.relative_to(HERE.parent)}")


if __name__ == "__main__":
    main()
