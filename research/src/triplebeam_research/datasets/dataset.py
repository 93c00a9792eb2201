"""What every format is read into: documents, questions, and what was left out.

Many questions come with their paragraphs; the open-domain corpus is the union of them. The id of a paragraph is its
title, ``#`` and ten hexadecimal digits of the SHA-256 of its text without white space. So it is the same whichever
files are read together and however a release joins sentences, and one article's paragraphs are distinguished. A
paragraph seen before under the same id is the same paragraph.
"""

import hashlib
from collections import Counter
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import NamedTuple

from triplebeam.errors import BadInputError
from triplebeam.evaluate.questions import Question
from triplebeam.passage import Document
from triplebeam.text.characters import replace_unstorable
from triplebeam_research.datasets.rows import Row, read_rows

REPEATED = "repeated"
_NOTHING_KNOWN = "without published answer or gold passages"


@dataclass(frozen=True, kw_only=True)
class Dataset:
    """A corpus and questions over it."""

    documents: Iterable[Document]
    """Read from the files again each time: a corpus may be larger than memory. Most are passages already."""
    questions: Sequence[Question]
    left_out: Mapping[str, int] = field(default_factory=dict)
    """How many questions were left out, by reason."""


@dataclass(frozen=True)
class Rereadable(Iterable[Document]):
    """Documents that are read again for each iteration."""

    read: Callable[[], Iterator[Document]]

    def __iter__(self) -> Iterator[Document]:
        return self.read()


class LeftOut(NamedTuple):
    """Instead of a question: why it does not count."""

    reason: str


class Collected:
    """The questions of one or several files: each once, none without something to measure."""

    def __init__(self) -> None:
        self.questions: list[Question] = []
        self.left_out: Counter[str] = Counter()
        self._contents: set[tuple[str, ...]] = set()
        self._places: dict[str, str] = {}

    def add(self, place: str, outcome: Question | LeftOut) -> None:
        """Take a question in. One with text, gold passages and choices of an earlier one is a repetition."""
        if isinstance(outcome, LeftOut):
            self.left_out[outcome.reason] += 1
            return
        content = (outcome.question, *sorted(outcome.gold), "", *outcome.choices)
        if not outcome.gold and not outcome.answers:
            self.left_out[_NOTHING_KNOWN] += 1
        elif content in self._contents:
            self.left_out[REPEATED] += 1
        elif outcome.id in self._places:
            raise BadInputError(
                f"{place}: the id {outcome.id!r} belongs to another question in {self._places[outcome.id]};"
                " read the two files into two folders."
            )
        else:
            self._contents.add(content)
            self._places[outcome.id] = place
            self.questions.append(outcome)

    def dataset(self, documents: Iterable[Document], sources: Sequence[Path]) -> Dataset:
        """Return the collected dataset, unless it is empty."""
        if not self.questions:
            reasons = ", ".join(f"{count:,} {reason}" for reason, count in self.left_out.items()) or "no rows"
            raise BadInputError(
                f"no question can be measured in {', '.join(map(str, sources))} ({reasons}): name a file with answers"
                " or gold passages as well."
            )
        return Dataset(documents=documents, questions=self.questions, left_out=dict(self.left_out))


def require_gold(dataset: Dataset) -> Dataset:
    """Return the dataset, once every gold passage is known to be among the documents."""
    missing = {passage_id: question.id for question in dataset.questions for passage_id in question.gold}
    for document in dataset.documents:
        missing.pop(document.id, None)
    for passage_id, question_id in missing.items():
        raise BadInputError(
            f"the gold passage {passage_id!r} of question {question_id!r} is not in the corpus: name the corpus these"
            " questions were written for."
        )
    return dataset


class Paragraph(NamedTuple):
    """A paragraph of one question's context."""

    title: str
    text: str
    is_gold: bool = False

    @property
    def id(self) -> str:
        """The same for the same title and text."""
        digest = hashlib.sha256("".join(self.text.split()).encode()).hexdigest()[:10]
        return f"{self.title}#{digest}"


