"""2WikiMultiHopQA (Ho et al., COLING 2020): ``train.json``, ``dev.json``, ``test.json``.

With the ``id_aliases.json`` of later releases an answer's aliases count too, as they do in its own evaluation.
"""

from collections.abc import Mapping, Sequence
from dataclasses import replace
from pathlib import Path

from triplebeam.evaluate.datasets.dataset import Dataset
from triplebeam.evaluate.datasets.hotpotqa import question
from triplebeam.evaluate.datasets.paragraphs import Paragraph, read_contexts, titled
from triplebeam.evaluate.datasets.row import Row, read_rows
from triplebeam.evaluate.questions import Question


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
        plain = question(row, paragraphs)
        more = aliases.get(row.text_or_empty("answer_id"), ()) if plain.answers else ()
        return replace(plain, answers=tuple(dict.fromkeys(plain.answers + more)))

    return read_contexts(files, titled, with_aliases)


def _aliases(path: Path) -> Mapping[str, tuple[str, ...]]:
    return {row.text("Q_id"): row.texts("aliases") + row.texts("demonyms") for row in read_rows(path)}
