"""Tuning: how much the default search should rely on walks, by a user's own questions.

An index measures its share itself (`triplebeam.index.content.entities`). Questions with gold passages know better, if
there are enough of them: a share is chosen on one half and measured on the other, and the other way round. Only where
that is better than the index's own share beyond chance, the best share over all questions takes its place.
"""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace

import numpy as np
from numpy.typing import NDArray

from triplebeam.assemble.reader import IndexReader
from triplebeam.errors import BadInputError
from triplebeam.evaluate.compare import MAX_P_VALUE, Difference, compare_paired
from triplebeam.evaluate.measures import values
from triplebeam.evaluate.questions import Question, find_gold
from triplebeam.evaluate.run import QuestionResult
from triplebeam.retrieve.blend.blend import Blend
from triplebeam.retrieve.retriever import retrieve_many

SHARES = (0.0, 0.25, 0.5, 0.75, 1.0)
_MEASURES = ("R@5", "R@10")
_DEPTH = 10


@dataclass(frozen=True)
class Tuning:
    """What was measured."""

    own: float
    """The share that the index measured itself."""
    recall: Mapping[float, float]
    """By share: the mean of R@5 and R@10 over all questions."""
    difference: Difference
    """Of shares chosen on the other half of the questions, against the index's own."""

    @property
    def chosen(self) -> float | None:
        """The share to use instead of the index's own; None: none is better beyond chance."""
        better = self.difference.mean > 0 and self.difference.p_value < MAX_P_VALUE
        return max(self.recall, key=self.recall.__getitem__) if better else None


def measure_shares(index: IndexReader, questions: Sequence[Question]) -> Tuning:
    """The default search with every share, on the questions that have gold passages."""
    asked = [question for question in find_gold(questions, index.passages) if question.gold]
    if len(asked) < 2:
        raise BadInputError(f"{len(asked)} questions have gold passages: tuning needs two or more, better a hundred.")
    own = index.status.ownership.share
    recall = {share: _recall(index, share, asked) for share in sorted({*SHARES, own})}
    return Tuning(
        own,
        {share: float(each.mean()) for share, each in recall.items()},
        compare_paired(recall[own], _cross_checked(recall)),
    )


def _recall(index: IndexReader, share: float, questions: Sequence[Question]) -> NDArray[np.float64]:
    blend = index.retriever("blend")
    assert isinstance(blend, Blend)
    found = retrieve_many(replace(blend, share=share), [question.question for question in questions], _DEPTH)
    results = [
        QuestionResult(question_id=question.id, passage_ids=tuple(ranking.ids))
        for question, ranking in zip(questions, found, strict=True)
    ]
    both = [values(measure, questions, results) for measure in _MEASURES]
    return np.asarray(np.mean(both, axis=0))


def _cross_checked(recall: Mapping[float, NDArray[np.float64]]) -> NDArray[np.float64]:
    """Each question's recall with the share that is best on the other half of the questions."""
    by_share = np.array(list(recall.values()))
    checked = np.empty(by_share.shape[1])
    for half in (0, 1):
        best = by_share[:, 1 - half :: 2].mean(axis=1).argmax()
        checked[half::2] = by_share[best, half::2]
    return checked