def paragraph(title: str, text: str, is_gold: bool = False) -> Paragraph:
    """Return a paragraph as it is stored; one that is a title only has it as its text."""
    title, text = " ".join(replace_unstorable(title).split()), replace_unstorable(text).strip()
    return Paragraph(title, text or title, is_gold)


def read_listed(row: Row, *names: str, gold: bool = False) -> list[Paragraph]:
    """Read paragraphs as objects: ``title``, ``paragraph_text`` or ``text``, ``is_supporting`` (or else ``gold``)."""
    paragraphs = []
    for each in row.rows(*names):
        if not each.has("paragraph_text", "text"):
            raise each.make_error("has no 'paragraph_text' or 'text'")
        text = each.text_or_empty("paragraph_text", "text")
        is_gold = bool(each.fields.get("is_supporting", gold))
        paragraphs.append(paragraph(each.text_or_empty("title"), text, is_gold))
    return paragraphs


def read_titled(row: Row) -> list[Paragraph]:
    """Read ``context: [[title, [sentence, …]], …]``, the gold ones named in ``supporting_facts``."""
    pairs = [_pair(row, item, "context") for item in row.items("context")]
    facts = row.items("supporting_facts") if row.has("supporting_facts") else []
    gold = dict.fromkeys(_pair(row, fact, "supporting_facts")[0] for fact in facts)
    for title in gold:
        if title not in dict(pairs):
            raise row.make_error(f"names the supporting title {title!r}, which its context does not hold")
    return [paragraph(title, join_sentences(row, sentences), title in gold) for title, sentences in pairs]


def join_sentences(row: Row, sentences: object) -> str:
    """Join sentences: HotpotQA's begin with the space between them, 2WikiMultiHopQA's do not."""
    if not isinstance(sentences, list) or not all(isinstance(sentence, str) for sentence in sentences):
        raise row.make_error("has a paragraph that is not a list of sentences")
    has_spaces = any(sentence[:1].isspace() for sentence in sentences[1:])
    return ("" if has_spaces else " ").join(sentences)


def gold_ids(paragraphs: Iterable[Paragraph]) -> tuple[str, ...]:
    """Return the ids of the gold ones, each once."""
    return tuple(dict.fromkeys(each.id for each in paragraphs if each.is_gold))


def deduplicate(paragraphs: Iterable[Paragraph]) -> Iterator[Document]:
    """Yield each paragraph once, as a document that is a passage already. Blank ones are nothing to search."""
    seen: set[str] = set()
    for each in paragraphs:
        if each.text and (passage_id := each.id) not in seen:
            seen.add(passage_id)
            yield Document(id=passage_id, title=each.title, text=each.text, is_passage=True)


def read_contexts(
    files: Sequence[Path],
    paragraphs_of: Callable[[Row], list[Paragraph]],
    question_of: Callable[[Row, list[Paragraph]], Question | LeftOut | None],
) -> Dataset:
    """Read a dataset of rows that hold a question and its paragraphs each. None means a row of paragraphs alone."""
    collected = Collected()
    for file in files:
        for row in read_rows(file):
            paragraphs = paragraphs_of(row)
            if any(each.is_gold and not each.text for each in paragraphs):
                raise row.make_error("has a gold paragraph without text")
            if (outcome := question_of(row, paragraphs)) is not None:
                collected.add(row.place, outcome)

    def documents() -> Iterator[Document]:
        return deduplicate(each for file in files for row in read_rows(file) for each in paragraphs_of(row))

    return collected.dataset(Rereadable(documents), files)


def _pair(row: Row, item: object, field: str) -> tuple[str, object]:
    if not isinstance(item, list) or len(item) != 2 or not isinstance(item[0], str):
        raise row.make_error(f"has something in {field!r} that is not a pair beginning with a title")
    return item[0], item[1]
