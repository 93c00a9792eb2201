"""From names to objects: the one place that knows every method, extractor, embedder and model by its name."""

from triplebeam.assemble.index import (
    DEFAULT_AGENT,
    DEFAULT_METHOD,
    Index,
    check_question,
    check_text,
    create_index,
    open_index,
)
from triplebeam.assemble.method import Method
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
    "Index",
    "Method",
    "check_question",
    "check_text",
    "create_index",
    "make_embedder",
    "make_extractor",
    "make_model",
    "open_index",
]
