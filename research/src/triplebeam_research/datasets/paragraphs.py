"""Paragraphs that come with their questions, and the open-domain corpus that is the union of them.

The id of a paragraph is its title, ``#`` and ten hexadecimal digits of the SHA-256 of its text without white space. So
it is the same whichever files are read together and however a release joins sentences, and one article's paragraphs
are distinguished. A paragraph seen before under the same id is the same paragraph.
"""

import hashlib
from collections.abc import Callable, Iterable, Iterator, Sequence
from pathlib import Path
from typing import NamedTuple

from triplebeam.evaluate.questions import Question
from triplebeam.passage import Document
from triplebeam.text.characters import replace_unstorable
from triplebeam_research.datasets.dataset import Collected, Dataset, LeftOut, Rereadable
from triplebeam_research.datasets.row import Row, read_rows


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
