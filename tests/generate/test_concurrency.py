"""Several prompts at once, and letting go of them: by Ctrl-C, by a kill, or since the endpoint is gone."""

import os
import random
import signal
import subprocess
import sys
import threading
import time
from collections.abc import Sequence
from pathlib import Path
from typing import Any

import pytest
from dependable import dependable
from loopback_endpoint import Endpoint, chat_completion

from patience import SECONDS
from trials import FULL
from triplebeam.errors import EndpointError
from triplebeam.generate.completion_cache import CompletionStore
from triplebeam.generate.connect import Concurrent, connect
from triplebeam.generate.language_model import Completion, Prompt, PromptRefusedError
from triplebeam.system.work import sleep
from triplebeam.testing.scripted import Scripted

PROMPTS = [Prompt(system="s", user=str(number)) for number in range(12)]


def test_a_batch_comes_back_in_order_within_its_concurrency(endpoint: Endpoint) -> None:
    lock, running, most = threading.Lock(), 0, 0
    all_at_work = threading.Barrier(3, timeout=SECONDS)

    def answer(request: dict[str, Any]) -> tuple[int, dict[str, Any]]:
        nonlocal running, most
        with lock:
            running += 1
            most = max(most, running)
        number = int(request["messages"][1]["content"])
        if number < 3:
            all_at_work.wait()
        time.sleep(0.02 if number % 3 == 0 else 0.002)
        with lock:
            running -= 1
        return 200, chat_completion(f"reply {number}")

    endpoint.answer = answer
    completions = dependable(endpoint, concurrency=3).complete(PROMPTS)
    assert [completion.text for completion in completions] == [f"reply {n}" for n in range(12)]
    assert most == 3


class Faulty:
    """Says what it is asked, except where a number has an error."""

    name = "faulty"

    def __init__(self, errors: dict[str, BaseException]) -> None:
        self.errors = errors
        self.asked: list[str] = []

    def complete(self, prompts: Sequence[Prompt]) -> list[Completion]:
        [prompt] = prompts
        self.asked.append(prompt.user)
        if prompt.user in self.errors:
            raise self.errors[prompt.user]
        return [Completion(text=prompt.user)]


def test_a_prompt_that_fails_leaves_the_others_alone() -> None:
    refusal = PromptRefusedError("too long")
    model = Concurrent(model=Faulty({"3": refusal}))
    outcomes = model.outcomes(PROMPTS)
    assert outcomes[3] is refusal
    assert [o.text for o in outcomes if isinstance(o, Completion)] == [str(n) for n in range(12) if n != 3]
    with pytest.raises(PromptRefusedError, match="too long"):
        model.complete(PROMPTS)


def test_an_endpoint_that_is_gone_ends_the_batch() -> None:
    gone = EndpointError("gone")
    within = Faulty({"4": gone})
    outcomes = Concurrent(model=within, concurrency=1).outcomes(PROMPTS)
    assert within.asked == ["0", "1", "2", "3", "4"]
    assert [isinstance(outcome, Completion) for outcome in outcomes] == [True] * 4 + [False] * 8
    assert outcomes[4:] == [gone] * 8


def test_when_the_endpoint_is_gone_nobody_waits_for_a_next_try() -> None:
    class Waits(Faulty):
        def complete(self, prompts: Sequence[Prompt]) -> list[Completion]:
            if prompts[0].user == "0":
                sleep(5 * SECONDS)
            return super().complete(prompts)

    gone = EndpointError("gone")
    within, start = Waits({"1": gone}), time.monotonic()
    outcomes = Concurrent(model=within, concurrency=2).outcomes(PROMPTS[:2])
    assert outcomes == [gone, gone]
    assert within.asked == ["1"]
    assert time.monotonic() - start < SECONDS


def test_a_bug_is_not_an_outcome() -> None:
    with pytest.raises(AssertionError, match="no scripted reply"):
        Concurrent(model=Scripted([])).complete(PROMPTS)


