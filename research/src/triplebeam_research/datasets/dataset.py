"""What every format is read into: documents, questions, and what was left out."""

from collections import Counter
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import NamedTuple

from triplebeam.errors import BadInputError
from triplebeam.evaluate.questions import Question
from triplebeam.passage import Document

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
