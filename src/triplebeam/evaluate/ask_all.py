"""Asking a method every question, with the clock running."""

import time
from collections.abc import Callable, Sequence
from typing import TypeAlias

import numpy as np
from numpy.typing import NDArray

from triplebeam.answer import Agent
from triplebeam.embed.embedder import Embedder, Kind
from triplebeam.evaluate.questions import Question
from triplebeam.evaluate.run import QuestionResult, StepResult
from triplebeam.evaluate.run_file import RunFile
from triplebeam.generate.accounting import account
from triplebeam.progress import Progress, silent
from triplebeam.ranking import Ranking
from triplebeam.retrieve.retriever import Retriever

#: What is measured: something that finds passages, or something that answers.
Method: TypeAlias = Retriever | Agent
#: Passages asked for and kept: as many as the deepest measure looks at. (A fusion of longer lists is another ranking.)
DEPTH = 15


class CountingEmbedder:
    """Counts the texts another embedder encodes."""

    def __init__(self, inner: Embedder) -> None:
        self._inner = inner
        self.encoded = 0

    @property
    def name(self) -> str:
        """The inner embedder's."""
        return self._inner.name

    @property
    def fingerprint(self) -> str:
        """The inner embedder's."""
        return self._inner.fingerprint

    @property
    def dimension(self) -> int:
        """The inner embedder's."""
        return self._inner.dimension

    def embed(self, texts: Sequence[str], kind: Kind = "passage") -> NDArray[np.float32]:
        """Encode and count."""
        self.encoded += len(texts)
        return self._inner.embed(texts, kind)


def ask_all(
    name: str,
    method: Method,
    questions: Sequence[Question],
    *,
    kept: RunFile | None = None,
    encoded: Callable[[], int] = lambda: 0,
    warming: bool = True,
    progress: Progress = silent,
) -> list[QuestionResult]:
    """One result a question, in order; what is kept already is not asked again.

    ``encoded`` tells how many texts have been encoded so far. Before the first question a retriever is asked another
    one, so that files are mapped and models loaded when the clock starts; not where ``warming`` would be paid for.
    """
    results: list[QuestionResult] = []
    warm = not warming
    for number, question in enumerate(questions, start=1):
        result = kept.get(question) if kept else None
        if result is None:
            if not (warm or isinstance(method, Agent)):
                # The space keeps this query from being the first question's in an embedder that remembers.
                method.retrieve(f"{question.question} ", DEPTH)
                warm = True
            result = _ask(method, question, encoded)
            if kept:
                kept.keep(question, result)
        results.append(result)
        progress(name, number, len(questions))
    return results


def _ask(method: Method, question: Question, encoded: Callable[[], int]) -> QuestionResult:
    before, start = encoded(), time.perf_counter()
    with account() as spent:
        if isinstance(method, Agent):
            answer = method.answer(question.asked)
            problems = [problem for step in answer.steps for problem in step.problems]
            ranking, said, ending = answer.ranking, answer.text, "; ".join([answer.ending, *problems])
            steps = tuple(StepResult(passage_ids=_ids(step.so_far), usage=step.usage) for step in answer.steps)
        else:
            ranking, said, ending = method.retrieve(question.question, DEPTH), None, "; ".join(spent.problems)
            steps = ()
    return QuestionResult(
        question_id=question.id,
        passage_ids=_ids(ranking),
        answer=said,
        seconds=time.perf_counter() - start,
        encodings=encoded() - before,
        usage=spent.usage,
        steps=steps,
        ending=ending,
    )


def _ids(ranking: Ranking) -> tuple[str, ...]:
    return tuple(ranking.ids[:DEPTH])
