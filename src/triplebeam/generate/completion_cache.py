"""Completions that were paid for are not paid for again: a cache in one SQLite file that several processes may share.

The file holds replies, and prompts and addresses only as hashes: no prompt, no address, no key. The lines of a prompt
are hashed one by one, too, so that the replies to prompts that quoted a document can be forgotten with it.
"""

import json
import sqlite3
import threading
import tomllib
from collections.abc import Iterable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field, replace
from functools import cache
from hashlib import blake2b
from importlib import resources
from importlib.resources.abc import Traversable
from pathlib import Path
from types import TracebackType

from filelock import FileLock

from triplebeam.errors import BadInputError
from triplebeam.generate.language_model import Completion, Prompt, TokenLogProbability, Usage
from triplebeam.generate.outcomes import Wrapper
from triplebeam.generate.prompts import NOTED, read_template
from triplebeam.plugins import load_plugins
from triplebeam.system.database import open_database, rewrite, transaction
from triplebeam.system.durable import make_folder
from triplebeam.text.lines import line_numbers

_SCHEMA = """
CREATE TABLE completion (
    key BLOB PRIMARY KEY, model TEXT NOT NULL, template TEXT NOT NULL, version TEXT NOT NULL, reply TEXT NOT NULL
) WITHOUT ROWID;
"""
_LINES = """
CREATE TABLE line (number INTEGER NOT NULL, key BLOB NOT NULL, PRIMARY KEY (number, key)) WITHOUT ROWID;
CREATE INDEX line_key ON line (key);
"""
_QUOTING = "SELECT key FROM line WHERE number = ?"
_FILLED_IN = ("", "(none)", "(nothing)", "(not found in the passages)")
"""How prompts write that there is nothing to show."""
_WRITTEN_IN_CODE = (NOTED, "Example passages:")


def completion_key(model: str, prompt: Prompt, endpoint: str = "") -> bytes:
    """The key of a completion: the model, its endpoint and all of the prompt, with version, parameters, seed, sample.

    Two endpoints may have different models of one name. ``endpoint`` is an address without secrets.
    """
    fields = [endpoint, model, *(getattr(prompt, name) for name in sorted(Prompt.__dataclass_fields__))]
    text = json.dumps(fields, sort_keys=True, ensure_ascii=True, default=dict)
    return blake2b(text.encode(), digest_size=20).digest()


class CompletionStore:
    """Keeps each completion as soon as it arrives. Safe for threads and for processes."""

    def __init__(self, path: Path) -> None:
        self.path = path
        self._lock = threading.Lock()
        with self._explained():
            make_folder(path.parent)
            # SQLite's timeout does not cover the change to write-ahead logging, so processes open the file in turn.
            with FileLock(f"{path}.lock"):
                self._db = open_database(path, _SCHEMA + _LINES, _LINES)

    def __repr__(self) -> str:
        return f"CompletionStore({str(self.path)!r})"

    def get(self, key: bytes) -> Completion | None:
        """The completion under that key, with the usage it had when it was paid for."""
        with self._explained(), self._lock:
            row = self._db.execute("SELECT reply FROM completion WHERE key = ?", (key,)).fetchone()
        return _read(row[0]) if row else None

    def put(self, key: bytes, model: str, prompt: Prompt, completion: Completion) -> None:
        """Keep a completion, replacing an older one with that key."""
        row = (key, model, prompt.template, prompt.version, _write(completion))
        quoted = line_numbers([prompt.user, *(prompt.correction or ())])
        with self._explained(), self._lock, transaction(self._db):
            self._db.execute("INSERT OR REPLACE INTO completion VALUES (?, ?, ?, ?, ?)", row)
            self._db.executemany("INSERT OR IGNORE INTO line VALUES (?, ?)", ((number, key) for number in quoted))

    def drop(self, key: bytes) -> None:
        """Remove the completion under that key, if there is one."""
        with self._explained(), self._lock, transaction(self._db):
            self._remove(key)

    def forget(self, lines: Iterable[int]) -> int:
        """Remove the completions of prompts that quoted any of these lines, and rewrite the file; returns how many.

        Lines that prompts have of themselves, such as ``Passages:``, are no quotations.
        """
        quoted = set(lines) - own_lines()
        with self._explained(), self._lock:
            with transaction(self._db):
                keys = {key for line in quoted for (key,) in self._db.execute(_QUOTING, (line,))}
                for key in keys:
                    self._remove(key)
            if keys:
                rewrite(self._db)
        return len(keys)

    def count(self) -> int:
        """How many completions there are."""
        with self._explained(), self._lock:
            return int(self._db.execute("SELECT count(*) FROM completion").fetchone()[0])

    def close(self) -> None:
        """Close the file."""
        with self._lock:
            self._db.close()

    def __enter__(self) -> "CompletionStore":
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        self.close()

    def _remove(self, key: bytes) -> None:
        self._db.execute("DELETE FROM completion WHERE key = ?", (key,))
        self._db.execute("DELETE FROM line WHERE key = ?", (key,))

    @contextmanager
    def _explained(self) -> Iterator[None]:
        try:
            yield
        except (sqlite3.Error, OSError) as error:
            raise BadInputError(
                f"The cache of completions {self.path} cannot be used ({error}): see whether its disk is full or not"
                " writable, move the file away if it is damaged, or name another one."
            ) from error


