"""Text to unit vectors. ``load_embedder`` turns the name of a model into an embedder."""

from collections.abc import Callable, Sequence
from pathlib import Path
from typing import TYPE_CHECKING

from triplebeam.embed.embedder import Embedder
from triplebeam.errors import BadInputError
from triplebeam.plugins import require_plugin
from triplebeam.system.work import Progress, ignore_progress

if TYPE_CHECKING:
    from triplebeam.embed.onnx_embedder import Precision

#: The models whose weights are pinned, under every name they are known by; the first is the one an index records.
_GRANITE = ("granite", "granite-embedding-30m-english", "ibm-granite/granite-embedding-30m-english")
_MINILM = ("minilm", "all-MiniLM-L6-v2", "sentence-transformers/all-MiniLM-L6-v2")
ENDPOINT = "openai:"
_PAIR = "dpr"
#: Written beside the weights of a ColBERT checkpoint; its graph is assembled here, whatever other graphs are there.
_COLBERT = "artifact.metadata"
_GRAPHS = ("model.onnx", "onnx/model.onnx", "model.safetensors")


def load_embedder(
    name: str,
    home: Path,
    *,
    offline: bool = False,
    progress: Progress = ignore_progress,
    precision: "Precision" = "fp32",
    on_gpu: bool = False,
    base_url: str | None = None,
    api_key: str | None = None,
    timeout: float | None = None,
) -> Embedder:
    """Load the embedder called ``name``; weights that are not in ``home`` yet are downloaded there.

    A name is ``granite``, ``minilm``, a folder that holds a model, ``openai:MODEL`` at an endpoint, or
    ``organisation/model`` on the model hub. In ``int8`` a model computes faster and a little less exactly. What is not
    at an endpoint runs on processors, or ``on_gpu``. ``timeout`` is how many seconds an endpoint's reply may take.
    ``dpr:QUESTIONS,PASSAGES`` is a pair of encoders, each a folder or on the hub, of the research package.
    """
    if name.startswith(f"{_PAIR}:"):
        load: Callable[..., Embedder] = require_plugin("embedders", _PAIR, "an embedder")
        return load(name, home, offline=offline, progress=progress, precision=precision, on_gpu=on_gpu)
    if name.startswith(ENDPOINT):
        from triplebeam.embed.openai_compatible import DEFAULT_TIMEOUT_SECONDS, OpenAICompatibleEmbedder

        return OpenAICompatibleEmbedder(
            name.removeprefix(ENDPOINT), base_url, api_key, timeout=timeout or DEFAULT_TIMEOUT_SECONDS
        )
    from triplebeam.embed.onnx_embedder import OnnxEmbedder

    folder, known_as = find_model_folder(name, home, offline=offline, progress=progress)
    return OnnxEmbedder(folder, name=known_as, precision=precision, on_gpu=on_gpu)


def find_model_folder(name: str, home: Path, *, offline: bool, progress: Progress) -> tuple[Path, str]:
    """Find the folder of the model, and the name an index records for it."""
    from triplebeam.weights import GRANITE, MINILM, ensure, ensure_from_hub

    for names, weights in ((_GRANITE, GRANITE), (_MINILM, MINILM)):
        if name in names:
            return ensure(weights, home, offline=offline, progress=progress), names[0]
    if Path(name).is_dir():
        # Its full path is its name: an index is opened from other folders than it was made in.
        return Path(name), str(Path(name).resolve())
    organisation, slash, model = name.partition("/")
    if not (organisation and slash and model) or "/" in model or name.startswith((".", "~")):
        raise BadInputError(
            f"{name!r} is no embedder: name 'granite', 'minilm', an existing folder, 'openai:MODEL' or"
            " 'organisation/model'."
        )
    return ensure_from_hub(name, _select_files, home, offline=offline, progress=progress), name


def _select_files(names: Sequence[str]) -> list[str]:
    """Select the files that an embedder reads from a hub's repository: one graph and the small files beside it."""
    graphs = _GRAPHS[::-1] if _COLBERT in names else _GRAPHS
    graph = next((graph for graph in graphs if graph in names), "")
    small = [name for name in names if name.endswith(".json") and name.rpartition("/")[0] in ("", "1_Pooling")]
    return small + [name for name in names if name in (graph, f"{graph}_data", _COLBERT)]
