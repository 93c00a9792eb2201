"""Sentence vectors on this machine's processors or its GPU, by ONNX Runtime: no torch, no key, no server.

Texts are sorted by length and cut into small batches of about equally many tokens, so that there is hardly any padding.
Each processor works on a batch of its own: measured, that is a sixth faster than all of them sharing one. The vectors
of a text's tokens are pooled as the model asks and scaled to length one; rows come back in the order of the texts.
"""

import json
from collections.abc import Callable, Iterator, Mapping, Sequence
from concurrent.futures import ThreadPoolExecutor
from functools import cached_property, partial
from pathlib import Path
from typing import Any, Literal, TypeAlias, TypeVar

import numpy as np
from numpy.typing import NDArray

from triplebeam.embed.embedder import Kind, Span
from triplebeam.embed.gpu import open_on_gpu
from triplebeam.embed.model_folder import ModelFolder, Pooling
from triplebeam.errors import ModelMissingError
from triplebeam.system.work import check_cancelled, processors

Precision: TypeAlias = Literal["fp32", "int8"]
#: Tokens per batch: few enough for what a layer computes to stay in a processor's cache.
TOKENS_PER_BATCH = 128
#: Enough to keep a GPU busy: four times as many took twice the memory and were no more than a tenth faster.
TOKENS_PER_BATCH_ON_GPU = 4096
#: One is computed while another is copied and pooled.
_BATCHES_ON_GPU = 2
#: Texts tokenised at a time: sorting a slice pads hardly more than sorting all, and memory stays bounded.
_SLICE_ROWS = 8192
#: Texts, tokens, dimensions.
_AXES_OF_TOKENS = 3
_FLOAT_BYTES = 4
T = TypeVar("T")