@dataclass(frozen=True, kw_only=True)
class Cached(Wrapper):
    """Asks ``model`` only for what ``store`` does not have, and keeps each completion as soon as it arrives.

    Whether a reply can be used is known to the caller alone, who drops those that cannot. ``refresh`` asks again all
    the same and keeps the new reply: for what failed, when it is retried.
    """

    store: CompletionStore
    endpoint: str = ""
    """Where the model is, without secrets: models of one name at two endpoints share no completions."""
    refresh: bool = False
    _turns: "_Turns" = field(default_factory=lambda: _Turns(), init=False, repr=False, compare=False)

    def complete_one(self, prompt: Prompt) -> Completion:
        """The completion; the usage of one that was there already says so."""
        key = self._key(prompt)
        with self._turns.turn(key):
            known = None if self.refresh else self.store.get(key)
            if known is not None:
                return replace(known, usage=known.usage.as_cached())
            [completion] = self.model.complete([prompt])
            self.store.put(key, self.name, prompt, completion)
            return completion

    def drop_reply(self, prompt: Prompt) -> None:
        """Remove the reply to this prompt from the store."""
        self.store.drop(self._key(prompt))

    def _key(self, prompt: Prompt) -> bytes:
        return completion_key(self.name, prompt, self.endpoint)


class _Turns:
    """Threads with the same key go one after the other, so that the second finds the completion of the first."""

    def __init__(self) -> None:
        self._lock = threading.Lock()
        self._turns: dict[bytes, tuple[threading.Lock, int]] = {}

    @contextmanager
    def turn(self, key: bytes) -> Iterator[None]:
        with self._lock:
            mine, waiting = self._turns.get(key, (threading.Lock(), 0))
            self._turns[key] = (mine, waiting + 1)
        try:
            with mine:
                yield
        finally:
            with self._lock:
                mine, waiting = self._turns.pop(key)
                if waiting > 1:
                    self._turns[key] = (mine, waiting - 1)


def _write(completion: Completion) -> str:
    usage = completion.usage
    tokens = completion.log_probabilities
    return json.dumps(
        {
            "text": completion.text,
            "finish_reason": completion.finish_reason,
            "thought": completion.thought,
            "usage": [usage.calls, usage.tokens_in, usage.tokens_out, usage.estimated],
            "log_probabilities": [list(token) for token in tokens] if tokens is not None else None,
        }
    )


def _read(text: str) -> Completion:
    kept = json.loads(text)
    calls, tokens_in, tokens_out, estimated = kept["usage"]
    tokens = kept["log_probabilities"]
    return Completion(
        text=kept["text"],
        finish_reason=kept["finish_reason"],
        thought=kept["thought"],
        usage=Usage(calls=calls, tokens_in=tokens_in, tokens_out=tokens_out, estimated=estimated),
        log_probabilities=tuple(TokenLogProbability(*token) for token in tokens) if tokens is not None else None,
    )


@cache
def own_lines() -> frozenset[int]:
    """Numbers of the lines that every prompt of a template has, whatever it quotes: they say nothing about documents.

    Those of all prompts of this package and of those that add to it, and of their worked examples.
    """
    packages = ("triplebeam.generate", *load_plugins("prompts"))
    texts = (text for package in packages for text in _texts(resources.files(package).joinpath("prompts")))
    return frozenset(line_numbers([*_FILLED_IN, *_WRITTEN_IN_CODE, *texts]))


def _texts(folder: Traversable) -> Iterator[str]:
    for file in folder.iterdir():
        if file.is_dir():
            yield from _texts(file)
        elif file.name.endswith(".md"):
            template = read_template(file.name, file.read_text(encoding="utf-8"))
            for nothing in _FILLED_IN:
                yield template.fill(**dict.fromkeys(template.variables, nothing)).user
        elif file.name.endswith(".toml"):
            yield from _words(tomllib.loads(file.read_text(encoding="utf-8")))


def _words(value: object) -> Iterator[str]:
    """Every text in a value of TOML."""
    if isinstance(value, str):
        yield value
    elif isinstance(value, dict):
        yield from _words(list(value.values()))
    elif isinstance(value, list):
        for each in value:
            yield from _words(each)
