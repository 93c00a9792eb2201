"""What a folder with an embedding model says about how the model is run.

The layout is the one model hubs use: ``model.onnx`` (or ``onnx/model.onnx``, or a BERT's ``model.safetensors`` with its
``config.json``), ``tokenizer.json``, and small JSON files with the pooling, the longest text and the prompts.
"""

import hashlib
import json
import re
from dataclasses import dataclass
from pathlib import Path
from typing import Any, Literal, TypeAlias

from triplebeam.embed.bert_graph import position_offset
from triplebeam.errors import BadInputError, ModelMissingError
from triplebeam.weights import CHECKSUMS

Pooling: TypeAlias = Literal["mean", "cls"]

_GRAPHS = ("model.onnx", "onnx/model.onnx")
_WEIGHTS = "model.safetensors"
#: E5 was trained with prompts that its published folders do not name.
_E5 = re.compile(r"e5-(small|base|large)(-v2)?$")
_E5_PROMPTS = {"query": "query: ", "passage": "passage: "}
_RUN_HERE = ("Transformer", "Pooling", "Normalize")


@dataclass(frozen=True, slots=True)
class ModelFolder:
    """A folder that holds all an embedder needs, checked when made."""

    path: Path
    projection: str | None = None
    """A linear layer that is run after the encoder; then the weights are those of ``model.safetensors``."""

    def __post_init__(self) -> None:
        """Refuse a folder that lacks a file, or that asks for a layer that would silently be left out."""
        if not self.path.is_dir():
            raise ModelMissingError(f"There is no folder {self.path}: name a folder that holds an embedding model.")
        needed = ["tokenizer.json"] + (["config.json"] if self.weights_file.name == _WEIGHTS else [])
        for name in needed:
            if not (self.path / name).is_file():
                raise ModelMissingError(f"{self.path} lacks {name}: copy it there from where the model comes from.")
        for module in self._json("modules.json", []):
            kind = str(module.get("type", "")).rpartition(".")[2]
            if kind not in _RUN_HERE:
                raise BadInputError(
                    f"The model in {self.path} has a layer {kind!r} after pooling, which is not run here."
                )

    @property
    def weights_file(self) -> Path:
        """The graph with its weights, or the weights from which the graph is assembled."""
        for name in (_WEIGHTS,) if self.projection else (*_GRAPHS, _WEIGHTS):
            if (self.path / name).is_file():
                return self.path / name
        raise ModelMissingError(f"{self.path} holds neither {_GRAPHS[0]} nor {_WEIGHTS}: get one of the two.")

    @property
    def tokenizer_file(self) -> Path:
        """How texts become tokens."""
        return self.path / "tokenizer.json"

    @property
    def config(self) -> dict[str, Any]:
        """The ``config.json`` of the encoder; empty where there is none."""
        return dict(self._json("config.json", {}))

    @property
    def pooling(self) -> Pooling:
        """How the vectors of the tokens become the vector of the text: their mean unless the folder says otherwise."""
        said = self._json("1_Pooling/config.json", {})
        flags = [
            key.removeprefix("pooling_mode_") for key in said if key.startswith("pooling_mode_") and said[key] is True
        ]
        mode = str(said.get("pooling_mode", "+".join(flags) or "mean")).removesuffix("_tokens").removesuffix("_token")
        if mode not in ("mean", "cls"):
            raise BadInputError(f"The model in {self.path} pools by {mode!r}; mean and cls are what is run here.")
        return "cls" if mode == "cls" else "mean"

    @property
    def longest(self) -> int:
        """Tokens a text may have; what is longer is cut."""
        positions = self.config.get("max_position_embeddings")
        said = (
            self._json("sentence_bert_config.json", {}).get("max_seq_length"),
            self._json("tokenizer_config.json", {}).get("model_max_length"),
            None if positions is None else positions - position_offset(self.config),
        )
        # A tokenizer without a limit states an astronomically large one.
        return next((int(tokens) for tokens in said if tokens is not None and tokens < 1_000_000), 512)

    def read_config(self, name: str) -> dict[str, Any]:
        """Read a small JSON file of the folder; empty where there is none."""
        return dict(self._json(name, {}))

    def has_weights(self, name: str) -> bool:
        """Return whether ``model.safetensors`` holds weights of this name. Only its table of contents is read."""
        from safetensors import SafetensorError, safe_open

        file = self.path / _WEIGHTS
        if not file.is_file():
            return False
        try:
            with safe_open(file, framework="numpy") as tensors:
                return name in tensors.keys()  # noqa: SIM118 - it is no mapping
        except SafetensorError as error:
            raise ModelMissingError(f"{file} cannot be read ({error}): get the model's files again.") from error

    def prompt(self, *names: str) -> str:
        """Return what the model expects in front of a text; the first of the names that the folder has."""
        default = _E5_PROMPTS if _E5.search(self.path.name) else {}
        prompts = self._json("config_sentence_transformers.json", {}).get("prompts") or default
        return next((str(prompts[name]) for name in names if prompts.get(name)), "")

    def fingerprint(self) -> str:
        """Return the SHA-256 of the weights, as recorded at installation or computed now."""
        file = self.weights_file
        recorded = self.path / CHECKSUMS
        if recorded.is_file() and recorded.stat().st_mtime >= file.stat().st_mtime:
            for line in recorded.read_text(encoding="utf-8").splitlines():
                digest, _, name = line.partition("  ")
                if name == file.relative_to(self.path).as_posix():
                    return digest
        with file.open("rb") as stream:
            return hashlib.file_digest(stream, "sha256").hexdigest()

    def _json(self, name: str, default: Any) -> Any:
        path = self.path / name
        if not path.is_file():
            return default
        try:
            return json.loads(path.read_text(encoding="utf-8"))
        except ValueError as error:
            raise ModelMissingError(f"{path} is not valid JSON ({error}): get the model's files again.") from error