class OnnxEmbedder:
    """An embedding model read from a folder; ``name`` is what an index records. Safe to use from several threads."""

    def __init__(
        self,
        folder: ModelFolder | Path,
        *,
        name: str | None = None,
        threads: int | None = None,
        precision: Precision = "fp32",
        on_gpu: bool = False,
        pooling: Pooling | None = None,
    ) -> None:
        self._folder = folder = ModelFolder(folder) if isinstance(folder, Path) else folder
        self._name = name or str(folder.path)
        self._on_gpu = on_gpu
        self._threads = threads or (_BATCHES_ON_GPU if on_gpu else processors())
        self._session = open_session(folder, precision, on_gpu=on_gpu)
        self._tokenizer = open_tokenizer(folder)
        self._pooling = pooling or folder.pooling
        self._prompts = {"query": folder.prompt("query"), "passage": folder.prompt("document", "passage")}
        self._inputs = [each.name for each in self._session.get_inputs()]
        outputs = {output.name: output for output in self._session.get_outputs()}
        # Some exports pool inside the graph, under this name.
        self._output = outputs.get("sentence_embedding") or next(iter(outputs.values()))

    def __repr__(self) -> str:
        return f"OnnxEmbedder(name={self._name!r})"

    @property
    def name(self) -> str:
        """What a user would type to get this embedder again."""
        return self._name

    @cached_property
    def fingerprint(self) -> str:
        """SHA-256 of the weights."""
        return self._folder.fingerprint()

    @cached_property
    def dimension(self) -> int:
        """Length of a vector."""
        declared = self._output.shape[-1]
        return declared if isinstance(declared, int) else int(self._run([[0]]).shape[1])

    def embed(self, texts: Sequence[str], kind: Kind = "passage") -> NDArray[np.float32]:
        """Return one unit row per text, in order."""
        return self._rows(self._run, texts, kind)

    def encode(self, texts: Sequence[str], kind: Kind = "passage") -> NDArray[np.float32]:
        """Return one row per text as the model gives it, of whatever length."""
        return self._rows(self._run_to_length, texts, kind)

    def _rows(
        self, run: Callable[[Sequence[Sequence[int]]], NDArray[np.float32]], texts: Sequence[str], kind: Kind
    ) -> NDArray[np.float32]:
        vectors = np.empty((len(texts), self.dimension), dtype=np.float32)
        for start in range(0, len(texts), _SLICE_ROWS):
            chosen = [self._prompts[kind] + text for text in texts[start : start + _SLICE_ROWS]]
            # A tokenizer that adds no marks leaves nothing of an empty text: one padding token represents it.
            tokens = [encoding.ids or [0] for encoding in self._tokenizer.encode_batch_fast(chosen)]
            for rows, found in self._run_all(run, tokens):
                vectors[start + rows] = found
        return vectors

    @property
    def reads_tokens(self) -> bool:
        """Whether the model gives a vector per token; some exports pool inside the graph."""
        return len(self._output.shape) == _AXES_OF_TOKENS

    def embed_spans(
        self, texts: Sequence[str], spans: Sequence[Sequence[Sequence[Span]]]
    ) -> tuple[NDArray[np.float32], list[NDArray[np.float32]]]:
        """Return the rows of `embed`, and from the same inference a unit row for each group of spans of a text."""
        prompt = self._prompts["passage"]
        encodings = self._tokenizer.encode_batch([prompt + text for text in texts])
        vectors = np.empty((len(texts), self.dimension), dtype=np.float32)
        pooled: list[NDArray[np.float32]] = [vectors[:0]] * len(texts)
        for rows, (hidden, mask) in self._run_all(
            self._compute_hidden, [encoding.ids or [0] for encoding in encodings]
        ):
            vectors[rows] = unit_rows(_pool_tokens(hidden, mask, self._pooling))
            for row, of_tokens in zip(rows.tolist(), hidden, strict=True):
                chosen = _tokens_within(encodings[row].offsets, spans[row], len(prompt))
                pooled[row] = unit_rows(chosen @ of_tokens[: chosen.shape[1]])
        return vectors, pooled

    def _run_all(
        self, run: Callable[[Sequence[Sequence[int]]], T], tokens: Sequence[Sequence[int]]
    ) -> Iterator[tuple[NDArray[np.intp], T]]:
        """Yield what a run gives for each batch, with the rows of its texts."""
        most = TOKENS_PER_BATCH_ON_GPU if self._on_gpu else TOKENS_PER_BATCH
        chosen = list(batches([len(ids) for ids in tokens], most))
        inputs = ([tokens[row] for row in rows] for rows in chosen)
        check_cancelled()
        if len(chosen) == 1 or self._threads == 1:
            yield from _stop_if_cancelled(zip(chosen, map(run, inputs), strict=True))
            return
        with ThreadPoolExecutor(self._threads) as workers:
            try:
                yield from _stop_if_cancelled(zip(chosen, workers.map(run, inputs), strict=True))
            finally:
                workers.shutdown(wait=False, cancel_futures=True)

    def _run(self, tokens: Sequence[Sequence[int]]) -> NDArray[np.float32]:
        return unit_rows(_pool_tokens(*self._compute_hidden(tokens), self._pooling))

    def _run_to_length(self, tokens: Sequence[Sequence[int]]) -> NDArray[np.float32]:
        hidden, mask = self._compute_hidden(tokens)
        pooled = _pool_tokens(hidden, mask, self._pooling)
        summed = self._pooling == "mean" and self.reads_tokens
        return pooled / mask.sum(axis=1, keepdims=True).astype(np.float32) if summed else pooled

    def _compute_hidden(self, tokens: Sequence[Sequence[int]]) -> tuple[NDArray[np.float32], NDArray[np.int64]]:
        """Compute the vectors of the tokens, and which of them are not padding."""
        lengths = np.array([len(ids) for ids in tokens])
        mask = (np.arange(lengths.max()) < lengths[:, None]).astype(np.int64)
        input_ids = np.zeros_like(mask)
        input_ids[mask.astype(bool)] = np.concatenate([np.asarray(ids) for ids in tokens])
        offered = {"input_ids": input_ids, "attention_mask": mask, "token_type_ids": np.zeros_like(mask)}
        # ONNX Runtime refuses inputs that the graph does not declare.
        hidden = self._session.run([self._output.name], {name: offered[name] for name in self._inputs})[0]
        return hidden, mask


def _stop_if_cancelled(results: Iterator[T]) -> Iterator[T]:
    """Pass the results of batches on, and begin no other once the search that needs them is past its time limit."""
    for result in results:
        yield result
        check_cancelled()


def _tokens_within(offsets: Sequence[Span], groups: Sequence[Sequence[Span]], behind: int) -> NDArray[np.float32]:
    """Return a row per group: 1 for each token in its spans, all where none is; ``behind`` is the prompt's length."""
    starts, ends = np.array(offsets, np.int64).reshape(-1, 2).T - behind
    chosen = np.zeros((len(groups), len(starts)), np.float32)
    for row, group in zip(chosen, groups, strict=True):
        begin, stop = np.array(group, np.int64).reshape(-1, 2).T
        row[((starts[:, None] < stop) & (ends[:, None] > begin)).any(axis=1)] = 1
    chosen[~chosen.any(axis=1)] = 1  # words that do not occur, or that the model cut off
    return chosen


def _pool_tokens(hidden: NDArray[np.float32], mask: NDArray[np.int64], pooling: str) -> NDArray[np.float32]:
    if hidden.ndim == 2:
        return hidden
    if pooling == "cls":
        return hidden[:, 0]
    # The sum: its direction is the mean's, and only the direction is kept.
    sums: NDArray[np.float32] = np.matmul(mask[:, None, :].astype(np.float32), hidden)
    return sums[:, 0]


