"""The address of an index on OpenSearch: ``opensearch://host:9200/prefix``.

Several hosts of one cluster are separated by commas. ``opensearchs://`` means TLS. A user's name and password are in
front of the hosts, or in the environment (``TRIPLEBEAM_OPENSEARCH_USER`` and ``TRIPLEBEAM_OPENSEARCH_PASSWORD``). They
are kept in the memory of this process alone: no file, message or trace has them.
"""

import json
import os
import re
from dataclasses import dataclass, field
from ipaddress import ip_address
from pathlib import Path
from typing import Any
from urllib.parse import parse_qs, unquote, urlsplit

from triplebeam.durable import explained, make_folder, replace_file
from triplebeam.errors import BadInputError

_SCHEMES = {"opensearch": "http", "opensearchs": "https"}
_PREFIX = re.compile(r"[a-z0-9][a-z0-9_-]{0,63}")
_HOST = re.compile(r"(\[[0-9a-fA-F:.]+\]|[A-Za-z0-9._-]+)(:\d{1,5})?")
_FILE = ".opensearch.json"
_FORM = "write opensearch://host:9200/prefix, or opensearchs:// for TLS"
_USER, _PASSWORD = "TRIPLEBEAM_OPENSEARCH_USER", "TRIPLEBEAM_OPENSEARCH_PASSWORD"
#: Names and passwords that were in addresses, by the place without them. They end with the process.
_GIVEN: dict[str, tuple[str, str]] = {}


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
        """Read an address. What is wrong with it is said without the name and the password in it."""
        parts = urlsplit(text)
        credentials, _, hosts = parts.netloc.rpartition("@")
        shown = f"{parts.scheme}://{hosts}{parts.path}"
        listed = tuple(_with_port(host, shown) for host in hosts.split(","))
        prefix = parts.path.strip("/")
        if not _PREFIX.fullmatch(prefix):
            raise BadInputError(
                f"the address {shown} needs a prefix behind the host, of lower-case letters, digits, '-' and '_':"
                f" {_FORM}."
            )
        user, _, password = credentials.partition(":")
        found = cls(listed, prefix, _SCHEMES[parts.scheme], **_options(parts.query, shown))
        given = (unquote(user), unquote(password)) if user else _GIVEN.get(found.place, _from_environment())
        if user:
            _GIVEN[found.place] = given
        return cls(**{**vars(found), "user": given[0], "password": given[1]})._checked()

    @classmethod
    def of(cls, folder: Path) -> "Address | None":
        """The address that a local folder is for; None for an index that is a folder."""
        try:
            return cls.parse(json.loads((folder / _FILE).read_text(encoding="utf-8"))["address"])
        except (FileNotFoundError, NotADirectoryError):
            return None

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
    """Is this the address of an index on OpenSearch, and not a folder?"""
    return isinstance(text, str) and text.startswith(tuple(f"{scheme}://" for scheme in _SCHEMES))


def is_remote(folder: Path) -> bool:
    """Is this the local folder of an index on OpenSearch?"""
    return (folder / _FILE).is_file()


def _with_port(host: str, shown: str) -> str:
    match = _HOST.fullmatch(host)
    if not match:
        raise BadInputError(f"the host {host!r} of {shown} cannot be read: {_FORM}.")
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


def _from_environment() -> tuple[str, str]:
    return os.environ.get(_USER, ""), os.environ.get(_PASSWORD, "")


def _is_local(host: str) -> bool:
    name = host.rpartition(":")[0].strip("[]")
    try:
        return name == "localhost" or ip_address(name).is_loopback
    except ValueError:
        return False
