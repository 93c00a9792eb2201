"""Keys: who may read and who may write, and what they see.

A key may be bound to one index and to a filter: whoever has it sees nothing else, and may only read.
A key is 256 random bits, shown once when it is created; ``keys.json`` holds only its SHA-256. No slow hash is needed:
such a key can neither be guessed nor be in a list of common ones.
"""

import datetime
import hashlib
import hmac
import json
import secrets
import threading
from contextlib import suppress
from pathlib import Path
from typing import Annotated, Literal, TypeAlias
from urllib.parse import urlsplit

from fastapi import Depends, Request
from fastapi.security import HTTPAuthorizationCredentials, HTTPBearer
from filelock import FileLock
from pydantic import BaseModel, ConfigDict, TypeAdapter, ValidationError

from triplebeam.errors import BadInputError
from triplebeam.serve.http.errors import HTTPProblem
from triplebeam.serve.library import Library
from triplebeam.serve.running import Runner
from triplebeam.system.durable import replace_file
from triplebeam.where import parse

Role: TypeAlias = Literal["read", "write"]

_PREFIX = "tb-"
_BEARER = HTTPBearer(auto_error=False, description="A key created by `triplebeam keys create`.")


class Access(BaseModel):
    """What the holder of a key may do and see."""

    #: A misspelt "where" must not make a key that sees everything.
    model_config = ConfigDict(frozen=True, extra="forbid")

    role: Role
    index: str | None = None
    """The only index that is there for it."""
    where: str | None = None
    """The filter that holds for all passages it sees."""

    @property
    def is_bound(self) -> bool:
        """Is there anything it does not see?"""
        return self.index is not None or self.where is not None


class KeyEntry(Access):
    """What is kept of a key."""

    name: str
    sha256: str
    created: str


_ENTRIES = TypeAdapter(list[KeyEntry])


class Keys:
    """The keys of a server, read again when their file changes. ``required``: no access without a key."""

    def __init__(self, path: Path, *, required: bool = False) -> None:
        self._path = path
        self._required = required
        self._lock = threading.Lock()
        self._read_at: tuple[int, int] | None = None
        self._entries: list[KeyEntry] = []

    @property
    def on(self) -> bool:
        """Does a request need a key? Once there has been one it does: deleting the last one opens nothing."""
        self.entries()
        self._required = self._required or self._read_at is not None
        return self._required

    def entries(self) -> list[KeyEntry]:
        """Return the entries of all keys."""
        with self._lock:
            try:
                stat = self._path.stat()
            except FileNotFoundError:
                self._read_at, self._entries = None, []
                return []
            version = stat.st_mtime_ns, stat.st_ino
            if version != self._read_at:
                self._entries, self._read_at = self._read(), version
            return list(self._entries)

    def access_of(self, key: str) -> Access | None:
        """Return what the holder of a key may do. Every entry is compared, in constant time."""
        digest = _digest(key)
        found = [entry for entry in self.entries() if hmac.compare_digest(entry.sha256, digest)]
        return Access(role=found[0].role, index=found[0].index, where=found[0].where) if found else None

    def create(self, role: Role, name: str = "", *, index: str | None = None, where: str | None = None) -> str:
        """Create a key and keep its hash; the key itself is returned only here."""
        access = Access(role=role, index=index, where=where)
        if role == "write" and access.is_bound:
            raise BadInputError("a key that is bound to an index or a filter may only read: use the role read.")
        if where is not None:
            parse(where)  # a mistake is said now
        key = _PREFIX + secrets.token_urlsafe(32)
        self._path.parent.mkdir(parents=True, exist_ok=True)
        with FileLock(f"{self._path}.lock"):
            entries = self.entries()
            name = name or f"key-{len(entries) + 1}"
            if any(entry.name == name for entry in entries):
                raise BadInputError(f"there is already a key {name!r}: choose another name, or delete it first.")
            now = datetime.datetime.now(datetime.UTC).isoformat(timespec="seconds")
            entry = KeyEntry(name=name, sha256=_digest(key), created=now, **access.model_dump())
            self._write([*entries, entry])
        return key

    def delete(self, name: str) -> None:
        """Delete a key, with immediate effect also on a running server."""
        with FileLock(f"{self._path}.lock"):
            entries = self.entries()
            kept = [entry for entry in entries if entry.name != name]
            if len(kept) == len(entries):
                names = ", ".join(entry.name for entry in entries) or "none"
                raise BadInputError(f"there is no key {name!r} in {self._path}: there are {names}.")
            self._write(kept)

    def _read(self) -> list[KeyEntry]:
        try:
            return _ENTRIES.validate_json(self._path.read_bytes())
        except (OSError, ValidationError) as error:
            # Without values: whoever has no key reads it, too.
            problems = error.errors() if isinstance(error, ValidationError) else []
            unknown = [each["loc"][-1] for each in problems if each["type"] == "extra_forbidden"]
            reason = f"unknown field {str(unknown[0])[:40]!r}" if unknown else type(error).__name__
            raise HTTPProblem(
                503,
                "keys_damaged",
                f"{self._path.name} cannot be read as a list of keys ({reason}), so nobody is let in:"
                " restore the file, or remove it and create new keys.",
            ) from None

    def _write(self, entries: list[KeyEntry]) -> None:
        """Replace the file; nobody else on the machine may read it."""
        rows = [entry.model_dump(exclude_none=True) for entry in entries]
        replace_file(self._path, json.dumps(rows, indent=2), mode=0o600)


