"""Model weights: downloaded once, checked to the byte, kept in a folder."""

from triplebeam.weights.install import CHECKSUMS, ensure, ensure_from_hub
from triplebeam.weights.pinned import ENGLISH_PARSER, GRANITE, MINILM, Weights, WeightsFile

__all__ = ["CHECKSUMS", "ENGLISH_PARSER", "GRANITE", "MINILM", "Weights", "WeightsFile", "ensure", "ensure_from_hub"]
