"""The address of an index on OpenSearch: ``opensearch://host:9200/prefix``.

Several hosts of one cluster are separated by commas. ``opensearchs://`` means TLS. A user's name and password are in
front of the hosts, or in the environment (``TRIPLEBEAM_OPENSEARCH_USER`` and ``TRIPLEBEAM_OPENSEARCH_PASSWORD``). They
are kept in the memory of this process alone: no file, message or trace has them. They are sent to addresses that the
user typed, never to one that somebody else's folder names.
"""

import json
import os
import re
from dataclasses import dataclass, field, replace
from ipaddress import ip_address
from pathlib import Path
from typing import Any
from urllib.parse import parse_qs, unquote, urlsplit

import platformdirs

from triplebeam.errors import BadInputError, IndexDamagedError
from triplebeam.system.durable import explained, make_folder, replace_file

_SCHEMES = {"opensearch": "http", "opensearchs": "https"}
_PREFIX = re.compile(r"[a-z0-9][a-z0-9_-]{0,63}")
_HOST = re.compile(r"(\[[0-9a-fA-F:.]+\]|[A-Za-z0-9._-]+)(:\d{1,5})?")
_FILE = ".opensearch.json"
_FORM = "write opensearch://host:9200/prefix, or opensearchs:// for TLS"
_USER, _PASSWORD, _STATE = "TRIPLEBEAM_OPENSEARCH_USER", "TRIPLEBEAM_OPENSEARCH_PASSWORD", "TRIPLEBEAM_STATE"
#: What must be percent-encoded in a name or password: otherwise it is not clear where they end.
_RESERVED = re.compile(r"[/?#\[\]\\\s]")
#: Addresses that the user typed, with the names and passwords in them. They end with the process.
_TYPED: dict["Address", tuple[str, str] | None] = {}


@dataclass(frozen=True)
class Address:
    """Where the three indices of an index are."""

    hosts: tuple[str, ...]
    prefix: str
    scheme: str = "http"
    shards: int = 1
    replicas: int | None = None
    """Copies of each shard beside the first; None: one where there is a second node to put it on."""
    verify: bool = True
    """Whether the certificate of the cluster is checked."""
    user: str = field(default="", repr=False, compare=False)
    password: str = field(default="", repr=False, compare=False)

    @classmethod
    def parse(cls, text: str) -> "Address":
        """Read an address that the user typed. What is wrong with it is said without the name and the password."""
        scheme, _, rest = text.partition("://")
        credentials, _, rest = rest.rpartition("@")
        found = cls._without_credentials(scheme.lower(), rest)
        _TYPED[found] = _credentials(credentials) or _TYPED.get(found)
        return found._with_credentials()

    @classmethod
    def of(cls, folder: Path) -> "Address | None":
        """The address that a local folder is for; None for an index that is a folder."""
        try:
            scheme, _, rest = json.loads((folder / _FILE).read_text(encoding="utf-8"))["address"].partition("://")
            found = cls._without_credentials(scheme, rest)
        except (FileNotFoundError, NotADirectoryError):
            return None
        except (BadInputError, ValueError, KeyError, TypeError, AttributeError) as error:
            raise IndexDamagedError(
                f"{folder / _FILE} cannot be read: remove it, and name the index by its address ({_FORM})."
            ) from error
        if found not in _TYPED and not folder.resolve().is_relative_to(_state().resolve()):
            raise BadInputError(
                f"{folder} refers to a cluster and is not in your state folder, so no request is sent there: if you"
                f" trust it, name the index by its address, {found.place}, or set {_STATE}."
            )
        return found._with_credentials()

    @classmethod
    def _without_credentials(cls, scheme: str, rest: str) -> "Address":
        """Read what follows the name and the password; these are not in it."""
        if scheme not in _SCHEMES:
            raise BadInputError(f"this kind of address is not known: {_FORM}.")
        try:
            parts = urlsplit(f"{scheme}://{rest}")
        except ValueError as error:
            raise BadInputError(f"the address cannot be read ({error}): {_FORM}.") from error
        shown = f"{scheme}://{parts.netloc}{parts.path}"
        listed = tuple(map(_with_port, parts.netloc.split(",")))
        prefix = parts.path.strip("/")
        if not _PREFIX.fullmatch(prefix):
            raise BadInputError(
                f"the address {shown} needs a prefix behind the host, of lower-case letters, digits, '-' and '_':"
                f" {_FORM}."
            )
        return cls(listed, prefix, _SCHEMES[scheme], **_options(parts.query, shown))

    def _with_credentials(self) -> "Address":
        user, password = _TYPED.get(self) or _from_environment()
        return replace(self, user=user, password=password)._checked()

    @property
    def place(self) -> str:
        """The address without name and password, for messages and files."""
        scheme = next(name for name, protocol in _SCHEMES.items() if protocol == self.scheme)
        return f"{scheme}://{','.join(self.hosts)}/{self.prefix}"

    def urls(self) -> list[str]:
        """The base of requests to each host."""
        return [f"{self.scheme}://{host}" for host in self.hosts]

    def folder(self, parent: Path) -> Path:
        """The local folder of this index, made where it is not there; it is written to with every other setting."""
        found = parent / "opensearch" / re.sub(r"[^\w.-]+", "_", ",".join(self.hosts)) / f"{self.prefix}.index"
        with explained(found):
            make_folder(found)
            options = {"shards": self.shards, "replicas": self.replicas, "verify": "yes" if self.verify else "no"}
            query = "&".join(f"{name}={value}" for name, value in options.items() if value is not None)
            replace_file(found / _FILE, json.dumps({"address": f"{self.place}?{query}"}) + "\n")
        return found

    def _checked(self) -> "Address":
        """A password goes over TLS, or stays on this machine."""
        if self.password and self.scheme == "http" and not all(map(_is_local, self.hosts)):
            raise BadInputError(
                f"a password would be sent to {self.place} without encryption: write opensearchs:// instead."
            )
        return self


