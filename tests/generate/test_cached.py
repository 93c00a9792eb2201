"""Nothing is paid for twice."""

import multiprocessing
import sqlite3
from concurrent.futures import ThreadPoolExecutor
from contextlib import closing
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest
from dependable import KEY, dependable
from loopback_endpoint import Endpoint, chat_completion

from patience import SECONDS
from triplebeam.errors import BadInputError, IndexFormatError
from triplebeam.generate.accounting import UNKNOWN_ORIGIN, follow_run
from triplebeam.generate.completion_cache import Cached, CompletionStore, completion_key
from triplebeam.generate.connect import Concurrent
from triplebeam.generate.language_model import Completion, Correction, LanguageModel, Prompt, TokenLogProbability, Usage
from triplebeam.testing.scripted import Scripted
from triplebeam.text.lines import line_numbers

PROMPT = Prompt(system="s", user="u", template="t", version="1")


def test_a_second_time_costs_nothing_and_says_so(store: CompletionStore) -> None:
    said = Completion(
        text="Oslo 😀",
        usage=Usage(calls=1, tokens_in=5, tokens_out=2, estimated=True),
        finish_reason="length",
        log_probabilities=(TokenLogProbability("Oslo", -0.5),),
        thought=True,
    )
    model = Cached(model=Scripted([said]), store=store)
    assert model.complete([PROMPT]) == [said]
    usage = Usage(cached_calls=1, cached_tokens_in=5, cached_tokens_out=2, estimated=True)
    assert model.complete([PROMPT, PROMPT]) == [replace(said, usage=usage)] * 2


OTHER: dict[str, Any] = {
    "system": "other",
    "user": "other",
    "template": "other",
    "version": "other",
    "temperature": None,
    "max_tokens": 9,
    "schema": {"type": "object"},
    "seed": 1,
    "sample": 1,
    "log_probabilities": True,
    "correction": Correction("reply", "request"),
    "parameters": {"reasoning_effort": "low"},
}


def test_whatever_a_completion_depends_on_is_in_its_key() -> None:
    assert sorted(OTHER) == sorted(Prompt.__dataclass_fields__), "a new field must be in the key: add it here"
    prompts = [PROMPT, *(replace(PROMPT, **{name: value}) for name, value in OTHER.items())]
    keys = [completion_key("m", prompt) for prompt in prompts] + [completion_key("n", PROMPT)]
    assert len(set(keys)) == len(prompts) + 1
    one, two = (replace(PROMPT, schema=schema) for schema in ({"a": 1, "b": [2]}, {"b": [2], "a": 1}))
    assert completion_key("m", one) == completion_key("m", two), "the order of a schema's keys is no difference"


def test_a_dropped_reply_leaves_nothing(store: CompletionStore) -> None:
    with Scripted(["bad", "good"]) as model:
        cached = Cached(model=model, store=store)
        cached.complete([PROMPT])
        cached.drop_reply(PROMPT)
        cached.drop_reply(PROMPT)
        assert store.count() == 0
        assert sqlite3.connect(store.path).execute("SELECT count(*) FROM line").fetchone() == (0,)
        assert cached.complete([PROMPT])[0].text == "good"


def test_refresh_asks_again_and_keeps_the_new_reply(store: CompletionStore) -> None:
    with Scripted(["bad", "good"]) as model:
        Cached(model=model, store=store).complete([PROMPT])
        assert Cached(model=model, store=store, refresh=True).complete([PROMPT])[0].text == "good"
        assert Cached(model=model, store=store).complete([PROMPT])[0].text == "good"


def test_one_prompt_in_many_threads_is_asked_once(endpoint: Endpoint, store: CompletionStore) -> None:
    endpoint.says("once")
    completions = dependable(endpoint, store, concurrency=8).complete([PROMPT] * 16)
    assert {completion.text for completion in completions} == {"once"}
    assert len(endpoint.requests) == 1


def test_no_secret_is_kept(endpoint: Endpoint, store: CompletionStore, tmp_path: Path) -> None:
    endpoint.says("fine")
    dependable(endpoint, store).complete([PROMPT])
    files = [file for file in store.path.parent.iterdir() if file.is_file()]
    assert store.path in files
    for file in files:
        content = file.read_bytes()
        assert KEY.encode() not in content
        assert endpoint.base_url.encode() not in content


def ask_together(path: Path, base_url: str, numbers: list[int], both: Any) -> None:
    both.wait(SECONDS)
    with CompletionStore(path) as store:
        prompts = [replace(PROMPT, user=str(number)) for number in numbers]
        dependable(Endpoint(base_url), store, concurrency=4).complete(prompts)


