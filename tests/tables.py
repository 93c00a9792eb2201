"""Tables of cases beside the tests that try them: ``test_x.json`` holds those of ``test_x.py``, a case per line."""

import json
from pathlib import Path
from typing import Any


def read_table(test_file: str, name: str) -> Any:
    """One table: tuples of what a case is made of, or a mapping."""
    table = json.loads(Path(test_file).with_suffix(".json").read_text(encoding="utf-8"))[name]
    return [_as_tuple(row) for row in table] if isinstance(table, list) else table


def _as_tuple(value: Any) -> Any:
    return tuple(map(_as_tuple, value)) if isinstance(value, list) else value
