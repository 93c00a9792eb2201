"""A BERT, RoBERTa, XLM-RoBERTa or MPNet encoder assembled from its weights, as a graph that ONNX Runtime can run.

Sentence-embedding models are published as ``model.safetensors``, with the layers' shape in ``config.json``. The graph
assembled here is the encoder alone: token ids and an attention mask in, one vector per token out, through a projection
where the model has one. It uses the operators that ONNX Runtime fuses by hand (attention, bias + GELU, skip connection
+ layer normalisation), with the exact GELU the models were trained with. Weights stay outside the graph: it names the
bytes of ``model.safetensors``, which ONNX Runtime maps, and tensors that were computed are given to a session. So the
graph is small, and it is cached in a file, under a hash of its nodes: the library that serialises graphs takes longer
to import than the model takes to load.

With ``int8`` the linear layers multiply integers. Weights are rounded per output channel; inputs are rounded per token,
with a scale of their own, so that a text's vector does not depend on what else is in its batch. ONNX Runtime's dynamic
quantization has one scale per batch, and costs a cosine of 0.04 where this costs 0.002.
"""

import hashlib
import math
from collections.abc import Mapping, Sequence
from contextlib import suppress
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import DTypeLike, NDArray

from triplebeam.errors import BadInputError
from triplebeam.system.durable import replace_file

Weight = NDArray[Any]
_FUSED = "com.microsoft"
_OPERATOR_SETS = {"": 17, _FUSED: 1}
#: Seven bits: on processors without VNNI two products of eight bits could overflow the 16 bits they are added in.
_WEIGHT_STEPS = 63
_ZERO_POINT = 128
_MIN_STEP = 1e-12
_DIGEST_BYTES = 32
MPNET = "mpnet"
_BIAS = "encoder.relative_attention_bias.weight"
_MAX_DISTANCE = 128
#: MPNet has the same layers as BERT under other names, no segments, and a bias for how far apart two tokens are.
_MPNET_NAMES = {
    "attention.attn.q.": "attention.self.query.",
    "attention.attn.k.": "attention.self.key.",
    "attention.attn.v.": "attention.self.value.",
    "attention.attn.o.": "attention.output.dense.",
    "attention.LayerNorm.": "attention.output.LayerNorm.",
}
#: The multilingual one differs by its vocabulary alone.
_ROBERTA = ("roberta", "xlm-roberta")
_PREFIXES = ("bert.", "roberta.", "question_encoder.bert_model.", "ctx_encoder.bert_model.")


class AssembledGraph(NamedTuple):
    """A serialised ONNX model, and the tensors it names but does not hold."""

    model: bytes
    weights: dict[str, Weight]
    """Those that are not in a file of the folder."""


def assemble(
    config: Mapping[str, Any],
    tensors: Mapping[str, NDArray[Any]],
    projection: str | None = None,
    *,
    int8: bool = False,
    first_token: bool = False,
    cache: Path | None = None,
) -> AssembledGraph:
    """Assemble the encoder that ``config`` (BERT's ``config.json``) describes, with ``tensors`` by published names.

    ``projection`` names the weights of a last linear layer without a bias, such as ColBERT's ``linear``. With
    ``first_token`` the output is the first token's vector alone; the last layer then costs a sixth. ``cache`` is the
    folder for the serialised graph, which names tensors that are mapped from a file there by their place in it.
    """
    _check(config)
    tensors = rename_to_bert(tensors) if config.get("model_type") == MPNET else tensors
    drawing = _Drawing(tensors, heads=config["num_attention_heads"], epsilon=config["layer_norm_eps"], int8=int8)
    hidden = drawing.embeddings(first_position=position_offset(config))
    last = config["num_hidden_layers"] - 1
    for number in range(last + 1):
        hidden = drawing.layer(hidden, f"encoder.layer.{number}.", first_token=first_token and number == last)
    dimension = config["hidden_size"]
    if projection is not None:
        hidden, dimension = drawing.linear(hidden, projection), len(tensors[f"{projection}.weight"])
    folder = cache and cache.resolve()
    places = {name: place for name in drawing.weights if (place := drawing.place(name, folder))}
    graph = drawing.serialize(hidden, dimension, cache, places)
    return AssembledGraph(graph, {name: array for name, array in drawing.weights.items() if name not in places})