@pytest.mark.slow
def test_processes_share_a_file(endpoint: Endpoint, tmp_path: Path) -> None:
    endpoint.answer = lambda request: (200, chat_completion("reply " + request["messages"][-1]["content"]))
    path, context = tmp_path / "new" / "completions.sqlite", multiprocessing.get_context("spawn")
    both = context.Barrier(2)
    other = context.Process(target=ask_together, args=(path, endpoint.base_url, list(range(15, 40)), both))
    other.start()
    ask_together(path, endpoint.base_url, list(range(25)), both)
    other.join(2 * SECONDS)
    assert other.exitcode == 0
    endpoint.refuses(500)
    with CompletionStore(path) as store:
        assert store.count() == 40
        everything = [replace(PROMPT, user=str(number)) for number in range(40)]
        texts = [completion.text for completion in dependable(endpoint, store).complete(everything)]
    assert texts == [f"reply {number}" for number in range(40)]


def test_stores_opened_at_once_agree(tmp_path: Path) -> None:
    path = tmp_path / "completions.sqlite"

    def open_and_put(number: int) -> None:
        with CompletionStore(path) as store:
            store.put(bytes([number]), "m", PROMPT, Completion(text=str(number)))

    with ThreadPoolExecutor(12) as threads:
        list(threads.map(open_and_put, range(12)))
    with CompletionStore(path) as store:
        assert [store.get(bytes([number])) is not None for number in range(12)] == [True] * 12


def test_a_file_that_is_no_cache_is_named(tmp_path: Path) -> None:
    damaged, newer = tmp_path / "damaged", tmp_path / "newer"
    damaged.write_bytes(b"this is no database" * 100)
    with pytest.raises(BadInputError, match=r"damaged cannot be used .*: see whether"):
        CompletionStore(damaged)
    database = sqlite3.connect(newer)
    database.execute("PRAGMA user_version = 99")
    database.close()
    with pytest.raises(IndexFormatError, match=r"has format 99.*upgrade"):
        CompletionStore(newer)


LINES = line_numbers(["A line of a document."])
READING = replace(PROMPT, user="Passages:\nA line of a document.")
LATER = replace(PROMPT, user="What was read: something.")


class TestForgetting:
    """A reply is forgotten with a text that was shown for it, or for a reply before it in the same run."""

    @pytest.fixture
    def model(self, store: CompletionStore) -> Cached:
        return Cached(model=Scripted(["read", "later", "other"]), store=store)

    def read_and_go_on(self, model: LanguageModel, *more: Prompt) -> None:
        with follow_run(set()):
            model.complete([READING, *more])
            model.complete([LATER])

    def test_replies_of_a_run_with_those_before_them(self, model: Cached, store: CompletionStore) -> None:
        self.read_and_go_on(model)
        model.complete([replace(PROMPT, user="Another run.")])
        assert store.forget(LINES) == 2
        assert store.count() == 1

    def test_a_reply_from_the_cache_counts_for_those_after_it(self, model: Cached, store: CompletionStore) -> None:
        model.complete([READING])
        self.read_and_go_on(model)
        assert store.forget(LINES) == 2

    def test_threads_count_replies_in_the_callers_run(self, model: Cached, store: CompletionStore) -> None:
        self.read_and_go_on(Concurrent(model, 2), replace(READING, sample=1))
        assert store.forget(LINES) == 3

    def test_a_reply_after_one_that_was_dropped(self, model: Cached, store: CompletionStore) -> None:
        self.read_and_go_on(model)
        model.drop_reply(READING)
        assert store.forget(LINES) == 1

    def test_a_reply_of_unknown_origin_as_soon_as_anything_is(self, model: Cached, store: CompletionStore) -> None:
        with follow_run({UNKNOWN_ORIGIN}):
            model.complete([PROMPT])
        assert store.forget([]) == 0
        assert store.forget(LINES) == 1


@pytest.mark.parametrize(("format_", "left"), [(1, 0), (2, 1)])
def test_an_older_file_keeps_what_surely_quotes_nothing_else(format_: int, left: int, tmp_path: Path) -> None:
    """Before format 2 no lines were kept, and before format 3 none of earlier replies: extraction needs none."""
    path = tmp_path / "older.sqlite"
    with CompletionStore(path) as store:
        for template in ("extract", "answer"):
            prompt = replace(PROMPT, template=template)
            store.put(completion_key("m", prompt), "m", prompt, Completion(text=template))
    with closing(sqlite3.connect(path)) as db:
        db.executescript(f"PRAGMA user_version = {format_}; {'DROP TABLE line;' if format_ == 1 else ''}")
    with CompletionStore(path) as store:
        assert store.count() == 2
        store.forget(LINES)
        assert store.count() == left