def unit_rows(vectors: NDArray[np.float32]) -> NDArray[np.float32]:
    """Scale rows to length one; a row of zeros stays zero."""
    lengths = np.linalg.norm(vectors, axis=1, keepdims=True)
    unit: NDArray[np.float32] = vectors / np.maximum(lengths, np.finfo(np.float32).tiny)
    return unit


def batches(lengths: Sequence[int], most: int = TOKENS_PER_BATCH) -> Iterator[NDArray[np.intp]]:
    """Yield rows of about equal length, longest first, with at most ``most`` tokens (or a single row)."""
    order = np.argsort(-np.asarray(lengths, dtype=np.int64), kind="stable")
    start = 0
    while start < len(order):
        rows = max(1, most // lengths[order[start]])
        yield order[start : start + rows]
        start += rows


def open_tokenizer(folder: ModelFolder) -> Any:
    """Open the folder's tokenizer, without padding and cut at the model's limit."""
    from tokenizers import Tokenizer

    tokenizer = Tokenizer.from_file(str(folder.path / "tokenizer.json"))
    # The file may ask for padding and a limit of its own; the limit the model was trained with is the folder's.
    tokenizer.no_padding()
    tokenizer.enable_truncation(folder.longest)
    return tokenizer


def open_session(folder: ModelFolder, precision: Precision = "fp32", *, on_gpu: bool = False) -> Any:
    """Open the folder's graph, to run on one thread per call; a graph the folder brings keeps its own precision."""
    if folder.weights_file.suffix != ".safetensors":
        return _open(str(folder.weights_file), folder, {}, on_gpu=on_gpu)
    return assemble_session(folder, load_tensors(folder.weights_file), precision, on_gpu=on_gpu)


def assemble_session(
    folder: ModelFolder,
    tensors: Mapping[str, NDArray[Any]],
    precision: Precision = "fp32",
    *,
    on_gpu: bool = False,
    first_token: bool = False,
) -> Any:
    """Assemble a graph for the folder's model with these tensors, which may be the folder's own or adapted ones.

    With ``first_token`` it computes the first token's vector alone.
    """
    from triplebeam.embed.bert_graph import assemble

    graph, weights = assemble(
        folder.config,
        tensors,
        folder.projection,
        int8=precision == "int8",
        first_token=first_token,
        cache=folder.path,
    )
    return _open(graph, folder, weights, on_gpu=on_gpu)


def _open(graph: str | bytes, folder: ModelFolder, weights: Mapping[str, NDArray[Any]], *, on_gpu: bool) -> Any:
    import onnxruntime
    from onnxruntime.capi import onnxruntime_pybind11_state as errors

    options = onnxruntime.SessionOptions()
    options.intra_op_num_threads = 1  # a batch stays on the thread that brings it
    options.log_severity_level = 3  # its warnings are about how the graph is stored, not about its results
    options.add_session_config_entry("session.model_external_initializers_file_folder_path", str(folder.path))
    values = [onnxruntime.OrtValue.ortvalue_from_numpy(array) for array in weights.values()]
    options.add_external_initializers(list(weights), values)
    run = partial(onnxruntime.InferenceSession, graph, options)
    try:
        return open_on_gpu(run) if on_gpu else run(providers=["CPUExecutionProvider"])
    except (errors.Fail, errors.InvalidGraph, errors.InvalidProtobuf, errors.NotImplemented) as error:
        raise ModelMissingError(
            f"{folder.weights_file} cannot be run ({error}): get the model's files again."
        ) from error


def load_tensors(file: Path) -> dict[str, NDArray[np.float32]]:
    """Map the weights by name, without reading them; those not published in single precision are read and converted."""
    from safetensors import safe_open

    with safe_open(file, framework="numpy") as tensors:  # refuses a damaged file
        with file.open("rb") as stream:
            size = int.from_bytes(stream.read(8), "little")
            header = json.loads(stream.read(size))
        return {name: _load_tensor(file, header[name], 8 + size, tensors, name) for name in tensors.keys()}  # noqa: SIM118


def _load_tensor(file: Path, entry: Mapping[str, Any], start: int, tensors: Any, name: str) -> NDArray[np.float32]:
    begin, end = entry["data_offsets"]
    if entry["dtype"] == "F32" and end > begin and (start + begin) % _FLOAT_BYTES == 0:
        return np.memmap(file, np.float32, "r", start + begin, tuple(entry["shape"]))
    import ml_dtypes  # noqa: F401 - NumPy learns bfloat16 from it; a dependency of onnx

    return np.asarray(tensors.get_tensor(name)).astype(np.float32)
