"""Files and names that a method's page puts beside equations are there."""

import re
from collections import defaultdict
from pathlib import Path

import pytest

from docs.documentation import ROOT

_FILE = re.compile(r"`((?:\.\./)?[\w/]+\.py)`")
_NAME = re.compile(r"`([A-Z]\w*(?:\.\w+)?|[a-z]+_[a-z_]+)`")
_PAGES = (
    "methods/blend",
    "methods/gear",
    "methods/hipporag",
    "methods/ge-reasoning",
    "methods/gnn-ret",
    "research/baselines",
    "research/late-interaction",
    "local-extractor",
)


@pytest.mark.parametrize("page", _PAGES)
def test_files_and_names_beside_equations_exist(page: str) -> None:
    code: dict[str, str] = defaultdict(str)
    for path in sorted([*(ROOT / "src").rglob("*.py"), *(ROOT / "research/src").rglob("*.py")]):
        code[path.name] += path.read_text("utf-8")
    rows = [line for line in (ROOT / f"docs/{page}.md").read_text("utf-8").splitlines() if line.startswith("|")]
    named = [row for row in rows if _FILE.search(row)]
    assert named
    for row in named:
        files = [Path(file).name for file in _FILE.findall(row)]
        assert set(files) <= code.keys(), row
        text = "".join(code[file] for file in files)
        for name in _NAME.findall(row.split("|", 2)[2]):
            assert all(re.search(rf"(?:class|def) {part}\b", text) for part in name.split(".")), f"{name} of {row}"
