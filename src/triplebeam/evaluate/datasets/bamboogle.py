"""Bamboogle (Press et al., 2023): a CSV of ``Question`` and ``Answer``, two hops each. It comes without passages."""

import csv
from collections.abc import Sequence
from pathlib import Path

from triplebeam.errors import BadInputError
from triplebeam.evaluate.datasets.dataset import Collected, Dataset
from triplebeam.evaluate.json_values import open_text
from triplebeam.evaluate.questions import Question


def read_bamboogle(sources: Sequence[Path]) -> Dataset:
    """The questions; ids number the rows, as in bamboogle-000."""
    collected = Collected()
    for source in sources:
        with open_text(source) as file:
            table = csv.DictReader(file)
            names = table.fieldnames or []
            for name in ("Question", "Answer"):
                if name not in names:
                    raise BadInputError(f"{source}, row 1 has no column {name!r}: is it Bamboogle's CSV?")
            for number, row in enumerate(table):
                place = f"{source}, row {number + 2}"
                collected.add(place, _question(place, f"bamboogle-{number:03}", row))
    return collected.dataset((), sources)


def _question(place: str, question_id: str, row: dict[str, str | None]) -> Question:
    for name in ("Question", "Answer"):
        if not (row[name] or "").strip():
            raise BadInputError(f"{place} has no {name!r}.")
    text, answer = (str(row[name]).strip() for name in ("Question", "Answer"))
    return Question(id=question_id, question=text, answers=(answer,), hops=2)