def position_offset(config: Mapping[str, Any]) -> int:
    """Return the position of a text's first token: RoBERTa's and MPNet's begin after the padding token's number."""
    return int(config["pad_token_id"]) + 1 if config.get("model_type") in (*_ROBERTA, MPNET) else 0


def _check(config: Mapping[str, Any]) -> None:
    expected = {
        "model_type": ("bert", "dpr", *_ROBERTA, MPNET),
        "hidden_act": ("gelu",),
        "position_embedding_type": ("absolute",),
    }
    for key, values in expected.items():
        if config.get(key, values[0]) not in values:
            raise BadInputError(
                f"A graph can be assembled for {key} {' or '.join(map(repr, values))} only, and this model's"
                f" config.json says {config[key]!r}: use a model that ships a model.onnx."
            )


class _Node(NamedTuple):
    """One operator of the graph."""

    operator: str
    inputs: tuple[str, ...]
    output: str
    domain: str
    attributes: dict[str, Any]


class _Place(NamedTuple):
    """Where a tensor is: a file of the model's folder, and the first of its bytes."""

    file: str
    offset: int


class _Drawing:
    """The nodes added so far, and the weights they name."""

    def __init__(self, tensors: Mapping[str, NDArray[Any]], *, heads: int, epsilon: float, int8: bool) -> None:
        # Some checkpoints prefix every name with the model's type, or its part of a pair.
        types = (kind for kind in _PREFIXES if f"{kind}embeddings.LayerNorm.weight" in tensors)
        prefix = next(types, "")
        self._tensors = {name.removeprefix(prefix): tensor for name, tensor in tensors.items()}
        self._heads, self._epsilon = heads, epsilon
        self._nodes: list[_Node] = []
        self.weights: dict[str, Weight] = {}
        self._int8 = int8
        self._rounded: dict[str, tuple[str, str, str]] = {}

    def embeddings(self, first_position: int) -> str:
        """Add words, positions and the first segment, normalised; a single text is all first segment."""
        words, table, segments = (
            self._tensor(f"embeddings.{name}_embeddings.weight") for name in ("word", "position", "token_type")
        )
        longest = len(self._tensors[table]) - first_position
        numbers = (self._node("Constant", [], value_ints=[number]) for number in (0, 1, first_position, 2**31))
        first, second, at, end = numbers
        segment = self._node("Slice", [segments, first, second])
        positions = self._node("Add", [self._node("Slice", [table, at, end]), segment])
        length = self._node("Shape", ["input_ids"], start=1, end=2)
        used = self._node("Slice", [positions, first, length, first])
        total = self._node("Add", [self._node("Gather", [words, "input_ids"]), used])
        self._mask = self._node("Cast", ["attention_mask"], to=6)  # 6 is int32, which the fused attention wants
        # MPNet's position bias, for as many tokens as the texts have; other models have none.
        self._nearness: list[str] = []
        if _BIAS in self._tensors:
            every = self._weight("position_bias", position_bias(self._tensors[_BIAS], longest))
            begin, axes = (self._node("Constant", [], value_ints=pair) for pair in ([0, 0], [2, 3]))
            ends = self._node("Concat", [length, length], axis=0)
            self._nearness = [self._node("Slice", [every, begin, ends, axes])]
        return self._node("LayerNormalization", [total, *self._norm("embeddings.")], axis=-1, epsilon=self._epsilon)

    def layer(self, hidden: str, at: str, *, first_token: bool = False) -> str:
        """Add one encoder layer: attention, then the two-step feed-forward network, each with its skip connection.

        With ``first_token`` it computes the vector of the first token alone, which attends to all.
        """
        asking = hidden
        if first_token:
            begin, end = (self._node("Constant", [], value_ints=[number]) for number in (0, 1))
            asking = self._node("Slice", [hidden, begin, end, end])
        attended = self._attention(asking, hidden, f"{at}attention.self.")
        attended = self._add_and_normalise(attended, asking, f"{at}attention.")
        wide = self.linear(attended, f"{at}intermediate.dense")
        active = self._node("BiasGelu", [wide, self._bias(f"{at}intermediate.dense")], domain=_FUSED)
        return self._add_and_normalise(active, attended, at)

    def place(self, name: str, folder: Path | None) -> _Place | None:
        """Return where a weight is, if it is mapped as it is from a file of the folder, which is resolved."""
        array = self.weights[name]
        if folder is None or not isinstance(array, np.memmap) or array is not self._tensors.get(name):
            return None
        file = Path(str(array.filename))
        return _Place(file.name, array.offset) if file.parent == folder else None

    def serialize(self, hidden: str, dimension: int, cache: Path | None, places: Mapping[str, _Place]) -> bytes:
        """Serialize the graph whose output is ``hidden``, or read it from the cache."""
        weights = [(name, array.dtype.str, array.shape, places.get(name)) for name, array in self.weights.items()]
        if cache is None:
            return _serialize(self._nodes, self.weights, hidden, dimension, places)
        said = repr((_OPERATOR_SETS, self._nodes, weights, hidden, dimension))
        file = cache / f"graph-{hashlib.sha256(said.encode()).hexdigest()[:16]}"
        with suppress(FileNotFoundError):
            digest, graph = (read := file.read_bytes())[:_DIGEST_BYTES], read[_DIGEST_BYTES:]
            if hashlib.sha256(graph).digest() == digest:
                return graph
        graph = _serialize(self._nodes, self.weights, hidden, dimension, places)
        with suppress(OSError):  # a folder that only allows reading, or a full disk
            replace_file(file, hashlib.sha256(graph).digest() + graph)
        return graph

    def _attention(self, asking: str, hidden: str, at: str) -> str:
        parts = {"query": asking, "key": hidden, "value": hidden}
        bias = self._node("Concat", [self._tensor(f"{at}{part}.bias") for part in parts], axis=0)
        linear = (self.linear(inputs, f"{at}{part}") for part, inputs in parts.items())
        inputs = [*linear, bias, self._mask, *self._nearness]
        return self._node("MultiHeadAttention", inputs, domain=_FUSED, num_heads=self._heads)

    def _add_and_normalise(self, inner: str, skipped: str, at: str) -> str:
        projected = self.linear(inner, f"{at}output.dense")
        inputs = [projected, skipped, *self._norm(f"{at}output."), self._bias(f"{at}output.dense")]
        return self._node("SkipLayerNormalization", inputs, domain=_FUSED, epsilon=self._epsilon)

    def linear(self, inputs: str, at: str) -> str:
        """Multiply by the layer's weights; its bias is added by the fused operator that follows."""
        if not self._int8:
            return self._node("FusedMatMul", [inputs, self._tensor(f"{at}.weight")], domain=_FUSED, transB=1)
        weight = self._tensors[f"{at}.weight"]
        scales = np.abs(weight).max(axis=1) / _WEIGHT_STEPS
        rounded = self._weight(f"{at}.weight", np.round(weight / np.maximum(scales, _MIN_STEP)[:, None]).T, np.int8)
        values, steps, shape = self._quantize_inputs(inputs, weight.shape[1])
        scaled = [self._weight("one", np.array(1.0)), self._weight(f"{at}.scales", scales), self._zero_point()]
        products = self._node("MatMulIntegerToFloat", [values, rounded, *scaled], domain=_FUSED)
        columns = self._node("Constant", [], value_ints=[len(weight)])
        return self._node(
            "Reshape", [self._node("Mul", [products, steps]), self._node("Concat", [shape, columns], axis=0)]
        )

    def _quantize_inputs(self, inputs: str, width: int) -> tuple[str, str, str]:
        """Quantize inputs: a row and a step per token, and how many texts and tokens; linear layers share them."""
        if inputs not in self._rounded:
            rows = self._node("Reshape", [inputs, self._node("Constant", [], value_ints=[-1, width])])
            largest = self._node("ReduceMax", [self._node("Abs", [rows])], axes=[-1], keepdims=1)
            step = self._node("Mul", [largest, self._weight("per_step", np.array([1 / 127]))])
            steps = self._node("Max", [step, self._weight("tiny", np.array([_MIN_STEP]))])
            scales = self._node("Reshape", [steps, self._node("Constant", [], value_ints=[-1])])
            zeros = self._node("Expand", [self._zero_point(), self._node("Shape", [scales])])
            values = self._node("QuantizeLinear", [rows, scales, zeros], axis=0)
            self._rounded[inputs] = values, steps, self._node("Shape", [inputs], start=0, end=2)
        return self._rounded[inputs]

    def _zero_point(self) -> str:
        return self._weight("zero_point", np.array(_ZERO_POINT), np.uint8)

    def _bias(self, at: str) -> str:
        return self._tensor(f"{at}.bias")

    def _norm(self, at: str) -> list[str]:
        return [self._tensor(f"{at}LayerNorm.weight"), self._tensor(f"{at}LayerNorm.bias")]

    def _tensor(self, name: str) -> str:
        """Name one of the model's tensors as it is: joining or transposing it would take time at every start."""
        return self._weight(name, self._tensors[name])

    def _weight(self, name: str, array: NDArray[Any], dtype: DTypeLike = np.float32) -> str:
        self.weights[name] = np.require(array, dtype, ["C", "A"])
        return name

    def _node(self, operator: str, inputs: list[str], domain: str = "", **attributes: Any) -> str:
        output = f"{operator}_{len(self._nodes)}"
        self._nodes.append(_Node(operator, tuple(inputs), output, domain, attributes))
        return output


