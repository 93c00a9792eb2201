"""MuSiQue (Trivedi et al., TACL 2022): ``musique_ans_v1.0_*.jsonl``, ``musique_full_v1.0_*.jsonl``."""

import re
from collections.abc import Sequence
from pathlib import Path

from triplebeam.evaluate.datasets.dataset import Dataset, LeftOut
from triplebeam.evaluate.datasets.paragraphs import Paragraph, gold_ids, listed, read_contexts
from triplebeam.evaluate.datasets.row import Row
from triplebeam.evaluate.questions import Question

UNANSWERABLE = LeftOut("marked unanswerable")
_KIND = re.compile(r"(?P<type>(?P<hops>\d+)hop\d*)__")


def read_musique(sources: Sequence[Path]) -> Dataset:
    """The union of all questions' paragraphs, and the answerable questions."""
    return read_contexts(sources, _paragraphs, _question)


def kind(question_id: str) -> tuple[int | None, str]:
    """The hops and the type from the beginning of a question's id: ``3hop1__…`` is of type 3hop1, with 3 hops."""
    match = _KIND.match(question_id)
    return (int(match["hops"]), match["type"]) if match else (None, "")


def _paragraphs(row: Row) -> list[Paragraph]:
    return listed(row, "paragraphs")


def _question(row: Row, paragraphs: list[Paragraph]) -> Question | LeftOut:
    question_id, text = row.text("id"), row.text("question")
    if row.fields.get("answerable", True) is False:
        return UNANSWERABLE
    hops, kind_name = kind(question_id)
    return Question(
        id=question_id,
        question=text,
        gold=gold_ids(paragraphs),
        answers=tuple(dict.fromkeys(row.texts("answer") + row.texts("answer_aliases"))),
        hops=hops,
        type=kind_name,
    )
