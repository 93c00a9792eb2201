"""The small world behind the real app: in this process, or on a port of its own."""

import json
import socket
import threading
import time
from collections.abc import Callable, Iterator, Sequence
from contextlib import closing, contextmanager, suppress
from http.client import HTTPConnection
from pathlib import Path
from typing import Any
from urllib.parse import urlsplit

import uvicorn
from fastapi import FastAPI

from patience import SECONDS
from scripted_loops import final, reply
from small_world import WordEmbedder
from triplebeam.generate.language_model import Completion, LanguageModel, Prompt, Usage
from triplebeam.serve.http.app import make_app
from triplebeam.serve.http.keys import Keys
from triplebeam.serve.library import Library
from triplebeam.serve.limits import Limits
from triplebeam.settings import Settings
from triplebeam.system import work
from triplebeam.system.work import WorkCancelledError

QUESTION = "When did the director of Laughter in Hell die?"
FACTS = [["Laughter in Hell", "directed by", "Edward Cahn"], ["Edward Cahn", "died on", "25 August 1963"]]
MakeApp = Callable[..., FastAPI]


def one_reading() -> list[Completion]:
    """What `single_step` asks: the facts, then the answer."""
    return [reply(facts=FACTS), final("25 August 1963")]


class Slow:
    """Thinks for a while, never comes to an end, and counts how often it was asked."""

    name = "slow"

    def __init__(self, seconds: float = 0.05) -> None:
        self.seconds = seconds
        self.calls = 0
        self.asked = threading.Event()

    def complete(self, prompts: Sequence[Prompt]) -> list[Completion]:
        self.asked.set()
        time.sleep(self.seconds)
        self.calls += len(prompts)
        said = json.dumps({"sentence": f"Thought {self.calls} is of lakes."})
        return [Completion(text=said, usage=Usage(calls=1)) for _ in prompts]


class HeldModel:
    """Gives its replies in turn, when it is let."""

    name = "held"

    def __init__(self, *replies: Completion) -> None:
        self.replies = list(replies)
        self.asked, self.free = threading.Event(), threading.Event()

    def complete(self, prompts: Sequence[Prompt]) -> list[Completion]:
        self.asked.set()
        assert self.free.wait(2 * SECONDS)
        return [self.replies.pop(0) for _ in prompts]


class UntilCancelled(Slow):
    """Replies when nobody wants its reply any more."""

    def complete(self, prompts: Sequence[Prompt]) -> list[Completion]:
        self.asked.set()
        with suppress(WorkCancelledError):
            work.sleep(SECONDS)
        return super().complete(prompts)


def wait_until(condition: Callable[[], object], why: str = "") -> None:
    deadline = time.monotonic() + SECONDS
    while not condition():
        assert time.monotonic() < deadline, why
        time.sleep(0.01)


def stands_still(model: Slow) -> bool:
    """Is the model asked no more, soon?"""
    deadline = time.monotonic() + SECONDS
    while time.monotonic() < deadline:
        before = model.calls
        time.sleep(6 * model.seconds)
        if model.calls == before:
            return True
    return False


def library_over(*folders: Path, home: Path, **parts: Any) -> Library:
    """Indexes with an embedder that needs no weights, and without a model unless one is among the parts."""
    settings = Settings(home=home, completions=home / "completions.sqlite", offline=True, model=None)
    return Library(folders, settings, **{"embedder": WordEmbedder(), **parts})


def app_over(
    folder: Path, tmp_path: Path, *, model: LanguageModel | None = None, reports: Path | None = None, **limits: Any
) -> FastAPI:
    library = library_over(folder, home=tmp_path, model=model)
    return make_app(library, keys=Keys(tmp_path / "keys.json"), limits=Limits(**limits), reports=reports)


@contextmanager
def on_loopback(app: FastAPI) -> Iterator[str]:
    """The app on a real port; its address."""
    with socket.socket() as listening:
        listening.bind(("127.0.0.1", 0))
        server = uvicorn.Server(uvicorn.Config(app, log_level="error", timeout_graceful_shutdown=1))
        thread = threading.Thread(target=server.run, kwargs={"sockets": [listening]}, daemon=True)
        thread.start()
        wait_until(lambda: server.started, "the server does not start")
        try:
            yield f"http://127.0.0.1:{listening.getsockname()[1]}"
        finally:
            server.should_exit = True
            thread.join()


@contextmanager
def send(url: str, body: object) -> Iterator[None]:
    """A question whose client waits for the whole answer, and goes away at the end of the block."""
    address = urlsplit(url)
    with closing(HTTPConnection(address.netloc)) as connection:
        headers = {"Content-Type": "application/json", "Accept": "application/json"}
        connection.request("POST", address.path, json.dumps(body), headers)
        yield


def events_in(text: str) -> list[tuple[str, Any]]:
    """The events of a stream, comments left out."""
    found = []
    for block in text.split("\n\n"):
        lines = dict(line.split(": ", 1) for line in block.splitlines() if not line.startswith(":"))
        if lines:
            found.append((lines.get("event", ""), json.loads(lines["data"])))
    return found