def _serialize(
    nodes: Sequence[_Node],
    weights: Mapping[str, Weight],
    hidden: str,
    dimension: int,
    places: Mapping[str, _Place],
) -> bytes:
    """Serialize a graph that names its weights and does not hold them."""
    from onnx import TensorProto, helper

    declared = [helper.make_tensor_value_info(hidden, TensorProto.FLOAT, ["texts", "tokens", dimension])]
    inputs = [
        helper.make_tensor_value_info(name, TensorProto.INT64, ["texts", "tokens"])
        for name in ("input_ids", "attention_mask")
    ]
    made = [
        helper.make_node(node.operator, node.inputs, [node.output], domain=node.domain, **node.attributes)
        for node in nodes
    ]
    graph = helper.make_graph(made, "bert", inputs, declared)
    for name, array in weights.items():
        outside = graph.initializer.add(
            name=name,
            data_type=helper.np_dtype_to_tensor_dtype(array.dtype),
            dims=array.shape,
            data_location=TensorProto.EXTERNAL,
        )
        place = places.get(name)
        outside.external_data.add(key="location", value=place.file if place else "given-at-run-time")
        if place:
            outside.external_data.add(key="offset", value=str(place.offset))
            outside.external_data.add(key="length", value=str(array.nbytes))
    versions = [helper.make_opsetid(domain, version) for domain, version in _OPERATOR_SETS.items()]
    model = helper.make_model(graph, opset_imports=versions, ir_version=8)
    serialized: bytes = model.SerializeToString()
    return serialized


