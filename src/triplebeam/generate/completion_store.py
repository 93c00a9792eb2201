"""Completions that were paid for, in one SQLite file that several processes may share.

The file holds replies and what they were replies to only by a hash: no prompt, no address, no key.
"""

import json
import sqlite3
import threading
from collections.abc import Iterator
from contextlib import contextmanager
from hashlib import blake2b
from pathlib import Path
from types import TracebackType

from filelock import FileLock

from triplebeam.errors import BadInputError
from triplebeam.generate.language_model import Completion, Prompt, TokenLogProbability, Usage

SCHEMA_VERSION = 1

_SCHEMA = """
CREATE TABLE completion (
    key BLOB PRIMARY KEY, model TEXT NOT NULL, template TEXT NOT NULL, version TEXT NOT NULL, reply TEXT NOT NULL
) WITHOUT ROWID;
"""
_SECONDS_FOR_A_LOCK = 60.0


def completion_key(model: str, prompt: Prompt) -> bytes:
    """The name of a completion: the model and all of the prompt, with its version, parameters, seed and sample."""
    fields = [model, *(getattr(prompt, name) for name in sorted(Prompt.__dataclass_fields__))]
    text = json.dumps(fields, sort_keys=True, ensure_ascii=True, default=dict)
    return blake2b(text.encode(), digest_size=20).digest()


class CompletionStore:
    """Keeps each completion as soon as it is given. Safe for threads and for processes."""

    def __init__(self, path: Path) -> None:
        self.path = path
        self._lock = threading.Lock()
        with self._explained():
            path.parent.mkdir(parents=True, exist_ok=True)
            self._db = sqlite3.connect(path, timeout=_SECONDS_FOR_A_LOCK, isolation_level=None, check_same_thread=False)
            try:
                self._prepare()
            except (sqlite3.Error, BadInputError):
                self._db.close()
                raise

    def __repr__(self) -> str:
        return f"CompletionStore({str(self.path)!r})"

    def get(self, key: bytes) -> Completion | None:
        """The completion of that name, with the usage it had when it was paid for."""
        with self._explained(), self._lock:
            row = self._db.execute("SELECT reply FROM completion WHERE key = ?", (key,)).fetchone()
        return _read(row[0]) if row else None

    def put(self, key: bytes, model: str, prompt: Prompt, completion: Completion) -> None:
        """Keep a completion, in the place of an older one of that name."""
        row = (key, model, prompt.template, prompt.version, _write(completion))
        with self._explained(), self._lock:
            self._db.execute("INSERT OR REPLACE INTO completion VALUES (?, ?, ?, ?, ?)", row)

    def count(self) -> int:
        """How many completions there are."""
        with self._explained(), self._lock:
            return int(self._db.execute("SELECT count(*) FROM completion").fetchone()[0])

    def close(self) -> None:
        """Let go of the file."""
        with self._lock:
            self._db.close()

    def __enter__(self) -> "CompletionStore":
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        self.close()

    def _prepare(self) -> None:
        # SQLite's patience does not cover the change to write-ahead logging, so processes take turns at the door.
        with FileLock(f"{self.path}.lock", timeout=_SECONDS_FOR_A_LOCK):
            self._db.execute("PRAGMA journal_mode = WAL")
            (version,) = self._db.execute("PRAGMA user_version").fetchone()
            if version == 0:
                self._db.executescript(f"BEGIN; {_SCHEMA} PRAGMA user_version = {SCHEMA_VERSION}; COMMIT;")
        self._db.execute("PRAGMA synchronous = NORMAL")
        if version > SCHEMA_VERSION:
            raise BadInputError(
                f"The cache {self.path} has format {version}, this Triplebeam knows {SCHEMA_VERSION}: upgrade"
                " Triplebeam or name another file."
            )

    @contextmanager
    def _explained(self) -> Iterator[None]:
        try:
            yield
        except (sqlite3.Error, OSError) as error:
            raise BadInputError(
                f"The cache of completions {self.path} cannot be used ({error}): see whether its disk is full or not"
                " writable, move the file away if it is damaged, or name another one."
            ) from error


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
