"""From names to objects: the one place that knows every method, extractor, embedder and model by its name."""

from triplebeam.assemble.collection import DEFAULT_AGENT, DEFAULT_METHOD, Collection, check_question, open_collection
from triplebeam.assemble.models import (
    DEFAULT_EMBEDDER,
    EXTRACTORS,
    HOW_TO_CONFIGURE,
    make_embedder,
    make_extractor,
    make_model,
)

__all__ = [
    "DEFAULT_AGENT",
    "DEFAULT_EMBEDDER",
    "DEFAULT_METHOD",
    "EXTRACTORS",
    "HOW_TO_CONFIGURE",
    "Collection",
    "check_question",
    "make_embedder",
    "make_extractor",
    "make_model",
    "open_collection",
]