def rename_to_bert(tensors: Mapping[str, NDArray[Any]]) -> dict[str, NDArray[Any]]:
    """Rename MPNet's weights to BERT's names, with a segment of zeros."""
    named = {}
    for name, tensor in tensors.items():
        for theirs, berts in _MPNET_NAMES.items():
            name = name.replace(theirs, berts)
        named[name.removeprefix(f"{MPNET}.")] = tensor
    width = named["embeddings.word_embeddings.weight"].shape[1]
    return {**named, "embeddings.token_type_embeddings.weight": np.zeros((1, width), np.float32)}


def position_bias(table: NDArray[Any], length: int) -> NDArray[Any]:
    """Return what MPNet adds to the attention of each pair of a text's tokens: texts (one), heads, from, to.

    It is one number per head and bucket of distances, shared by all layers (T5's scheme): half of the buckets are for
    tokens to the left, half for those to the right; of each the first eight are single distances, others ever wider.
    """
    steps_right = np.arange(length)[None, :] - np.arange(length)[:, None]
    of_each_side = len(table) // 2
    single, distance = of_each_side // 2, np.abs(steps_right)
    wider = np.log(np.maximum(distance, single) / single) / math.log(_MAX_DISTANCE / single) * (of_each_side - single)
    wide = np.minimum(single + wider.astype(np.int64), of_each_side - 1)
    buckets = np.where(steps_right > 0, of_each_side, 0) + np.where(distance < single, distance, wide)
    bias: NDArray[Any] = np.moveaxis(table[buckets], -1, 0)[None]
    return bias
