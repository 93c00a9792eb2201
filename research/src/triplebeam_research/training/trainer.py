"""Training GNN-Ret and RGNN-Ret on an index's questions, and measuring it on questions it was not trained on."""

import re
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import Literal, TypeAlias

import numpy as np
from numpy.typing import NDArray
from pydantic import BaseModel, ValidationError

from triplebeam.assemble import IndexReader, context_of
from triplebeam.assemble.retrievers import UNTRAINED_ALPHA, ScoringBase, scoring_base
from triplebeam.errors import BadInputError
from triplebeam.evaluate.questions import Question, SubQuestion, find_gold, read_questions
from triplebeam.methods.gnn_ret import GNN_RET, RGNN_RET, MessagePassing, TrainedOn, TrainingSettings, Weights
from triplebeam.methods.gnn_ret.propagate import Distances, distances_of, nearest
from triplebeam.methods.gnn_ret.weights import Targets
from triplebeam.system.work import Progress, ignore_progress
from triplebeam_research.datasets.rows import elements
from triplebeam_research.training.descent import TrainingResult, train
from triplebeam_research.training.objective import HingeObjective, TrainingStep, training_steps

TrainedMethod: TypeAlias = Literal["gnn_ret", "rgnn_ret"]
#: What a fold measures.
Compared: TypeAlias = Literal["base", "untrained", "trained"]
METHODS: Mapping[str, TrainingSettings] = {"gnn_ret": GNN_RET, "rgnn_ret": RGNN_RET}
UNTRAINED_BETA = 0.9
DEPTHS = (5, 15)
_EARLIER_ANSWER = re.compile(r"#(\d+)")


@dataclass(frozen=True, kw_only=True, eq=False)
class Example:
    """A question as training sees it: one step for GNN-Ret, its sub-questions in order for RGNN-Ret."""

    steps: Sequence[TrainingStep]
    wanted: Sequence[NDArray[np.int64]]
    """What each step is to find: the gold passages of the question, or that of the sub-question."""


@dataclass(frozen=True, kw_only=True)
class Fold:
    """What was learned from all other questions, and the recall at each depth on the ``held`` ones."""

    held: int
    result: TrainingResult
    base: Sequence[float]
    untrained: Sequence[float]
    trained: Sequence[float]


@dataclass(frozen=True, kw_only=True)
class Trainer:
    """Learns α, and β where the settings have one, over the distances of one base."""

    index: IndexReader
    settings: TrainingSettings
    base: str = "dense"
    progress: Progress = field(default=ignore_progress, repr=False)

    @property
    def method(self) -> TrainedMethod:
        """RGNN-Ret is what has a β."""
        return "gnn_ret" if self.settings.beta is None else "rgnn_ret"

    def examples(self, path: Path, limit: int | None = None) -> list[Example]:
        """Return the questions of a file, with the distance of every passage to each or to their sub-questions."""
        questions = find_gold(read_questions(path)[:limit], self.index.passages)
        for question in questions:
            if not question.gold:
                raise BadInputError(
                    f"question {question.id!r} of {path} has no gold passages: training needs them for every question."
                )
        asked = self._choose_queries(path, questions)
        base = scoring_base(self.index.retriever(self.base))
        made: list[Example] = []
        for number, question in enumerate(questions, start=1):
            made.append(self._example(base, question, asked(question)))
            self.progress("measure distances", number, len(questions))
        return made

    def train(self, examples: Sequence[Example]) -> TrainingResult:
        """Learn from all of them."""
        return train(
            context_of(self.index).snapshot.passage_graph,
            [example.steps for example in examples],
            self.settings,
            self.progress,
        )

    def weights(self, examples: Sequence[Example], questions: Path) -> Weights:
        """Learn from all of them, with what it was learned from."""
        trained_on = TrainedOn(
            questions=questions.name,
            question_count=len(examples),
            passage_count=len(self.index.passages),
            embedder=context_of(self.index).snapshot.manifest.embedder.name,
            base=self.base,
        )
        return describe_training(self.train(examples), self.settings, trained_on)

    def cross_validate(self, examples: Sequence[Example], folds: int, limit: int | None = None) -> list[Fold]:
        """Hold out every ``folds``-th question in turn and learn from the others, or the first ``limit`` of them."""
        if folds > len(examples):
            raise BadInputError(f"{len(examples)} questions cannot make {folds} folds: ask for fewer folds.")
        return [self._fold(examples, number, folds, limit) for number in range(folds)]

    def _fold(self, examples: Sequence[Example], number: int, folds: int, limit: int | None) -> Fold:
        held = examples[number::folds]
        others = [example for place, example in enumerate(examples) if place % folds != number]
        result = self.train(others[:limit])
        untrained = (UNTRAINED_ALPHA,) * len(self.settings.alpha)
        return Fold(
            held=len(held),
            result=result,
            base=self.recall(held, (), 1.0),
            untrained=self.recall(held, untrained, UNTRAINED_BETA),
            trained=self.recall(held, result.alpha, 1.0 if result.beta is None else result.beta),
        )

    def recall(self, examples: Sequence[Example], alpha: Sequence[float], beta: float) -> list[float]:
        """Compute R@k for each of `DEPTHS`: the mean over questions of the mean over their steps."""
        objective = HingeObjective(passing=self._make_passing(), competitors=self.settings.competitors)

        def shares(example: Example) -> list[float]:
            steps = zip(objective.forward(example.steps, alpha, beta), example.wanted, strict=True)
            found = [
                [np.isin(wanted, nearest(step.integrated, depth)).mean() for depth in DEPTHS]
                for step, wanted in steps
                if len(wanted)
            ]
            mean: list[float] = np.mean(found, axis=0).tolist()
            return mean

        overall: list[float] = np.mean([shares(example) for example in examples], axis=0).tolist()
        return overall

    def _make_passing(self) -> MessagePassing:
        return MessagePassing(
            graph=context_of(self.index).snapshot.passage_graph,
            relevant=self.settings.relevant,
            message=self.settings.message,
            edges=self.settings.edges,
        )

    def _choose_queries(self, path: Path, questions: Sequence[Question]) -> Callable[[Question], Sequence[SubQuestion]]:
        """Return what is sent to the base for a question: itself, or its sub-questions."""
        if self.method == "gnn_ret":
            return lambda question: [SubQuestion(question=question.question)]
        known = read_decompositions(path)
        for question in questions:
            if question.question not in known:
                raise BadInputError(
                    f"question {question.id!r} of {path} has no decomposition: RGNN-Ret learns from sub-questions with"
                    " their answers; train gnn_ret, or use questions that have them, such as MuSiQue's."
                )
        return lambda question: known[question.question]

    def _example(self, base: ScoringBase, question: Question, asked: Sequence[SubQuestion]) -> Example:
        row = context_of(self.index).snapshot.passages.row
        for each in asked:
            if each.gold and each.gold not in self.index.passages:
                raise BadInputError(
                    f"the gold passage {each.gold!r} of sub-question {each.question!r} of question {question.id!r} is"
                    " not in the index: index the corpus these questions were written for."
                )
        distances: list[Distances] = [
            distances_of(base.retriever.scores(each.question), base.distance) for each in asked
        ]
        gold = [row(passage_id) for passage_id in question.gold]
        # Where a dataset says which passage answers a sub-question, nothing needs to be guessed (appendix B).
        labels = [row(each.gold) for each in asked] if all(each.gold for each in asked) else None
        wanted: Targets = "all" if self.method == "gnn_ret" else "current"
        return Example(
            steps=training_steps(distances, gold, self.settings.targets, labels),
            wanted=[step.targets for step in training_steps(distances, gold, wanted, labels)],
        )


