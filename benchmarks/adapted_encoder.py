"""The embedder with an adapter (LoRA) beside its linear layers, for the trainers beside this file. It needs PyTorch."""

import math
from collections.abc import Mapping

import torch
from torch import Tensor
from torch.nn import functional

LAYERS, HEADS, PADDING = 6, 12, 1
PARTS = ("attention.self.query", "attention.self.key", "attention.self.value", "attention.output.dense")
DROPOUT = 0.1


def linear_layers(layers: int = LAYERS) -> list[str]:
    """List the names of the linear layers of the first encoder layers."""
    parts = (*PARTS, "intermediate.dense", "output.dense")
    return [f"encoder.layer.{number}.{part}" for number in range(layers) for part in parts]


class Adapted(torch.nn.Module):
    """The encoder with thin matrices beside each linear layer, new biases, and a last vector."""

    def __init__(
        self,
        base: dict[str, Tensor],
        rank: int,
        layers: int = LAYERS,
        *,
        start: Mapping[str, Tensor] | None = None,
        head_bias: float = 0.0,
    ) -> None:
        super().__init__()
        self.base, self.layers = base, layers
        new = {"head.weight": torch.zeros(1, len(base["embeddings.LayerNorm.bias"]))}
        new["head.bias"] = torch.full((1,), head_bias)
        for name in linear_layers(layers):
            rows, columns = base[f"{name}.weight"].shape
            new[f"{name}.weight.A"] = torch.randn(rank, columns) / math.sqrt(columns)
            new[f"{name}.weight.B"] = torch.zeros(rows, rank)
            new[f"{name}.bias"] = base[f"{name}.bias"].clone().cpu()
        for name, tensor in (start or {}).items():  # of a lower rank, if need be
            new[name][tuple(map(slice, tensor.shape))] = tensor.float()
        # A module's parameters have no dots in their names.
        self.adapter = torch.nn.ParameterDict({k.replace(".", "/"): torch.nn.Parameter(t) for k, t in new.items()})

    def tensor(self, name: str) -> Tensor:
        return self.adapter[name.replace(".", "/")]

    def tensors(self) -> dict[str, Tensor]:
        return {name.replace("/", "."): tensor.detach() for name, tensor in self.adapter.items()}

    def merge(self) -> dict[str, Tensor]:
        """Return the encoder's tensors with the adapter's in them."""
        merged = dict(self.base)
        with torch.autocast(self.tensor("head.bias").device.type, enabled=False):
            for name in linear_layers(self.layers):
                product = self.tensor(f"{name}.weight.B") @ self.tensor(f"{name}.weight.A")
                merged[f"{name}.weight"] = self.base[f"{name}.weight"] + product
                merged[f"{name}.bias"] = self.tensor(f"{name}.bias")
        return merged

    def score(self, hidden: Tensor) -> Tensor:
        """Return one number per text, from its first token."""
        return functional.linear(hidden[:, 0].float(), self.tensor("head.weight"), self.tensor("head.bias"))[:, 0]

    def forward(self, ids: Tensor, mask: Tensor) -> Tensor:
        dropout = DROPOUT if self.training else 0.0
        return self.score(encode(self.merge(), ids, mask, dropout=dropout, layers=self.layers))


def encode(tensors: dict[str, Tensor], ids: Tensor, mask: Tensor, dropout: float = 0.0, layers: int = LAYERS) -> Tensor:
    texts, length = ids.shape
    tables = {part: tensors[f"embeddings.{part}_embeddings.weight"] for part in ("word", "position", "token_type")}
    hidden = functional.embedding(ids, tables["word"]) + tables["position"][2 : 2 + length] + tables["token_type"][0]

    def normal(inputs: Tensor, at: str) -> Tensor:
        weight, bias = tensors[f"{at}LayerNorm.weight"], tensors[f"{at}LayerNorm.bias"]
        return functional.layer_norm(inputs, bias.shape, weight, bias, 1e-12)

    def linear(inputs: Tensor, at: str) -> Tensor:
        return functional.linear(inputs, tensors[f"{at}.weight"], tensors[f"{at}.bias"])

    hidden = normal(hidden, "embeddings.")
    attended = mask[:, None, None, :]
    for number in range(layers):
        at = f"encoder.layer.{number}."
        split = [linear(hidden, at + part).view(texts, length, HEADS, -1).transpose(1, 2) for part in PARTS[:3]]
        mixed = (
            functional.scaled_dot_product_attention(*split, attn_mask=attended).transpose(1, 2).reshape(hidden.shape)
        )
        mixed = functional.dropout(linear(mixed, at + PARTS[3]), dropout, dropout > 0)
        hidden = normal(hidden + mixed, f"{at}attention.output.")
        wide = linear(functional.gelu(linear(hidden, f"{at}intermediate.dense")), f"{at}output.dense")
        hidden = normal(hidden + functional.dropout(wide, dropout, dropout > 0), f"{at}output.")
    return hidden
