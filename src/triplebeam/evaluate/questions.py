"""Questions with the passages that answer them."""

import gzip
import io
import json
import zlib
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from dataclasses import asdict, dataclass, replace
from pathlib import Path
from typing import IO, TextIO, cast

from triplebeam.errors import BadInputError
from triplebeam.evaluate.gold import Entry, GoldFinder, Place
from triplebeam.generate.prompts import MultipleChoice
from triplebeam.index.source import PassageLookup

#: The type of questions that were written from an index's triples.
SYNTHETIC = "synthetic"
#: Looking for what was probably meant takes time.
MAX_MISSING_SHOWN = 10


@dataclass(frozen=True, slots=True, kw_only=True)
class SubQuestion:
    """One step towards an answer."""

    question: str
    answer: str = ""
    gold: str = ""
    """The passage that answers it; empty where a dataset does not say."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Question:
    """A question, and what is known of its answer."""

    id: str
    question: str
    gold: tuple[str, ...] = ()
    """The passages that hold the answer's parts; empty where a dataset names none."""
    groups: tuple[tuple[str, ...], ...] = ()
    """Where several passages hold the same part: those of each part, any of which is enough. Empty: every gold passage
    is a part of its own."""
    unresolved: tuple[Entry, ...] = ()
    """Gold that was written as files and phrases, until `find_gold` has looked it up in an index."""
    answers: tuple[str, ...] = ()
    """The accepted answers, the dataset's own first, then aliases."""
    hops: int | None = None
    type: str = ""
    choices: tuple[str, ...] = ()
    """Of a multiple-choice question; the right one is the answer."""
    evidences: tuple[tuple[str, str, str], ...] = ()
    """The triples that lead to the answer, where a dataset has them, as 2WikiMultiHopQA does."""
    decomposition: tuple[SubQuestion, ...] = ()
    """The sub-questions that lead to the answer, of a dataset that has them."""

    @property
    def asked(self) -> str:
        """What an agent is asked: the question, with its choices where it has any."""
        return MultipleChoice(self.question, self.choices) if self.choices else self.question

    def row(self) -> dict[str, object]:
        """Return the row of a questions file, without the fields of which nothing is known."""
        return {name: value for name, value in asdict(self).items() if value}


