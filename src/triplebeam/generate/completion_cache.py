"""Completions that were paid for are not paid for again: a cache in one SQLite file that several processes may share.

The file holds replies, and prompts and addresses only as hashes: no prompt, no address, no key. The lines of a prompt
are hashed one by one, too, so that the replies to prompts that quoted a document can be forgotten with it, and with
these the replies of the same run that came after them (see `triplebeam.generate.accounting`).

Hashes of lines, not ids of documents: a fact that was extracted again, a correction that was taken back and a line that
was changed are forgotten, while the replies about the rest of the same document, which were paid for, stay.
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

from filelock import FileLock

from triplebeam.errors import BadInputError
from triplebeam.generate.accounting import UNKNOWN_ORIGIN, note_reply, replies_shown
from triplebeam.generate.language_model import Completion, Prompt, TokenLogProbability, Usage, Wrapper
from triplebeam.generate.prompts import NOTED, read_template
from triplebeam.plugins import load_plugins
from triplebeam.system.durable import make_folder, open_database, rewrite, transaction
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
#: A file of format 1 has no lines; one of format 2 does not say which replies came before which.
_UPGRADES = (
    f"{_LINES} INSERT INTO line SELECT {UNKNOWN_ORIGIN}, key FROM completion;",
    f"INSERT OR IGNORE INTO line SELECT {UNKNOWN_ORIGIN}, key FROM completion WHERE template NOT LIKE 'extract%';",
)
#: How prompts write that there is nothing to show.
_FILLED_IN = ("", "(none)", "(nothing)", "(not found in the passages)")
_WRITTEN_IN_CODE = (NOTED, "Example passages:")


def completion_key(model: str, prompt: Prompt, endpoint: str = "") -> bytes:
    """Return the key of a completion: model, endpoint and all of the prompt, with version, parameters, seed, sample.

    Two endpoints may have different models of one name. ``endpoint`` is an address without secrets.
    """
    fields = [endpoint, model, *(getattr(prompt, name) for name in sorted(Prompt.__dataclass_fields__))]
    text = json.dumps(fields, sort_keys=True, ensure_ascii=True, default=dict)
    return blake2b(text.encode(), digest_size=20).digest()


def _number(key: bytes) -> int:
    """Return the number that stands for a reply among the lines of the prompts after it."""
    return int.from_bytes(key[:8], signed=True)


class CompletionStore:
    """Keeps each completion as soon as it arrives. Safe for threads and for processes."""

    def __init__(self, path: Path) -> None:
        self.path = path
        self._lock = threading.Lock()
        with self._explain_errors():
            make_folder(path.parent)
            # SQLite's timeout does not cover the change to write-ahead logging, so processes open the file in turn.
            with FileLock(f"{path}.lock"):
                self._db = open_database(path, _SCHEMA + _LINES, *_UPGRADES)

    def __repr__(self) -> str:
        return f"CompletionStore({str(self.path)!r})"

    def get(self, key: bytes) -> Completion | None:
        """Return the completion under that key, with the usage it had when it was paid for."""
        with self._explain_errors(), self._lock:
            row = self._db.execute("SELECT reply FROM completion WHERE key = ?", (key,)).fetchone()
        return _read(row[0]) if row else None

    def put(self, key: bytes, model: str, prompt: Prompt, completion: Completion) -> None:
        """Keep a completion, replacing an older one with that key."""
        row = (key, model, prompt.template, prompt.version, _write(completion))
        quoted = line_numbers([prompt.user, *(prompt.correction or ())]) | replies_shown()
        with self._explain_errors(), self._lock, transaction(self._db):
            self._db.execute("INSERT OR REPLACE INTO completion VALUES (?, ?, ?, ?, ?)", row)
            self._db.executemany("INSERT OR IGNORE INTO line VALUES (?, ?)", ((number, key) for number in quoted))

    def drop(self, key: bytes) -> None:
        """Remove the completion under that key, if there is one; its lines stay where later replies depend on them."""
        with self._explain_errors(), self._lock, transaction(self._db):
            self._db.execute("DELETE FROM completion WHERE key = ?", (key,))
            if not self._find_keys([_number(key)]):
                self._db.execute("DELETE FROM line WHERE key = ?", (key,))

    def forget(self, lines: Iterable[int]) -> int:
        """Remove the completions of prompts that quoted any of these lines, and rewrite the file; returns how many.

        With them go those that came after them in a run, and those of unknown origin. Lines that prompts have of
        themselves, such as ``Passages:``, are no quotations.
        """
        quoted = set(lines) - load_boilerplate_lines()
        with self._explain_errors(), self._lock:
            with transaction(self._db):
                keys = self._add_later_replies(self._find_keys({*quoted, UNKNOWN_ORIGIN})) if quoted else []
                removed = self._db.executemany("DELETE FROM completion WHERE key = ?", keys).rowcount
                self._db.executemany("DELETE FROM line WHERE key = ?", keys)
            if keys:
                rewrite(self._db)
        return max(removed, 0)

    def _find_keys(self, numbers: Iterable[int]) -> set[bytes]:
        """Return the keys of prompts with any of these lines, or after any of these replies."""
        quoting = "SELECT key FROM line WHERE number = ?"
        return {key for number in numbers for (key,) in self._db.execute(quoting, (number,))}

    def _add_later_replies(self, keys: set[bytes]) -> list[tuple[bytes]]:
        """Return keys, and those of all replies that came after them in a run."""
        found, new = set[bytes](), keys
        while new:
            found |= new
            new = self._find_keys(map(_number, new)) - found
        return [(key,) for key in found]

    def count(self) -> int:
        """Count the completions."""
        with self._explain_errors(), self._lock:
            return int(self._db.execute("SELECT count(*) FROM completion").fetchone()[0])

    def close(self) -> None:
        """Close the file."""
        with self._lock:
            self._db.close()

    def __enter__(self) -> "CompletionStore":
        return self

    def __exit__(self, *_: object) -> None:
        self.close()

    @contextmanager
    def _explain_errors(self) -> Iterator[None]:
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
        """Return the completion; the usage of a cached one says so."""
        key = completion_key(self.name, prompt, self.endpoint)
        with self._turns.turn(key):
            known = None if self.refresh else self.store.get(key)
            if known is None:
                [completion] = self.model.complete([prompt])
                self.store.put(key, self.name, prompt, completion)
            else:
                completion = replace(known, usage=known.usage.mark_cached())
            note_reply(_number(key))
            return completion

    def drop_reply(self, prompt: Prompt) -> None:
        """Remove the reply to this prompt from the store."""
        self.store.drop(completion_key(self.name, prompt, self.endpoint))


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
    fields = {name: getattr(completion, name) for name in ("text", "finish_reason", "thought")}
    counts = [usage.calls, usage.tokens_in, usage.tokens_out, usage.estimated]
    return json.dumps({**fields, "usage": counts, "log_probabilities": completion.log_probabilities})


def _read(text: str) -> Completion:
    kept = json.loads(text)
    calls, tokens_in, tokens_out, estimated = kept.pop("usage")
    usage = Usage(calls=calls, tokens_in=tokens_in, tokens_out=tokens_out, estimated=estimated)
    tokens = kept.pop("log_probabilities")
    logs = None if tokens is None else tuple(TokenLogProbability(*token) for token in tokens)
    return Completion(**kept, usage=usage, log_probabilities=logs)


@cache
def load_boilerplate_lines() -> frozenset[int]:
    """Load the numbers of lines that every prompt of a template has, whatever it quotes: they say nothing of documents.

    They are those of all prompts of this package and its plugins, and of their worked examples.
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
    """Yield every text in a value of TOML."""
    if isinstance(value, str):
        yield value
    elif isinstance(value, dict):
        yield from _words(list(value.values()))
    elif isinstance(value, list):
        for each in value:
            yield from _words(each)
