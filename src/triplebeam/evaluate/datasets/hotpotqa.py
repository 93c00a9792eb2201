"""HotpotQA (Yang et al., EMNLP 2018): ``hotpot_train_v1.1.json``, ``hotpot_dev_distractor_v1.json``.

Also 2WikiMultiHopQA (Ho et al., COLING 2020), which has its format: ``train.json``, ``dev.json``, ``test.json``. With
the ``id_aliases.json`` of later releases an answer's aliases count too, as they do in its own evaluation.
"""

from collections.abc import Mapping, Sequence
from dataclasses import replace
from pathlib import Path

from triplebeam.evaluate.datasets.dataset import Dataset
from triplebeam.evaluate.datasets.paragraphs import Paragraph, gold_ids, read_contexts, titled
from triplebeam.evaluate.datasets.row import Row, read_rows
from triplebeam.evaluate.questions import Question


def read_hotpotqa(sources: Sequence[Path]) -> Dataset:
    """The union of all questions' paragraphs, and the questions."""
    return read_contexts(sources, titled, _question)


def read_two_wiki(sources: Sequence[Path]) -> Dataset:
    """The union of all questions' paragraphs, and the questions."""
    aliases: dict[str, tuple[str, ...]] = {}
    files = []
    for source in sources:
        first = next(read_rows(source), None)
        if first and first.has("Q_id"):
            aliases.update(_aliases(source))
        else:
            files.append(source)

    def with_aliases(row: Row, paragraphs: list[Paragraph]) -> Question:
        plain = _question(row, paragraphs)
        more = aliases.get(row.text_or_empty("answer_id"), ()) if plain.answers else ()
        return replace(plain, answers=tuple(dict.fromkeys(plain.answers + more)))

    return read_contexts(files, titled, with_aliases)


def _question(row: Row, paragraphs: list[Paragraph]) -> Question:
    """A question; its hops are the distinct titles among its supporting facts."""
    return Question(
        id=row.text("_id", "id"),
        question=row.text("question"),
        gold=gold_ids(paragraphs),
        answers=row.texts("answer"),
        hops=len({each.title for each in paragraphs if each.is_gold}) or None,
        type=row.text_or_empty("type"),
    )


def _aliases(path: Path) -> Mapping[str, tuple[str, ...]]:
    return {row.text("Q_id"): row.texts("aliases") + row.texts("demonyms") for row in read_rows(path)}