def test_ctrl_c_stops_at_once_and_keeps_what_arrived(endpoint: Endpoint, tmp_path: Path) -> None:
    if threading.current_thread() is not threading.main_thread():
        pytest.skip("signals reach the main thread only")
    enough, both = threading.Event(), threading.Barrier(2, timeout=SECONDS)

    def answer(request: dict[str, Any]) -> tuple[int, dict[str, Any]]:
        number = int(request["messages"][1]["content"])
        if number in (4, 5):
            both.wait()  # the replies before them have arrived
        if number == 4:
            os.kill(os.getpid(), signal.SIGINT)
        if number in (4, 5):
            enough.wait(2 * SECONDS)
        return 200, chat_completion(f"reply {number}")

    endpoint.answer = answer
    with CompletionStore(tmp_path / "completions.sqlite") as store:
        start = time.monotonic()
        with pytest.raises(KeyboardInterrupt):
            dependable(endpoint, store, concurrency=2, timeout=2 * SECONDS).complete(PROMPTS)
        assert time.monotonic() - start < SECONDS
        assert store.count() == 4
        enough.set()
        time.sleep(0.1)
        assert len(endpoint.requests) == 6
        assert store.count() >= 4  # what was left behind may still arrive, and is kept too


def test_ctrl_c_ends_the_pause_before_a_next_try(endpoint: Endpoint) -> None:
    if threading.current_thread() is not threading.main_thread():
        pytest.skip("signals reach the main thread only")
    endpoint.headers["Retry-After"] = str(SECONDS)
    both, before = threading.Barrier(2, timeout=SECONDS), set(threading.enumerate())

    def answer(request: dict[str, Any]) -> tuple[int, dict[str, Any]]:
        if both.wait() == 0:
            threading.Timer(0.1, os.kill, (os.getpid(), signal.SIGINT)).start()
        return 429, {"error": "slow down"}

    endpoint.answer = answer
    with pytest.raises(KeyboardInterrupt):
        dependable(endpoint, concurrency=2).complete(PROMPTS)
    for thread in set(threading.enumerate()) - before:
        thread.join(SECONDS / 2)
        assert not thread.is_alive(), "it still pauses"
    assert len(endpoint.requests) == 2


COUNT, AT_ONCE, KILLS = 40, 4, 5 if FULL else 2
SCRIPT = """
import sys
from pathlib import Path
from triplebeam.generate.completion_cache import CompletionStore
from triplebeam.generate.connect import connect
from triplebeam.generate.language_model import Prompt

base_url, cache, prompts, at_once = sys.argv[1:]
with CompletionStore(Path(cache)) as store:
    model = connect("m", base_url=base_url, concurrency=int(at_once), cache=store)
    model.complete([Prompt(system="s", user=f"question {number}") for number in range(int(prompts))])
"""


@pytest.mark.slow
def test_only_what_was_on_its_way_is_asked_for_again(endpoint: Endpoint, tmp_path: Path) -> None:
    chosen, lock, cache = random.Random(20), threading.Lock(), tmp_path / "completions.sqlite"
    asked: list[str] = []
    last, killed = threading.Event(), threading.Event()
    until = 0

    def answer(request: dict[str, Any]) -> tuple[int, dict[str, Any]]:
        with lock:
            asked.append(request["messages"][-1]["content"])
            number = len(asked)
        if number >= until:
            last.set()
        if number > until + AT_ONCE:
            killed.wait(SECONDS)  # or it might be done before it is killed
        time.sleep(0.02)
        return 200, chat_completion("a reply")

    endpoint.answer = answer
    command = [sys.executable, "-c", SCRIPT, endpoint.base_url, str(cache), str(COUNT), str(AT_ONCE)]
    for _ in range(KILLS):
        with lock:
            until = len(asked) + chosen.randint(1, 6)
            last.clear()
            killed.clear()
        process = subprocess.Popen(command)
        assert last.wait(SECONDS)
        time.sleep(chosen.random() * 0.04)
        process.kill()
        process.wait()
        killed.set()
    with CompletionStore(cache) as store:
        model = connect("m", base_url=endpoint.base_url, concurrency=AT_ONCE, cache=store)
        questions = [Prompt(system="s", user=f"question {number}") for number in range(COUNT)]
        model.complete(questions)
        assert len(set(asked)) == store.count() == COUNT
        repeated = len(asked) - COUNT
        assert repeated <= AT_ONCE * KILLS, "more than was on its way"
        model.complete(questions)
        assert len(asked) - COUNT == repeated, "and none of it afterwards"
