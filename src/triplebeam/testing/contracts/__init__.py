"""What every implementation of a protocol must keep, as classes of tests.

Subclass one in a test module, give the fixtures its docstring names, and pytest runs the rest.
"""

from triplebeam.testing.contracts.embedder import EmbedderContract
from triplebeam.testing.contracts.extractor import ExtractorContract
from triplebeam.testing.contracts.language_model import LanguageModelContract
from triplebeam.testing.contracts.retriever import RetrieverContract
from triplebeam.testing.contracts.scorer import ChainScorerContract
from triplebeam.testing.contracts.triple_store import TripleStoreContract

__all__ = [
    "ChainScorerContract",
    "EmbedderContract",
    "ExtractorContract",
    "LanguageModelContract",
    "RetrieverContract",
    "TripleStoreContract",
]
