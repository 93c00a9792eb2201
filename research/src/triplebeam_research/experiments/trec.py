"""Runs and judgements in the formats of TREC, which every tool of the field reads.

A run has a line ``question Q0 passage rank score tag``, judgements (qrels) a line ``question 0 passage relevance``.
Both are split at white space, so an id that holds some is written with ``_`` in its place.
"""

import json
import re
from collections.abc import Mapping, Sequence
from pathlib import Path

from triplebeam.errors import BadInputError
from triplebeam.evaluate.questions import Question, open_text
from triplebeam.evaluate.run import QuestionResult

_SPACE = re.compile(r"\s+")


def write_run(path: Path, tag: str, results: Sequence[QuestionResult]) -> None:
    """Write a run. Scores fall with the rank: tools that order by score again find the same order, without ties."""
    lines = [
        f"{_word(result.question_id)} Q0 {_word(passage_id)} {rank} {1 / rank:.6f} {_word(tag)}\n"
        for result in results
        for rank, passage_id in enumerate(result.passage_ids, start=1)
    ]
    path.write_text("".join(lines), encoding="utf-8")


def write_judgements(path: Path, questions: Sequence[Question]) -> None:
    """Write the gold passages as qrels. Where any of several is enough, all are in it: other tools count each."""
    lines = [f"{_word(question.id)} 0 {_word(gold)} 1\n" for question in questions for gold in question.gold]
    path.write_text("".join(lines), encoding="utf-8")


def read_run(path: Path) -> dict[str, tuple[str, ...]]:
    """Read another system's run, to compare with ours: question id to passage ids, best first.

    Also as JSON lines of ``id`` and ``retrieved``, plain or gzipped.
    """
    with open_text(path) as file:
        lines = file.read().splitlines()
    read = _json_row if ".jsonl" in path.name else _trec_row
    found: dict[str, list[tuple[int, str]]] = {}
    for number, line in enumerate(lines, start=1):
        try:
            question_id, ranked = read(line)
        except (ValueError, KeyError, TypeError):
            raise BadInputError(
                f"{path}, line {number} is not a line of a run: question, Q0, passage, rank, score and tag are"
                " expected, or in JSON lines an object with id and retrieved."
            ) from None
        found.setdefault(question_id, []).extend(ranked)
    return {id_: tuple(dict.fromkeys(passage_id for _, passage_id in sorted(each))) for id_, each in found.items()}


def _trec_row(line: str) -> tuple[str, list[tuple[int, str]]]:
    question_id, _, passage_id, rank, _, _ = line.split()
    return question_id, [(int(rank), passage_id)]


def _json_row(line: str) -> tuple[str, list[tuple[int, str]]]:
    row = json.loads(line)
    return str(row["id"]), [(rank, str(passage_id)) for rank, passage_id in enumerate(row["retrieved"], start=1)]


def find_in_run(question: Question, run: Mapping[str, tuple[str, ...]]) -> QuestionResult | None:
    """Find a question's result in a run. A gold passage is also recognised by the id that `write_run` gives it."""
    found = run.get(question.id, run.get(_word(question.id)))
    if found is None:
        return None
    gold = {_word(passage_id): passage_id for passage_id in question.gold}
    return QuestionResult(question_id=question.id, passage_ids=tuple(gold.get(each, each) for each in found))


def _word(text: str) -> str:
    return _SPACE.sub("_", text)
