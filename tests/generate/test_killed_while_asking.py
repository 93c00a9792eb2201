"""A process that is killed while it asks a model: only what was on its way is asked for again."""

import random
import subprocess
import sys
import threading
import time
from pathlib import Path
from typing import Any

import pytest
from loopback_endpoint import Endpoint, chat_completion

from patience import SECONDS
from trials import FULL
from triplebeam.generate.completion_cache import CompletionStore

PROMPTS, AT_ONCE, KILLS = 40, 4, 5 if FULL else 2
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
    command = [sys.executable, "-c", SCRIPT, endpoint.base_url, str(cache), str(PROMPTS), str(AT_ONCE)]
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
    subprocess.run(command, check=True)
    assert len(set(asked)) == PROMPTS
    with CompletionStore(cache) as store:
        assert store.count() == PROMPTS
    repeated = len(asked) - PROMPTS
    assert repeated <= AT_ONCE * KILLS, "more than was on its way"
    subprocess.run(command, check=True)
    assert len(asked) - PROMPTS == repeated, "and none of it afterwards"
