"""Questions with the passages that answer them, and the sub-questions that MuSiQue has for its own."""

import json
import re
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path

from pydantic import BaseModel, ConfigDict, ValidationError

from triplebeam.errors import BadInputError, nearest
from triplebeam.evaluate.json_values import elements, open_text
from triplebeam.index.passages import PassageTable

#: The type of questions that were written from an index's triples.
SYNTHETIC = "synthetic"
_MOST_SEARCHED = 100_000
_EARLIER_ANSWER = re.compile(r"#(\d+)")


@dataclass(frozen=True, slots=True, kw_only=True)
class Question:
    """A question, and what is known of its answer."""

    id: str
    question: str
    gold: tuple[str, ...] = ()
    """The passages that hold the answer's parts; empty where a dataset names none."""
    answers: tuple[str, ...] = ()
    """The accepted answers, the dataset's own first, then aliases."""
    hops: int | None = None
    type: str = ""
    choices: tuple[str, ...] = ()
    """Of a multiple-choice question; the right one is the answer."""

    @property
    def asked(self) -> str:
        """What an agent is asked: the question, with its choices where it has any."""
        if not self.choices:
            return self.question
        return f"{self.question} Answer with one of these, word for word: " + "; ".join(self.choices)


def read_questions(path: Path) -> list[Question]:
    """Questions from JSON lines, plain or gzipped: ``id``, ``question``, ``gold``, and where there are any ``answers``,
    ``hops``, ``type``, ``choices``.

    A repeated question counts once: a row is left out that says it is the ``duplicate_of`` another, or that has the
    words, the gold passages and the choices of an earlier one.
    """
    rows = [(line, row) for line, row in _rows(path) if not row.get("duplicate_of")]
    questions = [_question(path, line, row) for line, row in rows]
    if not questions:
        raise BadInputError(
            f"{path} holds no questions: one JSON object per line with id, question and gold is expected."
        )
    seen: dict[str, int] = {}
    for (line, _), question in zip(rows, questions, strict=True):
        if question.id in seen:
            raise BadInputError(
                f"{path}, line {line}: the id {question.id!r} is that of line {seen[question.id]} already: give each"
                " question an id of its own, or leave ids out."
            )
        seen[question.id] = line
    distinct: dict[object, Question] = {}
    for question in questions:
        distinct.setdefault((question.question, frozenset(question.gold), question.choices), question)
    return list(distinct.values())


def check_gold(questions: Sequence[Question], passages: PassageTable) -> None:
    """Every gold passage must be in the index, or recall would be silently wrong."""
    for question in questions:
        for passage_id in question.gold:
            if passage_id not in passages:
                raise BadInputError(
                    f"the gold passage {passage_id!r} of question {question.id!r} is not in the index"
                    f"{_nearest_id(passage_id, passages)}: index the corpus these questions were written for."
                )


def _nearest_id(passage_id: str, passages: PassageTable) -> str:
    """What was probably meant; an index of millions is not searched for it."""
    return nearest(passage_id, passages.ids(range(min(len(passages), _MOST_SEARCHED))))


def _rows(path: Path) -> Iterator[tuple[int, dict[str, object]]]:
    with open_text(path) as file:
        for number, line in enumerate(file, start=1):
            if line.strip():
                yield number, _object(path, number, line)


def _object(path: Path, number: int, line: str) -> dict[str, object]:
    try:
        row = json.loads(line)
    except json.JSONDecodeError as error:
        raise BadInputError(f"{path}, line {number} is not JSON: {error.msg}.") from None
    if not isinstance(row, dict):
        raise BadInputError(f"{path}, line {number} is not a JSON object.")
    return row


def _question(path: Path, line: int, row: dict[str, object]) -> Question:
    text = row.get("question")
    if not isinstance(text, str) or not text.strip():
        raise BadInputError(f"{path}, line {line} has no question.")
    gold, answers = _strings(path, line, row, "gold"), _strings(path, line, row, "answers")
    if not gold and not answers:
        raise BadInputError(
            f"{path}, line {line} has neither gold passages (a list of passage ids) nor answers (a list of texts):"
            " nothing can be measured."
        )
    hops = row.get("hops")
    return Question(
        id=str(line if row.get("id") in (None, "") else row["id"]),
        question=text.strip(),
        gold=gold,
        answers=answers,
        hops=hops if isinstance(hops, int) else None,
        type=str(row.get("type") or ""),
        choices=_strings(path, line, row, "choices"),
    )


def _strings(path: Path, line: int, row: dict[str, object], name: str) -> tuple[str, ...]:
    """A list of texts or numbers, each once."""
    values = row.get(name) or []
    if not isinstance(values, list) or not all(isinstance(value, str | int | float) for value in values):
        raise BadInputError(f"{path}, line {line}: {name!r} is not a list of texts.")
    return tuple(dict.fromkeys(map(str, values)))


class SubQuestion(BaseModel):
    """One step towards an answer."""

    model_config = ConfigDict(frozen=True)

    question: str
    answer: str = ""
    gold: str = ""
    """The passage that answers it; empty where a dataset does not say."""


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
    return step.model_copy(update={"question": _EARLIER_ANSWER.sub(answer, step.question)})
