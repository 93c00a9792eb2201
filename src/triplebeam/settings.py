"""Settings, read once, at the edge: flag, then environment, then ``triplebeam.toml``, then default."""

import json
import logging
import os
from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any, Literal

import platformdirs
from pydantic import BaseModel, ConfigDict, Field, SecretStr, ValidationError, field_validator, model_validator
from pydantic.fields import FieldInfo

from triplebeam.errors import BadInputError, nearest
from triplebeam.generate.accounting import Price
from triplebeam.system.endpoint import OPENAI

CONFIG_FILE = "triplebeam.toml"
_PREFIX = "TRIPLEBEAM_"
#: Variables that are no settings: a switch of the server, and where the project's own tests find their data.
_OTHERS = ("TRIPLEBEAM_OPENSEARCH_USER", "TRIPLEBEAM_OPENSEARCH_PASSWORD", "TRIPLEBEAM_TRACING", "TRIPLEBEAM_DATA")
#: Prefixes of the settings of an endpoint. A role without an address of its own uses the main one.
_ROLES = ("", "extraction_", "reading_", "judge_")
_LOG = logging.getLogger("triplebeam")


def _openai_key(settings: dict[str, object]) -> SecretStr | None:
    """``OPENAI_API_KEY``, where the endpoint is the one it is for."""
    key, url = os.environ.get("OPENAI_API_KEY"), settings.get("base_url")
    theirs = url in (None, OPENAI, os.environ.get("OPENAI_BASE_URL"))
    return SecretStr(key) if key and theirs else None


def _keys_for(file: Mapping[str, Any], user: Mapping[str, Any]) -> dict[str, Any]:
    """Return the keys of endpoints that only ``triplebeam.toml`` names: those in the file itself.

    The folder may be somebody else's, and the user's own key must not be sent to whatever address it names.
    """
    trusted = (OPENAI, os.environ.get("OPENAI_BASE_URL"))
    keys = {}
    for role in _ROLES:
        names = (f"{role}base_url", "base_url")
        name = next((name for name in names if user.get(name) or file.get(name)), None)
        if name and not user.get(name) and file[name] not in trusted:
            key = f"{role}api_key"
            keys[key] = file.get(key)
            if user.get(key) and not keys[key]:
                _LOG.warning(
                    "%s names the endpoint %s, and your key is not sent there: set %s%sBASE_URL to it if you trust it.",
                    *(CONFIG_FILE, file[name], _PREFIX, role.upper()),
                )
    return keys


@dataclass(frozen=True)
class Endpoint:
    """A model and where it answers."""

    model: str | None
    base_url: str | None
    api_key: SecretStr | None


