"""The sub-questions that a dataset, such as MuSiQue, has for its questions."""

import re
from dataclasses import replace
from pathlib import Path

from pydantic import BaseModel, ValidationError

from triplebeam.errors import BadInputError
from triplebeam.evaluate.questions import SubQuestion
from triplebeam_research.datasets.json_values import elements

_EARLIER_ANSWER = re.compile(r"#(\d+)")


class _Row(BaseModel):
    question: str
    decomposition: list[SubQuestion] = []


def read_decompositions(path: Path) -> dict[str, list[SubQuestion]]:
    """By the text of the question, its sub-questions in order, every ``#n`` replaced by the answer of the n-th.

    JSON lines, plain or gzipped; a row without ``decomposition`` is skipped.
    """
    found: dict[str, list[SubQuestion]] = {}
    for number, value in elements(path):
        try:
            row = _Row.model_validate(value)
        except ValidationError as error:
            first = error.errors()[0]
            place = ".".join(map(str, first["loc"]))
            raise BadInputError(f"{path}, row {number}: {place}: {first['msg']}.") from None
        if row.decomposition:
            found[row.question] = [_filled(path, number, row.decomposition, n) for n in range(len(row.decomposition))]
    return found


def _filled(path: Path, row: int, steps: list[SubQuestion], number: int) -> SubQuestion:
    def answer(reference: re.Match[str]) -> str:
        before = steps[int(reference[1]) - 1] if 0 < int(reference[1]) <= number else None
        if before is None or not before.answer:
            raise BadInputError(
                f"{path}, row {row}: {reference[0]} in sub-question {number + 1} names no earlier sub-question with an"
                " answer: correct the row, or leave it out."
            )
        return before.answer

    step = steps[number]
    return replace(step, question=_EARLIER_ANSWER.sub(answer, step.question))