def is_address(text: object) -> bool:
    """Is this meant as an address, and not as a folder? An unknown kind of address is none, but has passwords, too."""
    return isinstance(text, str) and "://" in text


def is_remote(folder: Path) -> bool:
    """Is this the local folder of an index on OpenSearch?"""
    return (folder / _FILE).is_file()


def _with_port(host: str) -> str:
    match = _HOST.fullmatch(host)
    if not match:  # not shown: where the host was forgotten, this is a name and a password
        raise BadInputError(f"a host in the address cannot be read: {_FORM}.")
    return host if match[2] else f"{host}:9200"


def _options(query: str, shown: str) -> dict[str, Any]:
    """Shards, replicas, and whether the certificate is checked."""
    values = {name: each[-1] for name, each in parse_qs(query, keep_blank_values=True).items()}
    read: dict[str, Any] = {}
    for name, value in values.items():
        if name == "verify" and value in ("yes", "no"):
            read[name] = value == "yes"
        elif (
            name in ("shards", "replicas") and value.isascii() and value.isdigit() and int(value) >= (name == "shards")
        ):
            read[name] = int(value)
        else:
            raise BadInputError(
                f"{name}={value} in the address {shown} cannot be used: known are shards=3, replicas=1 and verify=no."
            )
    return read


def _credentials(text: str) -> tuple[str, str] | None:
    """The name and the password in an address; a password that is not there is in the environment."""
    if _RESERVED.search(text):
        raise BadInputError(
            "the user's name or password in the address has a character that must be percent-encoded: write %2F for /,"
            " %3F for ?, %23 for #, %5B for [."
        )
    user, _, password = map(unquote, text.partition(":"))
    if password and not user:
        raise BadInputError("there is a password in the address and no user's name: write user:password@host.")
    return (user, password or _from_environment()[1]) if user else None


def _from_environment() -> tuple[str, str]:
    return os.environ.get(_USER, ""), os.environ.get(_PASSWORD, "")


def _state() -> Path:
    """The user's own state folder. A `triplebeam.toml` may be somebody else's, so it has no say in this."""
    set_to = os.environ.get(_STATE)
    return Path(set_to).expanduser() if set_to else platformdirs.user_data_path("triplebeam")


def _is_local(host: str) -> bool:
    name = host.rpartition(":")[0].strip("[]")
    try:
        return name == "localhost" or ip_address(name).is_loopback
    except ValueError:
        return False
