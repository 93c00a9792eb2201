"""`triplebeam show --triples`: the facts of an index."""

import json
from pathlib import Path

import pytest

from journeys.command_line import Quick

ELBE = {"passage_id": "elbe", "triples": [["Elbe", "flows", "north"]]}
NILE = {"passage_id": "nile", "triples": [["Nile", "flows", "north"]]}


@pytest.mark.parametrize(
    ("options", "found"),
    [
        ((), [ELBE, NILE]),
        (("elbe",), [ELBE]),
        (("--about", "NILE"), [NILE]),
        (("--about", "North"), [ELBE, NILE]),
        (("elbe", "--about", "nile"), []),
        (("oder",), []),
    ],
)
def test_triples_are_exported(
    quick: Quick, small_index: Path, options: tuple[str, ...], found: list[dict[str, object]]
) -> None:
    code, stdout, _ = quick("show", small_index, *options, "--triples", "--json")
    assert code == 0
    assert [json.loads(line) for line in stdout.splitlines()] == found


def test_triples_are_printed(quick: Quick, small_index: Path) -> None:
    assert quick("show", small_index, "elbe", "--triples")[:2] == (0, "elbe\n  Elbe | flows | north\n")


@pytest.mark.parametrize(
    ("options", "said"),
    [
        (("elb",), "there is no document 'elb' in the index (did you mean 'elbe'?)"),
        (("--about", "Niles"), "no triple has the entity 'Niles' (did you mean 'Nile'?)"),
    ],
)
def test_what_is_not_there_is_said(quick: Quick, small_index: Path, options: tuple[str, ...], said: str) -> None:
    code, stdout, message = quick("show", small_index, *options, "--triples")
    assert (code, stdout) == (2, "")
    assert said in message
