"""What a method did with each question: the one thing that measures, comparisons and reports are made from."""

from collections.abc import Mapping, Sequence
from dataclasses import asdict, dataclass, field
from statistics import median

from pydantic import TypeAdapter

from triplebeam.evaluate.questions import Question
from triplebeam.generate.language_model import Usage


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