class Settings(BaseModel):
    """What a user can set for all commands. Each field is ``TRIPLEBEAM_<NAME>`` in the environment."""

    model_config = ConfigDict(frozen=True, extra="forbid")

    home: Path = Field(default_factory=lambda: platformdirs.user_cache_path("triplebeam"))
    """Where model weights are kept."""
    state: Path = Field(default_factory=lambda: platformdirs.user_data_path("triplebeam"))
    """Where documents, triples and vectors of indexes on OpenSearch are kept."""
    embedder: str | None = None
    """granite, minilm, a folder, a hub's name, openai:MODEL or dpr:QUESTIONS,PASSAGES; unless set, the index's own."""
    compute: Literal["fp32", "int8", "fp32@gpu", "fp32@ray", "int8@ray"] = "fp32"
    """How texts are encoded: in fp32, or int8, which is faster and a little less exact; on processors, on an NVIDIA
    GPU, or on a Ray cluster, which also parses passages.
    """
    triples_in_context: bool = True
    """Whether a new index encodes triples in the context of their passages; off: by themselves, as in the papers."""
    keyword_passages: int = Field(50, ge=0)
    """A keyword of more passages makes no edges in a new index's passage graph; 0: all do, as in GNN-Ret's paper."""
    offline: bool = False
    """Never download anything."""
    model: str | None = None
    """The chat model that reads, reasons, answers and extracts, unless the two below name others."""
    base_url: str | None = Field(default_factory=lambda: os.environ.get("OPENAI_BASE_URL") or None)
    """The OpenAI-compatible endpoint."""
    api_key: SecretStr | None = Field(default_factory=_openai_key)
    """``OPENAI_BASE_URL`` and ``OPENAI_API_KEY`` are the last resort; that key is sent to no other endpoint.

    No key of the user's is sent to an endpoint that only the file names.
    """
    extraction_model: str | None = None
    """Another model for `--extractor llm`, at another endpoint if one is set."""
    extraction_base_url: str | None = None
    extraction_api_key: SecretStr | None = None
    reading_model: str | None = None
    """Another model for reading passages into facts, at another endpoint if one is set."""
    reading_base_url: str | None = None
    reading_api_key: SecretStr | None = None
    judge_model: str | None = None
    """Another model that judges answers in experiments, at another endpoint if one is set."""
    judge_base_url: str | None = None
    judge_api_key: SecretStr | None = None
    timeout: float = Field(600.0, gt=0)
    """Seconds a model may take for one reply; a slow local model needs many. Unless set, 60 for embeddings."""
    concurrency: int = Field(4, ge=1)
    """Requests in flight at once."""
    max_tokens: int | None = Field(None, ge=1)
    """The least that the limit of tokens of a reply may be: a "thinking" model needs room for its thoughts."""
    parameters: dict[str, object] = {}
    """Whatever else the endpoint accepts, sent with every request, such as ``{reasoning_effort = "low"}``."""
    seed: int | None = None
    """Sent with every prompt: another seed is another sample, and another completion in the cache."""
    requests_per_minute: float | None = Field(None, gt=0)
    tokens_per_minute: float | None = Field(None, gt=0)
    completions: Path | None = None
    """Where completions are kept, so that none is paid for twice. Unless set: completions.sqlite in ``home``."""
    no_cache: bool = False
    """Ask the model again where ``completions`` has its reply, and store the new one."""
    results: Path | None = None
    """Where results of comparisons are kept, so that none is computed twice. Unless set: runs in ``home``."""
    prices: dict[str, Price] = {}
    """US dollars per million tokens by model: ``{"my-model" = {input = 0.1, output = 0.4}}``, before the built-in."""

    @property
    def precision(self) -> Literal["fp32", "int8"]:
        """How an embedder computes."""
        return "int8" if self.compute.startswith("int8") else "fp32"

    @property
    def on_gpu(self) -> bool:
        """Whether texts are encoded on a GPU."""
        return self.compute.endswith("@gpu")

    def endpoint(self, role: str) -> "Endpoint":
        """Where a role's model is. What a role does not set is the main one's; a key goes to its own endpoint only."""
        own = Endpoint(
            getattr(self, f"{role}_model", None),
            getattr(self, f"{role}_base_url", None),
            getattr(self, f"{role}_api_key", None),
        )
        key = own.api_key or (self.api_key if own.base_url in (None, self.base_url) else None)
        return Endpoint(own.model or self.model, own.base_url or self.base_url, key)

    @field_validator("home", "state", "completions", "results")
    @classmethod
    def _expand_home(cls, path: Path | None) -> Path | None:
        return path.expanduser() if path else None

    @model_validator(mode="before")
    @classmethod
    def _add_sources(cls, given: dict[str, Any]) -> dict[str, Any]:
        """Add what the environment and the file set, in the order of precedence."""
        file = _read_file(Path(CONFIG_FILE)) if Path(CONFIG_FILE).is_file() else {}
        user = _read_environment(cls.model_fields) | given
        return file | user | _keys_for(file, user)


def _read_file(path: Path) -> dict[str, Any]:
    import tomllib

    try:
        return tomllib.loads(path.read_text(encoding="utf-8"))
    except (OSError, ValueError) as error:
        raise BadInputError(f"{CONFIG_FILE} cannot be read: {error}.") from error


def _read_environment(fields: Mapping[str, FieldInfo]) -> dict[str, Any]:
    """Read the settings among the environment's variables, in any case; an empty one is not set, a table is JSON."""
    set_here = {name.lower(): value for name, value in os.environ.items() if value}
    found: dict[str, Any] = {}
    for name, field in fields.items():
        value = set_here.get(_PREFIX.lower() + name)
        if value is not None:
            found[name] = _parse_table(name, value) if isinstance(field.default, dict) else value
    return found


def _parse_table(name: str, value: str) -> Any:
    try:
        return json.loads(value)
    except ValueError as error:
        raise BadInputError(
            f"the environment variable {_PREFIX}{name.upper()} is not JSON ({error}): write a table as"
            ' {"name": value}.'
        ) from None


def unknown_variables(environment: Iterable[str]) -> list[str]:
    """Return a line for each variable that looks like a setting and is none, probably by a slip of the keyboard."""
    known = [_PREFIX + name.upper() for name in Settings.model_fields] + list(_OTHERS)
    strange = [name for name in environment if name.upper().startswith(_PREFIX) and name.upper() not in known]
    return [
        f"the environment variable {name} is ignored: there is no such setting{nearest(name.upper(), known)}."
        for name in sorted(strange)
    ]


def read_settings(**flags: object) -> Settings:
    """Read settings, with the command line's flags first; a flag of None was not used."""
    used = {name: value for name, value in flags.items() if value is not None}
    try:
        return Settings(**used)  # type: ignore[arg-type]
    except ValidationError as error:
        first = error.errors()[0]
        place = ".".join(str(part) for part in first["loc"])
        raise BadInputError(
            f"the setting {place} cannot be used: {first['msg']} (in a flag, the environment, or {CONFIG_FILE})."
        ) from None
