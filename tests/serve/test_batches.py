"""Questions that wait at the same moment are answered together, each with its own answer, whatever the others do."""

import threading
from collections.abc import Iterator, Sequence
from concurrent.futures import CancelledError, Future, ThreadPoolExecutor, wait

import pytest

from patience import SECONDS
from triplebeam.cancellation import WorkCancelledError, sleep
from triplebeam.serve.batches import LARGEST, Batches


class Held:
    """Answers with the kind and the question; the question "held" takes as long as nobody lets it go."""

    def __init__(self, kind: str = "a") -> None:
        self.kind = kind
        self.batches: list[list[str]] = []
        self.begun, self.go = threading.Event(), threading.Event()

    def __call__(self, questions: Sequence[str]) -> Iterator[str]:
        self.batches.append(list(questions))
        if "bad" in questions:
            raise KeyError("bad")
        if "held" in questions:
            self.begun.set()
            assert self.go.wait(SECONDS)
        for question in questions:
            if question == "late and bad":
                raise KeyError(question)
            yield f"{self.kind}: {question}"


@pytest.fixture
def pool() -> Iterator[ThreadPoolExecutor]:
    with ThreadPoolExecutor(4) as pool:
        yield pool


def held_up(batches: Batches[str], work: Held) -> "Future[str]":
    """A batch of one question is at work until it is let go."""
    first = batches.submit(work.kind, "held", work)
    assert work.begun.wait(SECONDS)
    return first


def test_what_came_while_another_ran_is_one_batch(pool: ThreadPoolExecutor) -> None:
    batches, work = Batches[str](pool), Held()
    first = held_up(batches, work)
    others = [batches.submit("a", f"question {number}", work) for number in range(5)]
    assert (batches.running, batches.waiting) == (1, 5)
    work.go.set()
    assert [each.result(SECONDS) for each in (first, *others)] == [
        "a: held",
        *(f"a: question {number}" for number in range(5)),
    ]
    assert work.batches == [["held"], [f"question {number}" for number in range(5)]]


def test_what_runs_is_counted_by_question(pool: ThreadPoolExecutor) -> None:
    batches, before, work = Batches[str](pool), Held(), Held()
    held_up(batches, before)
    asked = [batches.submit("a", question, work) for question in ("held", "x", "y")]
    before.go.set()
    assert work.begun.wait(SECONDS)
    assert (batches.running, batches.waiting) == (3, 0)
    work.go.set()
    assert len([each.result(SECONDS) for each in asked]) == 3


def test_a_question_that_finds_a_free_thread_does_not_wait(pool: ThreadPoolExecutor) -> None:
    batches, work = Batches[str](pool), Held()
    assert [batches.submit("a", question, work).result(SECONDS) for question in "xyz"] == ["a: x", "a: y", "a: z"]
    assert work.batches == [["x"], ["y"], ["z"]]


def test_kinds_are_never_mixed_and_do_not_wait_for_each_other(pool: ThreadPoolExecutor) -> None:
    batches, one, other = Batches[str](pool), Held("a"), Held("b")
    held_up(batches, one)
    waiting = [batches.submit("a", "x", one), batches.submit("a", "y", one)]
    assert batches.submit("b", "x", other).result(SECONDS) == "b: x"
    one.go.set()
    assert [each.result(SECONDS) for each in waiting] == ["a: x", "a: y"]
    assert (one.batches, other.batches) == ([["held"], ["x", "y"]], [["x"]])


def test_a_batch_has_a_limit_and_the_rest_comes_in_its_order(pool: ThreadPoolExecutor) -> None:
    batches, work = Batches[str](pool), Held()
    held_up(batches, work)
    asked = [f"question {number}" for number in range(LARGEST + 3)]
    answers = [batches.submit("a", question, work) for question in asked]
    work.go.set()
    assert [each.result(SECONDS) for each in answers] == [f"a: {question}" for question in asked]
    assert work.batches == [["held"], asked[:LARGEST], asked[LARGEST:]]


