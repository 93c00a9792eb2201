"""A BERT encoder assembled from its weights, as a graph ONNX Runtime can run: no torch, at run time or at install time.

Sentence-embedding models are published as ``model.safetensors`` with the layers' shape in ``config.json``. The graph
built here is the encoder alone: token ids and an attention mask in, one vector per token out, through a projection
where the model has one. It uses the operators that ONNX Runtime fuses by hand (attention, bias + GELU, skip connection
+ layer normalisation), with the exact GELU the models were trained with. Weights stay outside the graph, so that
nothing is copied through protobuf.
"""

from collections.abc import Mapping
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from triplebeam.errors import BadInputError

Weight = NDArray[np.float32]
_FUSED = "com.microsoft"


class AssembledGraph(NamedTuple):
    """A serialised ONNX model, and the tensors it names but does not hold."""

    model: bytes
    weights: dict[str, Weight]


def assemble(
    config: Mapping[str, Any], tensors: Mapping[str, NDArray[Any]], projection: str | None = None
) -> AssembledGraph:
    """The encoder that ``config`` (a BERT ``config.json``) describes, with ``tensors`` by their published names.

    ``projection`` names the weights of a last linear layer without a bias, such as ColBERT's ``linear``.
    """
    _check(config)
    drawing = _Drawing(tensors, heads=config["num_attention_heads"], epsilon=config["layer_norm_eps"])
    hidden = drawing.embeddings()
    for number in range(config["num_hidden_layers"]):
        hidden = drawing.layer(hidden, f"encoder.layer.{number}.")
    if projection is None:
        return drawing.finished(hidden, dimension=config["hidden_size"])
    return drawing.finished(drawing.projected(hidden, projection), dimension=len(tensors[f"{projection}.weight"]))


def _check(config: Mapping[str, Any]) -> None:
    expected = {"model_type": "bert", "hidden_act": "gelu", "position_embedding_type": "absolute"}
    for key, value in expected.items():
        if config.get(key, value) != value:
            raise BadInputError(
                f"A graph can be assembled for {key} {value!r} only, and this model's config.json says "
                f"{config[key]!r}: use a model that ships a model.onnx."
            )


class _Drawing:
    """The nodes added so far, and the weights they name."""

    def __init__(self, tensors: Mapping[str, NDArray[Any]], *, heads: int, epsilon: float) -> None:
        # Some checkpoints prefix every name with the model's type.
        prefix = "bert." if "bert.embeddings.LayerNorm.weight" in tensors else ""
        self._tensors = {name.removeprefix(prefix): tensor for name, tensor in tensors.items()}
        self._heads, self._epsilon = heads, epsilon
        self._nodes: list[Any] = []
        self._weights: dict[str, Weight] = {}

    def embeddings(self) -> str:
        """Words plus positions plus the first segment, normalised; a lone text is all first segment."""
        words = self._weight("words", self._tensors["embeddings.word_embeddings.weight"])
        segment = self._tensors["embeddings.token_type_embeddings.weight"][0]
        positions = self._weight("positions", self._tensors["embeddings.position_embeddings.weight"] + segment)
        length = self._node("Shape", ["input_ids"], start=1, end=2)
        begin = self._node("Constant", [], value_ints=[0])
        used = self._node("Slice", [positions, begin, length, begin])
        total = self._node("Add", [self._node("Gather", [words, "input_ids"]), used])
        self._mask = self._node("Cast", ["attention_mask"], to=6)  # 6 is int32, which the fused attention wants
        return self._node("LayerNormalization", [total, *self._norm("embeddings.")], axis=-1, epsilon=self._epsilon)

    def layer(self, hidden: str, at: str) -> str:
        """One encoder layer: attention, then the two-step feed-forward network, each with its skip connection."""
        attended = self._add_and_normalise(self._attention(hidden, f"{at}attention.self."), hidden, f"{at}attention.")
        wide = self._node("MatMul", [attended, self._dense(f"{at}intermediate.dense")])
        active = self._node("BiasGelu", [wide, self._bias(f"{at}intermediate.dense")], domain=_FUSED)
        return self._add_and_normalise(active, attended, at)

    def projected(self, hidden: str, at: str) -> str:
        """A linear layer without a bias."""
        return self._node("MatMul", [hidden, self._dense(at)])

    def finished(self, hidden: str, *, dimension: int) -> AssembledGraph:
        from onnx import TensorProto, helper

        declared = [helper.make_tensor_value_info(hidden, TensorProto.FLOAT, ["texts", "tokens", dimension])]
        inputs = [
            helper.make_tensor_value_info(name, TensorProto.INT64, ["texts", "tokens"])
            for name in ("input_ids", "attention_mask")
        ]
        graph = helper.make_graph(self._nodes, "bert", inputs, declared)
        for name, array in self._weights.items():
            outside = graph.initializer.add(
                name=name, data_type=TensorProto.FLOAT, dims=array.shape, data_location=TensorProto.EXTERNAL
            )
            outside.external_data.add(key="location", value="given-at-run-time")
        versions = [helper.make_opsetid("", 17), helper.make_opsetid(_FUSED, 1)]
        model = helper.make_model(graph, opset_imports=versions, ir_version=8)
        return AssembledGraph(model.SerializeToString(), self._weights)

    def _attention(self, hidden: str, at: str) -> str:
        parts = ("query", "key", "value")
        joined = np.concatenate([self._tensors[f"{at}{part}.weight"] for part in parts])
        weight = self._weight(f"{at}weight", joined.T)
        bias = self._weight(f"{at}bias", np.concatenate([self._tensors[f"{at}{part}.bias"] for part in parts]))
        return self._node("Attention", [hidden, weight, bias, self._mask], domain=_FUSED, num_heads=self._heads)

    def _add_and_normalise(self, inner: str, skipped: str, at: str) -> str:
        projected = self._node("MatMul", [inner, self._dense(f"{at}output.dense")])
        inputs = [projected, skipped, *self._norm(f"{at}output."), self._bias(f"{at}output.dense")]
        return self._node("SkipLayerNormalization", inputs, domain=_FUSED, epsilon=self._epsilon)

    def _dense(self, at: str) -> str:
        return self._weight(f"{at}.weight", self._tensors[f"{at}.weight"].T)

    def _bias(self, at: str) -> str:
        return self._weight(f"{at}.bias", self._tensors[f"{at}.bias"])

    def _norm(self, at: str) -> list[str]:
        names = (f"{at}LayerNorm.weight", f"{at}LayerNorm.bias")
        return [self._weight(name, self._tensors[name]) for name in names]

    def _weight(self, name: str, array: NDArray[Any]) -> str:
        self._weights[name] = np.ascontiguousarray(array, dtype=np.float32)
        return name

    def _node(self, operator: str, inputs: list[str], domain: str = "", **attributes: Any) -> str:
        from onnx import helper

        output = f"{operator}_{len(self._nodes)}"
        self._nodes.append(helper.make_node(operator, inputs, [output], domain=domain, **attributes))
        return output
