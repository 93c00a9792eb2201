"""Asking a method every question, with the clock running."""

import re
import threading
import time
from collections.abc import Callable, Iterator, Sequence
from dataclasses import replace
from queue import SimpleQueue
from typing import TypeAlias

import numpy as np
from numpy.typing import NDArray

from triplebeam.answer import Agent
from triplebeam.embed.embedder import Embedder, Kind
from triplebeam.evaluate.questions import Question
from triplebeam.evaluate.run import QuestionResult, RunFile, StepResult
from triplebeam.generate.accounting import account
from triplebeam.methods.ge_reasoning import GEReasoning
from triplebeam.ranking import Ranking
from triplebeam.retrieve.retriever import BATCH, BatchRetriever, Retriever, retrieve_many
from triplebeam.system.work import Progress, cancel_on, ignore_progress

#: What is measured: something that finds passages, or something that answers.
Method: TypeAlias = Retriever | Agent
#: Places of questions, and their results.
_Asked: TypeAlias = tuple[Sequence[int], list[QuestionResult]]
_AskPlaces: TypeAlias = Callable[[Sequence[int]], _Asked]
#: Passages asked for and kept: as many as the deepest measure looks at. (A fusion of longer lists is another ranking.)
DEPTH = 15
#: What is kept of a list that was read as a whole: 20,000 tokens hold about as many.
_MAX_DEPTH = 200
#: Questions in the first batch, which shows how many a batch may have.
_FIRST_BATCH_QUESTIONS = 8
#: No batch takes much longer: progress is shown after each, and what is not finished is lost when the run is stopped.
_BATCH_SECONDS = 5.0
_TRIPLET = re.compile(r"\((.*); (.*); (.*)\)")


class CountingEmbedder:
    """Counts the texts another embedder encodes, for each thread separately: each asks its own question."""

    def __init__(self, inner: Embedder) -> None:
        self._inner = inner
        self._here = threading.local()
        self.name, self.fingerprint, self.dimension = inner.name, inner.fingerprint, inner.dimension

    @property
    def encoded(self) -> int:
        """By this thread."""
        return getattr(self._here, "encoded", 0)

    def embed(self, texts: Sequence[str], kind: Kind = "passage") -> NDArray[np.float32]:
        """Encode and count."""
        self._here.encoded = self.encoded + len(texts)
        return self._inner.embed(texts, kind)


def ask_all(
    name: str,
    method: Method,
    questions: Sequence[Question],
    *,
    kept: RunFile | None = None,
    encoded: Callable[[], int] = lambda: 0,
    warming: bool = True,
    parallel: int = 1,
    progress: Progress = ignore_progress,
) -> list[QuestionResult]:
    """Return one result per question, in order; what is stored already is not asked again.

    ``encoded`` returns how many texts this thread has encoded so far. With ``warming`` (not for a method that calls a
    model) a retriever first answers another query, so that files are mapped and models loaded when the clock starts,
    and questions are asked in batches where the retriever takes them: each then has its share of the batch's time. All
    others are asked one by one, or several in ``parallel``: the time of each then includes waiting for the others.
    """
    found = {place: result for place, each in enumerate(questions) if (result := kept.get(each) if kept else None)}
    open_places = [place for place in range(len(questions)) if place not in found]
    batched = warming and isinstance(method, BatchRetriever)
    if open_places and warming and not isinstance(method, Agent):
        # The space keeps this query from being the first question's in an embedder that remembers.
        method.retrieve(f"{questions[open_places[0]].question} ", DEPTH)

    def ask(places: Sequence[int]) -> _Asked:
        return places, _ask(method, [questions[each] for each in places], encoded)

    singly = [[place] for place in open_places]
    one_by_one = _ask_in_parallel(ask, singly, parallel) if parallel > 1 else map(ask, singly)
    for places, results in _ask_in_batches(ask, open_places) if batched else one_by_one:
        for place, result in zip(places, results, strict=True):
            found[place] = result
            if kept:
                kept.keep(questions[place], result)
        progress(name, len(found), len(questions))
    return [found[place] for place in range(len(questions))]


def _ask_in_batches(ask: _AskPlaces, places: Sequence[int]) -> Iterator[_Asked]:
    """Ask in batches as large as the time of the first one allows."""
    start, size = 0, _FIRST_BATCH_QUESTIONS
    while batch := places[start : start + size]:
        yield batch, (results := ask(batch)[1])
        start, size = start + size, max(1, min(BATCH, int(_BATCH_SECONDS / max(results[0].seconds, 1e-3))))


def _ask_in_parallel(ask: _AskPlaces, batches: Sequence[Sequence[int]], threads: int) -> Iterator[_Asked]:
    """Ask in parallel, in the order of completion; an error ends them all, and no model is called any more.

    The threads are daemons: after Ctrl-C nobody waits for the requests that are under way.
    """
    waiting, stop = iter(batches), threading.Event()
    done: SimpleQueue[_Asked | BaseException] = SimpleQueue()

    def work() -> None:
        cancel_on(stop)
        for batch in waiting:  # shared by all threads
            if stop.is_set():
                return
            try:
                done.put(ask(batch))
            except BaseException as error:  # noqa: BLE001 - raised in the caller's thread
                done.put(error)

    for _ in range(min(threads, len(batches))):
        threading.Thread(target=work, daemon=True).start()
    try:
        for _ in batches:
            asked = done.get()
            if isinstance(asked, BaseException):
                raise asked
            yield asked
    finally:
        stop.set()


def _ask(method: Method, questions: Sequence[Question], encoded: Callable[[], int]) -> list[QuestionResult]:
    """Return the results of one batch; an agent takes one question at a time."""
    before, start = encoded(), time.perf_counter()
    with account() as spent:
        if isinstance(method, Agent):
            answers = [_answer_question(method, question) for question in questions]
        else:
            rankings = retrieve_many(method, [question.question for question in questions], DEPTH)
            answers = [
                QuestionResult(question_id=question.id, passage_ids=_ids(ranking), ending="; ".join(spent.problems))
                for question, ranking in zip(questions, rankings, strict=True)
            ]
    size = len(questions)
    seconds, encodings = (time.perf_counter() - start) / size, round((encoded() - before) / size)
    return [replace(answer, seconds=seconds, encodings=encodings, usage=spent.usage, batch=size) for answer in answers]


def _answer_question(agent: Agent, question: Question) -> QuestionResult:
    answer = agent.answer(question.asked)
    problems = [problem for step in answer.steps for problem in step.problems]
    return QuestionResult(
        question_id=question.id,
        passage_ids=_ids(answer.ranking),
        further_ids=tuple(answer.ranking.ids[DEPTH:_MAX_DEPTH]) if len(answer.steps) == 1 else (),
        answer=answer.text,
        graph=read_graph(answer.steps[0].thought) if isinstance(agent, GEReasoning) and agent.graph_guidance else None,
        steps=tuple(StepResult(passage_ids=_ids(step.so_far), usage=step.usage) for step in answer.steps),
        ending="; ".join([answer.ending, *problems]),
    )


def read_graph(text: str) -> tuple[tuple[str, str, str], ...]:
    """Read the triplets of a text, one per line, as a question graph is written."""
    return tuple((match[1], match[2], match[3]) for line in text.splitlines() if (match := _TRIPLET.fullmatch(line)))


def _ids(ranking: Ranking) -> tuple[str, ...]:
    return tuple(ranking.ids[:DEPTH])