def average_recall(folds: Sequence[Fold], who: Compared) -> list[float]:
    """Compute R@k of all folds together, every question once."""
    held = [fold.held for fold in folds]
    means: list[float] = np.average([getattr(fold, who) for fold in folds], axis=0, weights=held).tolist()
    return means


class _Row(BaseModel):
    question: str
    decomposition: list[SubQuestion] = []


def read_decompositions(path: Path) -> dict[str, list[SubQuestion]]:
    """Read sub-questions in order, by the text of the question, every ``#n`` replaced by the answer of the n-th.

    JSON lines, plain or gzipped; a row without ``decomposition`` is skipped.
    """
    found: dict[str, list[SubQuestion]] = {}
    for number, value in elements(path):
        try:
            row = _Row.model_validate(value)
        except ValidationError as error:
            first = error.errors()[0]
            place = ".".join(map(str, first["loc"]))
            raise BadInputError(f"{path}, row {number}: {place}: {first['msg']}.") from None
        if row.decomposition:
            found[row.question] = [
                _fill_references(path, number, row.decomposition, n) for n in range(len(row.decomposition))
            ]
    return found


def _fill_references(path: Path, row: int, steps: list[SubQuestion], number: int) -> SubQuestion:
    def answer(reference: re.Match[str]) -> str:
        before = steps[int(reference[1]) - 1] if 0 < int(reference[1]) <= number else None
        if before is None or not before.answer:
            raise BadInputError(
                f"{path}, row {row}: {reference[0]} in sub-question {number + 1} names no earlier sub-question with an"
                " answer: correct the row, or leave it out."
            )
        return before.answer

    step = steps[number]
    return replace(step, question=_EARLIER_ANSWER.sub(answer, step.question))


def describe_training(result: TrainingResult, settings: TrainingSettings, trained_on: TrainedOn) -> Weights:
    """Describe a training's outcome as a file's content."""
    return Weights(
        method="gnn_ret" if result.beta is None else "rgnn_ret",
        alpha=result.alpha,
        beta=result.beta,
        trained_on=trained_on,
        settings=settings,
        loss=result.loss,
        steps=len(result.losses) - 1,
        ending=result.ending,
    )


def write_weights(path: Path, weights: Weights) -> None:
    """Write the file."""
    try:
        path.write_text(weights.model_dump_json(indent=2) + "\n", encoding="utf-8")
    except OSError as error:
        raise BadInputError(
            f"the weights cannot be written to {path} ({error.strerror}): name another file."
        ) from error
