"""Datasets that name no gold passages.

- QuALITY (Pang et al., NAACL 2022): ``QuALITY.v1.0.1.htmlstripped.train`` and ``.dev``. Multiple choice over long
  articles; an article is one document, to be cut when indexed. In a split each article comes twice, with another
  writer's questions.
- Bamboogle (Press et al., 2023): a CSV of ``Question`` and ``Answer``, two hops each. It comes without passages.
"""

import csv
from collections.abc import Iterator, Sequence
from pathlib import Path

from triplebeam.errors import BadInputError
from triplebeam.evaluate.questions import Question, open_text
from triplebeam.passage import Document
from triplebeam.text.characters import replace_unstorable
from triplebeam_research.datasets.dataset import Collected, Dataset, Rereadable
from triplebeam_research.datasets.rows import Row, read_rows


def read_quality(sources: Sequence[Path]) -> Dataset:
    """Read the articles, and the questions whose right option is published."""
    collected = Collected()
    for source in sources:
        for row in read_rows(source):
            row.text("article")
            for number, each in enumerate(row.rows("questions"), start=1):
                default_id = f"{row.text_or_empty('set_unique_id') or row.text('article_id')}-{number}"
                collected.add(each.place, _quality_question(each, default_id))
    return collected.dataset(Rereadable(lambda: _articles(sources)), sources)


def _articles(sources: Sequence[Path]) -> Iterator[Document]:
    seen: set[str] = set()
    for source in sources:
        for row in read_rows(source):
            if (article_id := row.text("article_id")) not in seen:
                seen.add(article_id)
                yield Document(id=article_id, title=row.text_or_empty("title"), text=row.text("article"))


def _quality_question(row: Row, default_id: str) -> Question:
    options = tuple(replace_unstorable(str(option)).strip() for option in row.items("options"))
    label = row.text_or_empty("gold_label", "writer_label")
    if label and label not in map(str, range(1, len(options) + 1)):
        raise row.make_error(f"has the label {label}, and {len(options)} options")
    return Question(
        id=row.text_or_empty("question_unique_id") or default_id,
        question=row.text("question"),
        answers=(options[int(label) - 1],) if label else (),
        type="hard" if row.text_or_empty("difficult") == "1" else "",
        choices=options,
    )


def read_bamboogle(sources: Sequence[Path]) -> Dataset:
    """Read the questions; ids number the rows, as in bamboogle-000."""
    collected = Collected()
    for source in sources:
        with open_text(source) as file:
            table = csv.DictReader(file)
            names = table.fieldnames or []
            for name in ("Question", "Answer"):
                if name not in names:
                    raise BadInputError(f"{source}, row 1 has no column {name!r}: is it Bamboogle's CSV?")
            for number, row in enumerate(table):
                place = f"{source}, row {number + 2}"
                collected.add(place, _bamboogle_question(place, f"bamboogle-{number:03}", row))
    return collected.dataset((), sources)


def _bamboogle_question(place: str, question_id: str, row: dict[str, str | None]) -> Question:
    for name in ("Question", "Answer"):
        if not (row[name] or "").strip():
            raise BadInputError(f"{place} has no {name!r}.")
    text, answer = (str(row[name]).strip() for name in ("Question", "Answer"))
    return Question(id=question_id, question=text, answers=(answer,), hops=2)
