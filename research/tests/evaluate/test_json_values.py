"""Values read one after another are those that the whole file holds; a damaged one is named by its place."""

import json
from pathlib import Path
from typing import TypeAlias

import pytest
from hypothesis import HealthCheck, example, given, settings
from hypothesis import strategies as st

from triplebeam.errors import BadInputError
from triplebeam_research.datasets import rows

Json: TypeAlias = "bool | int | float | str | list[Json] | dict[str, Json] | None"
SCALARS = (
    st.none()
    | st.booleans()
    | st.integers(-(2**62), 2**62)
    | st.floats(allow_nan=False, allow_infinity=False)
    | st.text()
)
VALUES = st.recursive(
    SCALARS, lambda inner: st.lists(inner, max_size=3) | st.dictionaries(st.text(), inner, max_size=3)
)
SETTINGS = settings(suppress_health_check=[HealthCheck.function_scoped_fixture], max_examples=25)


@SETTINGS
@given(values=st.lists(VALUES, max_size=5), indent=st.none() | st.integers(0, 2))
def test_an_array(tmp_path: Path, values: list[Json], indent: int | None) -> None:
    path = tmp_path / "array.json"
    path.write_text(json.dumps(values, indent=indent), encoding="utf-8")
    assert list(rows.elements(path)) == list(enumerate(values, start=1))


@SETTINGS
@given(values=st.lists(st.dictionaries(st.text(), VALUES, max_size=3), min_size=1, max_size=5))
def test_lines(tmp_path: Path, values: list[dict[str, Json]]) -> None:
    path = tmp_path / "lines.jsonl"
    path.write_text("\n\n".join(map(json.dumps, values)) + "\n", encoding="utf-8")
    assert list(rows.elements(path)) == list(enumerate(values, start=1))


@SETTINGS
@example({"0": -0.0})
@given(members=st.dictionaries(st.text(), VALUES, max_size=5))
def test_an_object(tmp_path: Path, members: dict[str, Json]) -> None:
    path = tmp_path / "object.json"
    path.write_text("\ufeff" + json.dumps(members, ensure_ascii=True), encoding="utf-8")
    assert list(rows.members(path)) == list(members.items())
    assert rows.read_first_character(path) == "{"


def test_an_array_is_no_object(tmp_path: Path) -> None:
    path = tmp_path / "array.json"
    path.write_text("[1]")
    with pytest.raises(BadInputError, match=r"array.json is not one JSON object"):
        list(rows.members(path))


@pytest.mark.parametrize(
    ("content", "place"),
    [
        (b'[{"a": 1}, {"b": 2]', r"row 2 is not JSON"),
        (b"[1, 2] [3]", r"row 3 is not JSON: trailing garbage"),
        (b"[1, 2", r"row 3 is not JSON: premature EOF"),
        (b'{"a": 1}\n{"b": }\n', r"row 2 is not JSON: Expecting value"),
        (b'["\xe9"]', r"cannot be read: .*utf-8"),
        (b"", r"is empty"),
    ],
)
def test_a_damaged_row_is_named(tmp_path: Path, content: bytes, place: str) -> None:
    path = tmp_path / "rows.json"
    path.write_bytes(content)
    with pytest.raises(BadInputError, match=place):
        list(rows.elements(path))
