"""Figures live once: what README and docs show is what the results file holds.

Files and names that a method's page puts beside equations are there.
"""

import json
import re
import runpy
from collections import defaultdict
from functools import cache
from pathlib import Path
from typing import Any

import pytest

from docs.documentation import ROOT, pages

MARKED = re.compile(r"<!-- table: ([\w-]+) -->\n(.*?)<!-- /table -->", re.DOTALL)


@cache
def load_tables(*files: Path) -> Any:
    return runpy.run_path(str(ROOT / "benchmarks/tables.py"))["Tables"](*files)


@pytest.mark.parametrize("page", pages())
def test_tables_are_those_of_the_results_file(page: str) -> None:
    text = (ROOT / page).read_text(encoding="utf-8")
    assert text == load_tables().rewritten(text), "run `make tables`"


def test_every_table_that_is_described_is_on_a_page() -> None:
    described = [name for name, value in load_tables()._layout.items() if isinstance(value, dict) and "rows" in value]
    shown = [name for page in pages() for name, _ in MARKED.findall((ROOT / page).read_text(encoding="utf-8"))]
    assert sorted(shown) == sorted(described)


@pytest.mark.parametrize("page", pages())
def test_no_method_has_its_figures_in_a_table_written_by_hand(page: str) -> None:
    rows = json.loads((ROOT / "benchmarks/results.json").read_text(encoding="utf-8"))
    by_hand = MARKED.sub("", (ROOT / page).read_text(encoding="utf-8"))
    lines = [line for line in by_hand.splitlines() if line.startswith("|")]
    for row in rows:
        if "R@15" in row:
            figures = f"{row['R@5']:.1f} / {row['R@15']:.1f}"
            named = [line for line in lines if f"`{row['method']}`" in line and figures in line]
            assert not named, f"put {named[0]} into a generated table"


HAND_WRITTEN = re.compile(r"^\|.*\n(?:^\|.*\n)+", re.MULTILINE)
OURS = re.compile(r"ours|granite|mpnet|split documents")


def test_the_papers_tables_have_no_figures_of_ours_that_were_written_by_hand() -> None:
    """Beside the published figures, what is ours is generated; but for the sizes of the data, which are no results."""
    by_hand = MARKED.sub("", (ROOT / "docs/research/reproduction.md").read_text(encoding="utf-8"))
    assert not re.findall(r".*\d \(s\).*", by_hand)
    tables = HAND_WRITTEN.findall(by_hand)
    assert tables
    for table in tables:
        heading, _, *rows = [[cell.strip() for cell in line[1:-1].split("|")] for line in table.splitlines()]
        ours = [place for place, name in enumerate(heading) if OURS.search(name)]
        figures = [row[place] for row in rows for place in ours if re.search(r"\d", row[place])]
        assert not figures or rows[0][0] == "hops", heading


def test_another_figure_changes_the_table_and_a_missing_one_is_an_error(tmp_path: Path) -> None:
    def tables(**changed: Any) -> Any:
        row = {"dataset": "d", "method": "m", "embedder": "e", "triples": "t", "questions": 9, "R@5": 50.0, "R@15": 60}
        others = [row | {"method": "m+", "R@5": 52.26}, row | {"embedder": "f", "R@5": 7}]
        (tmp_path / "results.json").write_text(json.dumps([row, *others]))
        layout = """
            embedder = "e"\ntriples = "t"\nmodel = ""\nevery_keyword = []\nmeasures = "R@5 R@15"\nquestions = {d = 9}
            [one]\ncolumns = ["", "D = d"]\nrows = [{method = "m"}, {method = "m+", over = "m", text = ["**M**"]}]
            [gone]\ncolumns = ["", "D = d"]\nrows = [{method = "n"}]
            [by]\ncolumns = ["", "D = d", "F = d by f: R@5"]\nrows = [{method = "m"}, {method = "m+", embedder = "e"}]
        """
        (tmp_path / "tables.toml").write_text(layout)
        return load_tables(tmp_path / "results.json", tmp_path / "tables.toml")

    page = "Text.\n<!-- table: one -->\nold\n<!-- /table -->\nMore.\n"
    assert tables().rewritten(page) == (
        "Text.\n<!-- table: one -->\n| | D |\n| --- | --- |\n| `m` | 50.0 / 60.0 |\n"
        "| **M** | 50.0 / 60.0 → 52.3 / 60.0 (+2.3 / +0.0) |\n<!-- /table -->\nMore.\n"
    )
    # A column's embedder holds for its cells, unless the row has its own.
    assert tables().table("by").splitlines()[2:] == ["| `m` | 50.0 / 60.0 | 7.0 |", "| `m+` | 52.3 / 60.0 | 52.3 |"]
    with pytest.raises(SystemExit, match=r"results.json has no .* of n on \['d'\]"):
        tables().table("gone")
    with pytest.raises(SystemExit, match="no table 'other'"):
        tables().rewritten("<!-- table: other -->\n<!-- /table -->")


_FILE = re.compile(r"`((?:\.\./)?[\w/]+\.py)`")
_NAME = re.compile(r"`([A-Z]\w*(?:\.\w+)?|[a-z]+_[a-z_]+)`")


def test_files_and_names_beside_equations_exist() -> None:
    code: dict[str, str] = defaultdict(str)
    for path in sorted([*(ROOT / "src").rglob("*.py"), *(ROOT / "research/src").rglob("*.py")]):
        code[path.name] += path.read_text("utf-8")
    lines = [line for page in pages() for line in (ROOT / page).read_text("utf-8").splitlines()]
    rows = [line for line in lines if line.startswith("|") and _FILE.search(line)]
    assert len(rows) > 20
    for row in rows:
        files = [Path(file).name for file in _FILE.findall(row)]
        assert set(files) <= code.keys(), row
        text = "".join(code[file] for file in files)
        for name in _NAME.findall(row.split("|", 2)[2]):
            assert all(re.search(rf"(?:class|def) {part}\b", text) for part in name.split(".")), f"{name} of {row}"
