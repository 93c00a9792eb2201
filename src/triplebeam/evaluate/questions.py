"""Questions with the passages that answer them."""

import json
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path

from triplebeam.errors import BadInputError
from triplebeam.evaluate.json_values import open_text
from triplebeam.index.passages import PassageTable
from triplebeam.names import nearest

#: The type of questions that were written from an index's triples.
SYNTHETIC = "synthetic"
_MOST_SEARCHED = 100_000


@dataclass(frozen=True, slots=True, kw_only=True)
class Question:
    """A question asked by a person, and what is known of its answer."""

    id: str
    question: str
    gold: tuple[str, ...] = ()
    """The passages that hold the answer's parts; empty where a dataset names none."""
    answers: tuple[str, ...] = ()
    """The accepted answers, the dataset's own first, aliases behind it."""
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
                f"{path}, line {line}: the id {question.id!r} is already used in line {seen[question.id]}: give each"
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