def read_questions(path: Path) -> list[Question]:
    """Read questions from JSON lines, plain or gzipped: ``id``, ``question``, ``gold``, and where there are any
    ``answers``, ``hops``, ``type``, ``choices``.

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
        content = (question.question, frozenset(question.gold), frozenset(question.unresolved), question.choices)
        distinct.setdefault(content, question)
    return list(distinct.values())


def find_gold(questions: Sequence[Question], passages: PassageLookup) -> list[Question]:
    """Look up the gold of all questions in an index. One error names all gold that is not there, up to a limit."""
    finder, found, missing = GoldFinder(passages), [], []
    for question in questions:
        try:
            found.append(_with_gold(question, finder))
        except BadInputError as error:
            missing.append(str(error))
        if len(missing) == MAX_MISSING_SHOWN:
            missing.append("Later questions were not looked at.")
            break
    if missing:
        raise BadInputError("\n".join(missing))
    return found


def _with_gold(question: Question, finder: GoldFinder) -> Question:
    entries = question.unresolved or [(passage_id,) for passage_id in question.gold]
    groups = tuple(finder.passages_of(question.id, entry) for entry in entries)
    if not question.unresolved:
        return question
    firsts, all_of_them = [group[0] for group in groups], [passage_id for group in groups for passage_id in group]
    return replace(question, gold=tuple(dict.fromkeys(firsts + all_of_them)), groups=groups, unresolved=())


@contextmanager
def open_text(path: Path) -> Iterator[TextIO]:
    """Open the file's text; what goes wrong while reading is reported with the file's name."""
    try:
        with cast(IO[bytes], gzip.open(path)) if path.suffix == ".gz" else path.open("rb") as data:
            yield io.TextIOWrapper(data, encoding="utf-8-sig", newline="")
    except (OSError, EOFError, zlib.error, UnicodeDecodeError) as error:
        reason = error.strerror if isinstance(error, OSError) and error.strerror else error
        raise BadInputError(f"{path} cannot be read ({reason}): name a readable file.") from error


def _rows(path: Path) -> Iterator[tuple[int, dict[str, object]]]:
    with open_text(path) as file:
        for number, line in enumerate(file, start=1):
            if not line.strip():
                continue
            try:
                row = json.loads(line)
            except (ValueError, RecursionError) as error:
                raise BadInputError(f"{path}, line {number} is not JSON: {error}.") from None
            if not isinstance(row, dict):
                raise BadInputError(f"{path}, line {number} is not a JSON object.")
            yield number, row


def _question(path: Path, line: int, row: dict[str, object]) -> Question:
    text = row.get("question")
    if not isinstance(text, str) or not text.strip():
        raise BadInputError(f"{path}, line {line} has no question.")
    entries, answers = _gold(path, line, row), _strings(path, line, row, "answers")
    if not entries and not answers:
        raise BadInputError(
            f"{path}, line {line} has neither gold passages (a list of ids, or of files and phrases) nor answers"
            " (a list of texts): nothing can be measured."
        )
    ids = [entry[0] for entry in entries if len(entry) == 1 and isinstance(entry[0], str)]
    has_ids = len(ids) == len(entries)  # every entry is the id of a passage
    hops = row.get("hops")
    return Question(
        id=str(line if row.get("id") in (None, "") else row["id"]),
        question=text.strip(),
        gold=tuple(ids) if has_ids else (),
        unresolved=() if has_ids else entries,
        answers=answers,
        hops=hops if isinstance(hops, int) else None,
        type=str(row.get("type") or ""),
        choices=_strings(path, line, row, "choices"),
        evidences=_evidences(path, line, row),
    )


def _evidences(path: Path, line: int, row: dict[str, object]) -> tuple[tuple[str, str, str], ...]:
    values = row.get("evidences") or []
    if not isinstance(values, list) or not all(isinstance(each, list) and len(each) == 3 for each in values):
        raise BadInputError(f"{path}, line {line}: 'evidences' is not a list of triples.")
    return tuple((str(subject), str(relation), str(object_)) for subject, relation, object_ in values)


def _gold(path: Path, line: int, row: dict[str, object]) -> tuple[Entry, ...]:
    values = row.get("gold") or []
    if not isinstance(values, list):
        raise BadInputError(f"{path}, line {line}: 'gold' is not a list.")
    return tuple(dict.fromkeys(_entry(path, line, value) for value in values))


def _entry(path: Path, line: int, value: object) -> Entry:
    alternatives = value.get("any") if isinstance(value, dict) and "any" in value else [value]
    if not isinstance(alternatives, list) or not alternatives:
        raise BadInputError(f"{path}, line {line}: 'any' is not a list of passage ids, files and phrases.")
    return tuple(dict.fromkeys(_alternative(path, line, each) for each in alternatives))


def _alternative(path: Path, line: int, value: object) -> str | Place:
    if isinstance(value, str | int | float):
        return str(value)
    if isinstance(value, dict) and value and value.keys() <= {"file", "phrase"}:
        place = Place(*(str(value.get(name) or "").strip() for name in ("file", "phrase")))
        if place != Place():
            return place
    raise BadInputError(
        f"{path}, line {line}: {json.dumps(value, ensure_ascii=False)} is no gold: a passage id is expected, or an"
        ' object with "file", "phrase" or both, or {"any": [...]} with several of them.'
    )


def _strings(path: Path, line: int, row: dict[str, object], name: str) -> tuple[str, ...]:
    """Return a list of texts or numbers, each once."""
    values = row.get(name) or []
    if not isinstance(values, list) or not all(isinstance(value, str | int | float) for value in values):
        raise BadInputError(f"{path}, line {line}: {name!r} is not a list of texts.")
    return tuple(dict.fromkeys(map(str, values)))