def _digest(key: str) -> str:
    return hashlib.sha256(key.encode("utf-8", "surrogatepass")).hexdigest()


def access_of_request(request: Request, key: str | None) -> Access:
    """Return what a request may do; 401 if it has no key, or an unknown one."""
    keys: Keys = request.app.state.keys
    if not keys.on:
        _check_origin(request)
        return Access(role="write")
    access = keys.access_of(key) if key else None
    if access is None:
        what = "the key is unknown" if key else "this server needs a key"
        raise HTTPProblem(
            401,
            "bad_key" if key else "no_key",
            f"{what}: create one with `triplebeam keys create` and send it as a bearer token.",
        )
    return access


async def may_read(
    request: Request, credentials: Annotated[HTTPAuthorizationCredentials | None, Depends(_BEARER)] = None
) -> Access:
    """Depend on any key; `SeenLibrary` and `SeenRunner` then show what it may see.

    It is so quick that it runs on the event loop: handing it to a thread would take longer, on a busy machine much so.
    """
    return access_of_request(request, credentials.credentials if credentials else None)


def sees_names(
    request: Request, credentials: Annotated[HTTPAuthorizationCredentials | None, Depends(_BEARER)] = None
) -> bool:
    """Return whether the names of all indexes may be shown, for routes that need no key."""
    keys: Keys = request.app.state.keys
    access = keys.access_of(credentials.credentials) if credentials else None
    return not keys.on or (access is not None and not access.is_bound)


def may_write(access: Annotated[Access, Depends(may_read)]) -> None:
    """Depend on a key with the role write, which is never bound."""
    if access.role != "write" or access.is_bound:
        raise HTTPProblem(403, "read_only_key", "this key may only read: use one created with `--role write`.")


def sees_everything(access: Annotated[Access, Depends(may_read)]) -> None:
    """Depend on a key that is not bound: for what is about the server as a whole."""
    if access.is_bound:
        raise HTTPProblem(403, "bound_key", "this key is bound to a part of what is here: use a key that is not bound.")


async def library_of(request: Request, access: Annotated[Access, Depends(may_read)]) -> Library:
    """Depend on the indexes that a request may see; every route reads them through this."""
    library: Library = request.app.state.library
    return library.seen_with(access.index, access.where)


SeenLibrary: TypeAlias = Annotated[Library, Depends(library_of)]


async def runner_of(request: Request, library: SeenLibrary) -> Runner:
    """Depend on what runs searches and agents over these indexes."""
    runner: Runner = request.app.state.runner
    return runner.over(library)


SeenRunner: TypeAlias = Annotated[Runner, Depends(runner_of)]


def _check_origin(request: Request) -> None:
    """Without keys, a page of another site that the user's browser has open could act as the user: refuse it."""
    origin = request.headers.get("origin")
    if origin is None or origin in request.app.state.cors_origins:
        return
    with suppress(ValueError):
        if urlsplit(origin).netloc == request.headers.get("host"):
            return
    raise HTTPProblem(
        403, "cross_origin", "pages of other sites may not use this server: start it with --cors-origin for them."
    )
