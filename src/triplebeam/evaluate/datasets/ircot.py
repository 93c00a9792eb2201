"""IRCoT's layout (Trivedi et al., ACL 2023): ``processed_data/<dataset>/*.jsonl``.

The corpora of that paper are larger than what comes with its questions: the union of the paragraphs in the raw files
of MuSiQue and 2WikiMultiHopQA. Raw files named beside processed ones give their paragraphs to the corpus, and no
questions.
"""

from collections.abc import Sequence
from pathlib import Path

from triplebeam.evaluate.datasets.dataset import Dataset
from triplebeam.evaluate.datasets.musique import kind
from triplebeam.evaluate.datasets.paragraphs import Paragraph, gold_ids, listed, read_contexts, titled
from triplebeam.evaluate.datasets.row import Row
from triplebeam.evaluate.questions import Question

_DATE = ("day", "month", "year")


def read_ircot(sources: Sequence[Path]) -> Dataset:
    """The union of all paragraphs, and the questions of the processed files."""
    return read_contexts(sources, _paragraphs, _question)


def _paragraphs(row: Row) -> list[Paragraph]:
    if row.has("context"):
        return titled(row)
    pinned = listed(row, "pinned_contexts") if row.has("pinned_contexts") else []
    return pinned + listed(row, "contexts", "paragraphs")


def _question(row: Row, paragraphs: list[Paragraph]) -> Question | None:
    if row.has("context", "paragraphs"):
        return None
    question_id = row.text("question_id")
    hops, kind_name = kind(question_id)
    return Question(
        id=question_id,
        question=row.text("question_text"),
        gold=gold_ids(paragraphs),
        answers=tuple(dict.fromkeys(filter(None, map(_answer, row.rows("answers_objects"))))),
        hops=hops,
        type=row.text_or_empty("type") or kind_name,
    )


def _answer(row: Row) -> str:
    """One accepted answer: its spans together, or a number, or a date."""
    if spans := row.texts("spans"):
        return ", ".join(spans)
    if number := row.text_or_empty("number"):
        return number
    date = row.row("date") if row.has("date") else row
    return " ".join(filter(None, (date.text_or_empty(part) for part in _DATE)))
