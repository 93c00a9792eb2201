"""HotpotQA (Yang et al., EMNLP 2018): ``hotpot_train_v1.1.json``, ``hotpot_dev_distractor_v1.json``."""

from collections.abc import Sequence
from pathlib import Path

from triplebeam.evaluate.datasets.dataset import Dataset
from triplebeam.evaluate.datasets.paragraphs import Paragraph, gold_ids, read_contexts, titled
from triplebeam.evaluate.datasets.row import Row
from triplebeam.evaluate.questions import Question


def read_hotpotqa(sources: Sequence[Path]) -> Dataset:
    """The union of all questions' paragraphs, and the questions."""
    return read_contexts(sources, titled, question)


def question(row: Row, paragraphs: list[Paragraph]) -> Question:
    """A question; its hops are the distinct titles among its supporting facts."""
    return Question(
        id=row.text("_id", "id"),
        question=row.text("question"),
        gold=gold_ids(paragraphs),
        answers=row.texts("answer"),
        hops=len({each.title for each in paragraphs if each.is_gold}) or None,
        type=row.text_or_empty("type"),
    )
