"""Where an index is: a folder, or three indices of an OpenSearch cluster, ``opensearch://host:9200/prefix``.

What a user typed is read once, by `parse_location`, and carried as a value. Several hosts of one cluster are separated
by commas. ``opensearchs://`` means TLS. A user's name and password are in front of the hosts, or in the environment
(``TRIPLEBEAM_OPENSEARCH_USER`` and ``TRIPLEBEAM_OPENSEARCH_PASSWORD``). They are in memory alone: no file, message or
trace has them. They are sent to addresses that the user typed, never to one that somebody else's folder names.

The documents of an index on a cluster are in a local folder, its ``state``. A file there has the address, so that the
folder can be served and is not taken for an index of its own.
"""

import json
import os
import re
from dataclasses import dataclass, field, replace
from functools import cached_property
from ipaddress import ip_address
from pathlib import Path
from typing import Any
from urllib.parse import parse_qs, unquote, urlsplit

import platformdirs

from triplebeam.errors import BadInputError, IndexDamagedError
from triplebeam.system.durable import explain_disk_errors, make_folder, replace_file

_SCHEMES = {"opensearch": "http", "opensearchs": "https"}
_PREFIX = re.compile(r"[a-z0-9][a-z0-9_-]{0,63}")
_HOST = re.compile(r"(\[[0-9a-fA-F:.]+\]|[A-Za-z0-9._-]+)(:\d{1,5})?")
_FILE = "cluster.json"
_FORM = "write opensearch://host:9200/prefix, or opensearchs:// for TLS"
_USER, _PASSWORD, _STATE = "TRIPLEBEAM_OPENSEARCH_USER", "TRIPLEBEAM_OPENSEARCH_PASSWORD", "TRIPLEBEAM_STATE"
#: What must be percent-encoded in a name or password: otherwise it is not clear where they end.
_RESERVED = re.compile(r"[/?#\[\]\\\s]")


class Location:
    """Where an index is published; as text it is what a user types, without name and password."""

    state: Path
    """The local folder with the documents, extracted triples and vectors."""


@dataclass(frozen=True)
class Folder(Location):
    """An index in a folder of its own."""

    state: Path

    def __str__(self) -> str:
        return str(self.state)


@dataclass(frozen=True)
class Cluster(Location):
    """An index on OpenSearch."""

    hosts: tuple[str, ...]
    prefix: str
    root: Path
    """The state folder of the settings."""
    scheme: str = "http"
    shards: int = 1
    replicas: int | None = None
    """Copies of each shard beside the first; None: one where there is a second node to put it on."""
    verify: bool = True
    """Whether the certificate of the cluster is checked."""
    credentials: tuple[str, str] = field(default=("", ""), repr=False)
    """The user's name and password; empty: none are sent."""

    def __post_init__(self) -> None:
        """Refuse to send a password to another machine without TLS."""
        if self.credentials[1] and self.scheme == "http" and not all(map(_is_loopback, self.hosts)):
            raise BadInputError(f"a password would be sent to {self} without encryption: write opensearchs:// instead.")

    @classmethod
    def parse(cls, text: str, root: Path) -> "Cluster":
        """Read an address that the user typed. What is wrong with it is said without the name and the password."""
        scheme, _, rest = text.partition("://")
        typed, _, rest = rest.rpartition("@")
        found = _parse_address(scheme.lower(), rest, root)
        return replace(found, credentials=_parse_credentials(typed) or _read_environment())

    def __str__(self) -> str:
        scheme = next(name for name, protocol in _SCHEMES.items() if protocol == self.scheme)
        return f"{scheme}://{','.join(self.hosts)}/{self.prefix}"

    @cached_property
    def state(self) -> Path:  # type: ignore[override]  # it is frozen: nobody writes it
        """A folder below the state folder of the settings."""
        return self.root / "opensearch" / re.sub(r"[^\w.-]+", "_", ",".join(self.hosts)) / f"{self.prefix}.index"

    @property
    def urls(self) -> list[str]:
        """The base of requests to each host."""
        return [f"{self.scheme}://{host}" for host in self.hosts]

    def write_address(self) -> None:
        """Say in the local folder which cluster it is for."""
        options = {"shards": self.shards, "replicas": self.replicas, "verify": "yes" if self.verify else "no"}
        query = "&".join(f"{name}={value}" for name, value in options.items() if value is not None)
        with explain_disk_errors(self.state):
            make_folder(self.state)
            replace_file(self.state / _FILE, json.dumps({"address": f"{self}?{query}"}) + "\n")


