"""What a method did with each question: the one thing that measures, comparisons and reports are made from.

Results on disk, one line each as it comes: a run that was stopped continues, and nothing is computed twice.

A file belongs to one method, one state of the index and one state of the code (`run_key`). Inside it, results are found
by the question as it is asked, so another selection of questions reuses what earlier ones left.
"""

import hashlib
import json
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import asdict, dataclass, field
from functools import cache
from importlib import resources
from importlib.resources.abc import Traversable
from pathlib import Path
from statistics import median

from pydantic import TypeAdapter

from triplebeam.errors import BadInputError
from triplebeam.evaluate.questions import Question
from triplebeam.generate.language_model import Usage
from triplebeam.generate.prompts import format_question


@dataclass(frozen=True, slots=True, kw_only=True)
class StepResult:
    """A step of an agent: the ranking it would have given had it stopped there, and what the step used."""

    passage_ids: tuple[str, ...]
    usage: Usage = field(default_factory=Usage)


@dataclass(frozen=True, slots=True, kw_only=True)
class QuestionResult:
    """The result of one question: passages best first, the answer where one was asked for, and the cost."""

    question_id: str
    passage_ids: tuple[str, ...] = ()
    further_ids: tuple[str, ...] = ()
    """The passages after those, if all of them were read for an answer in one step."""
    answer: str | None = None
    """None where the method only retrieves; empty where it found no answer."""
    seconds: float = 0.0
    """Its own, or its share of the time of a batch."""
    batch: int = 1
    """How many questions were asked at once."""
    encodings: int = 0
    """Texts that were encoded."""
    usage: Usage = field(default_factory=Usage)
    steps: tuple[StepResult, ...] = ()
    ending: str = ""
    """Why an agent stopped, in words."""
    graph: tuple[tuple[str, str, str], ...] | None = None
    """The question graph, if the agent works on one; without triplets where none could be used."""
    graph_is_right: float | None = None
    """1 where the question graph is that of the dataset's evidences, 0 where not; None where nothing was compared."""
    judged: float | None = None
    """1 where a model found the answer right, 0 where not; None where none was asked or its reply could not be used."""

    def to_json(self) -> dict[str, object]:
        """Return the result as an object of JSON values."""
        return asdict(self)

    @classmethod
    def from_json(cls, row: Mapping[str, object]) -> "QuestionResult":
        """Read what `to_json` wrote. ValueError where it did not."""
        return _RESULT.validate_python(row)


_RESULT = TypeAdapter(QuestionResult)


@dataclass(frozen=True, kw_only=True)
class Run:
    """A method on all questions of an experiment: one result per question, in the questions' order."""

    method: str
    results: Sequence[QuestionResult]
    seed: int | None = None
    """Of the model's samples; None where nothing is sampled."""
    dollars: float | None = None
    """What the calls of all questions cost or, where cached, had cost; None where the model's price is not known."""
    graph: bool | None = None
    """Whether it searches a graph; None where that says nothing: agents, the bound ``gold``, other systems' runs."""

    @property
    def batched(self) -> bool:
        """Whether questions were asked many at once, so that times are averages over batches."""
        return any(result.batch > 1 for result in self.results)

    @property
    def median_seconds(self) -> float:
        """The time half of the questions stay below."""
        return median(result.seconds for result in self.results)


@dataclass(frozen=True, kw_only=True)
class Evaluation:
    """Everything a report is made from."""

    title: str
    questions: Sequence[Question]
    runs: Sequence[Run]
    facts: Mapping[str, str] = field(default_factory=dict)
    """What was compared on: corpus, counts, embedder, model; shown as it is."""
    triples_of_gold: Mapping[str, float] = field(default_factory=dict)
    """Question id to the mean number of triples of its gold passages, where the index has triples."""
    advice: str = ""
    """Whether a graph is needed, in words, where that was asked."""


#: Rooms whose code does not change what a method finds.
_NOT_METHODS = ("serve", "demo", "evaluate", "testing")


def run_key(what: Mapping[str, object], packages: Iterable[str] = ()) -> str:
    """Return a name for everything that results depend on, including the code, also of other packages' methods."""
    others = {package: code_version(package) for package in packages if package != "triplebeam"}
    text = json.dumps({**what, "code": code_version(), **others}, sort_keys=True)
    return hashlib.blake2b(text.encode(), digest_size=10).hexdigest()


@cache
def code_version(package: str = "triplebeam") -> str:
    """Hash a package's source and prompts: after a change of the code no old result is taken for a new one."""
    digest = hashlib.blake2b(digest_size=10)

    def add(folder: Traversable) -> None:
        for entry in sorted(folder.iterdir(), key=lambda each: each.name):
            if entry.is_dir() and entry.name not in (*_NOT_METHODS, "__pycache__"):
                add(entry)
            elif entry.name.endswith((".py", ".md", ".toml")):
                digest.update(entry.name.encode() + entry.read_bytes())

    add(resources.files(package))
    return digest.hexdigest()


class RunFile:
    """One method's results so far."""

    def __init__(self, path: Path) -> None:
        self._path = path
        self._known = self._read()

    def get(self, question: Question) -> QuestionResult | None:
        """Return the result stored for this question, under the id it has now."""
        row = self._known.get(format_question(question.asked))
        return QuestionResult.from_json({**row, "question_id": question.id}) if row else None

    def keep(self, question: Question, result: QuestionResult) -> None:
        """Write one result out at once."""
        row = {"question": format_question(question.asked), **result.to_json()}
        try:
            self._path.parent.mkdir(parents=True, exist_ok=True)
            with self._path.open("a", encoding="utf-8") as file:
                file.write(json.dumps(row) + "\n")
        except OSError as error:
            raise BadInputError(
                f"results cannot be kept in {self._path.parent} ({error.strerror}): set TRIPLEBEAM_RESULTS to a folder"
                " that can be written to."
            ) from error

    def _read(self) -> dict[str, dict[str, object]]:
        if not self._path.exists():
            return {}
        content = self._path.read_bytes()
        whole = content[: content.rfind(b"\n") + 1]
        if len(whole) < len(content):  # killed while it wrote: that one is computed again
            with self._path.open("r+b") as file:
                file.truncate(len(whole))
        rows = [self._row(number, line) for number, line in enumerate(whole.splitlines(), start=1)]
        return {str(row.pop("question")): row for row in rows}

    def _row(self, number: int, line: bytes) -> dict[str, object]:
        try:
            row: dict[str, object] = json.loads(line)
            QuestionResult.from_json({name: value for name, value in row.items() if name != "question"})
        except (ValueError, AttributeError, RecursionError):
            raise BadInputError(
                f"{self._path}, line {number} is not a result: delete the file, and the method is measured again."
            ) from None
        return row