@pytest.mark.parametrize("bad", ["bad", "late and bad"])
def test_the_error_of_one_question_is_nobody_elses(pool: ThreadPoolExecutor, bad: str) -> None:
    batches, work = Batches[str](pool), Held()
    held_up(batches, work)
    before, failing, after = (batches.submit("a", question, work) for question in ("x", bad, "y"))
    work.go.set()
    assert (before.result(SECONDS), after.result(SECONDS)) == ("a: x", "a: y")
    assert isinstance(failing.exception(SECONDS), KeyError)


def test_whoever_gave_up_waiting_is_left_out(pool: ThreadPoolExecutor) -> None:
    batches, work = Batches[str](pool), Held()
    first = held_up(batches, work)
    gone, stays = batches.submit("a", "gone", work), batches.submit("a", "stays", work)
    assert gone.cancel()
    assert not first.cancel(), "it runs"
    work.go.set()
    assert stays.result(SECONDS) == "a: stays"
    assert work.batches == [["held"], ["stays"]]


def test_a_batch_that_takes_long_does_not_hold_up_its_kind(pool: ThreadPoolExecutor) -> None:
    batches, work = Batches[str](pool, patience=0.0), Held()
    first = held_up(batches, work)
    assert batches.submit("a", "next", work).result(SECONDS) == "a: next"
    assert not first.done()
    work.go.set()
    assert first.result(SECONDS) == "a: held"


def test_what_waits_behind_a_long_batch_starts_although_nobody_else_asks(pool: ThreadPoolExecutor) -> None:
    batches, work = Batches[str](pool, patience=0.2), Held()
    first = held_up(batches, work)
    assert batches.submit("a", "next", work).result(SECONDS) == "a: next"
    assert not first.done(), "nobody let it go"
    work.go.set()
    assert first.result(SECONDS) == "a: held"


def test_what_did_not_fit_into_a_long_batch_starts_too(pool: ThreadPoolExecutor) -> None:
    batches, before, work = Batches[str](pool, patience=0.2), Held(), Held()
    held_up(batches, before)
    asked = [batches.submit("a", question, work) for question in ["held", *map(str, range(LARGEST))]]
    before.go.set()
    assert asked[-1].result(SECONDS) == f"a: {LARGEST - 1}"
    assert not asked[0].done(), "nobody let it go"
    work.go.set()
    assert asked[0].result(SECONDS) == "a: held"


def test_closing_cancels_what_waits(pool: ThreadPoolExecutor) -> None:
    batches, work = Batches[str](pool), Held()
    first, before = held_up(batches, work), set(threading.enumerate())
    second = batches.submit("a", "x", work)
    (timer,) = set(threading.enumerate()) - before
    batches.close()
    timer.join(SECONDS)
    assert not timer.is_alive(), "nothing looks again"
    work.go.set()
    assert first.result(SECONDS) == "a: held"
    with pytest.raises(CancelledError):
        second.result(SECONDS)


def test_many_threads_get_their_own_answers_and_nothing_is_left(pool: ThreadPoolExecutor) -> None:
    batches, works = Batches[str](pool), {kind: Held(kind) for kind in "abc"}

    def ask(number: int) -> tuple[str, str]:
        kind = "abc"[number % 3]
        return f"{kind}: {number}", batches.submit(kind, str(number), works[kind]).result(SECONDS)

    with ThreadPoolExecutor(12) as callers:
        asked = [callers.submit(ask, number) for number in range(300)]
        wait(asked, SECONDS)
    assert all(expected == answer for expected, answer in (each.result() for each in asked))
    pool.shutdown()
    assert (batches.running, batches.waiting) == (0, 0)


def test_a_batch_is_cancelled_once_nobody_waits_for_it(pool: ThreadPoolExecutor) -> None:
    batches, started = Batches[str](pool), threading.Event()
    held = Held()
    first = held_up(batches, held)

    def endless(questions: Sequence[str]) -> Iterator[str]:
        started.set()
        for _ in range(100 * SECONDS):
            sleep(0.01)
        yield from questions

    gone = [threading.Event(), threading.Event()]
    futures = [batches.submit("a", f"question {number}", endless, each) for number, each in enumerate(gone)]
    held.go.set()
    assert first.result(SECONDS)
    assert started.wait(SECONDS)
    gone[0].set()
    assert not wait(futures, 0.05).done, "one still waits"
    gone[1].set()
    assert [type(each.exception(SECONDS)) for each in futures] == [WorkCancelledError] * 2