def parse_location(place: "str | Path | Location", state: Path) -> Location:
    """Read a path or an address that the user typed; ``state`` is the state folder of the settings."""
    if isinstance(place, Location):
        return place
    # An unknown scheme is no folder: it may have passwords, too.
    is_address = isinstance(place, str) and "://" in place
    return Cluster.parse(str(place), state) if is_address else find_location(Path(place))


def find_location(folder: Path) -> Location:
    """Find the index that a folder belongs to: its own, or one on the cluster that its file names."""
    try:
        scheme, _, rest = json.loads((folder / _FILE).read_text(encoding="utf-8"))["address"].partition("://")
        found = _parse_address(scheme, rest, folder.absolute().parents[2])
    except (FileNotFoundError, NotADirectoryError):
        return Folder(folder)
    except (BadInputError, ValueError, KeyError, TypeError, AttributeError, IndexError) as error:
        raise IndexDamagedError(
            f"{folder / _FILE} cannot be read: remove it, and name the index by its address ({_FORM})."
        ) from error
    # The user's own state folder. A `triplebeam.toml` may be somebody else's, so it has no say in this.
    chosen = os.environ.get(_STATE)
    state = Path(chosen).expanduser() if chosen else platformdirs.user_data_path("triplebeam")
    if found.state.resolve() != folder.resolve() or not folder.resolve().is_relative_to(state.resolve()):
        raise BadInputError(
            f"{folder} refers to a cluster and is not in your state folder, so no request is sent there: if you"
            f" trust it, name the index by its address, {found}, or set {_STATE}."
        )
    return replace(found, credentials=_read_environment())


def _parse_address(scheme: str, rest: str, root: Path) -> Cluster:
    """Read what follows the name and the password; these are not in it."""
    if scheme not in _SCHEMES:
        raise BadInputError(f"this kind of address is not known: {_FORM}.")
    try:
        parts = urlsplit(f"{scheme}://{rest}")
    except ValueError as error:
        raise BadInputError(f"the address cannot be read ({error}): {_FORM}.") from error
    shown = f"{scheme}://{parts.netloc}{parts.path}"
    hosts = tuple(map(_add_port, parts.netloc.split(",")))
    prefix = parts.path.strip("/")
    if not _PREFIX.fullmatch(prefix):
        raise BadInputError(
            f"the address {shown} needs a prefix behind the host, of lower-case letters, digits, '-' and '_': {_FORM}."
        )
    return Cluster(hosts, prefix, root, _SCHEMES[scheme], **_parse_options(parts.query, shown))


def _add_port(host: str) -> str:
    match = _HOST.fullmatch(host)
    if not match:  # not shown: where the host was forgotten, this is a name and a password
        raise BadInputError(f"a host in the address cannot be read: {_FORM}.")
    return host if match[2] else f"{host}:9200"


def _parse_options(query: str, shown: str) -> dict[str, Any]:
    """Read shards, replicas, and whether the certificate is checked."""
    options: dict[str, Any] = {}
    for name, values in parse_qs(query, keep_blank_values=True).items():
        value = values[-1]
        is_count = value.isascii() and value.isdigit() and int(value) >= (name == "shards")
        if name == "verify" and value in ("yes", "no"):
            options[name] = value == "yes"
        elif name in ("shards", "replicas") and is_count:
            options[name] = int(value)
        else:
            raise BadInputError(
                f"{name}={value} in the address {shown} cannot be used: known are shards=3, replicas=1 and verify=no."
            )
    return options


def _parse_credentials(text: str) -> tuple[str, str] | None:
    """Read the name and the password in an address; a password that is not there is in the environment."""
    if _RESERVED.search(text):
        raise BadInputError(
            "the user's name or password in the address has a character that must be percent-encoded: write %2F for /,"
            " %3F for ?, %23 for #, %5B for [."
        )
    user, _, password = map(unquote, text.partition(":"))
    if password and not user:
        raise BadInputError("there is a password in the address and no user's name: write user:password@host.")
    return (user, password or _read_environment()[1]) if user else None


def _read_environment() -> tuple[str, str]:
    return os.environ.get(_USER, ""), os.environ.get(_PASSWORD, "")


def _is_loopback(host: str) -> bool:
    name = host.rpartition(":")[0].strip("[]")
    try:
        return name == "localhost" or ip_address(name).is_loopback
    except ValueError:
        return False
