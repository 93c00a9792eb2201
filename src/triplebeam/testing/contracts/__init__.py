"""What every implementation of a protocol must keep, as classes of tests.

Subclass one in a test module, give the fixtures its docstring names, and pytest runs the rest.
"""

from triplebeam.testing.contracts.agents import AgentContract
from triplebeam.testing.contracts.models import EmbedderContract, ExtractorContract, LanguageModelContract
from triplebeam.testing.contracts.search import ChainScorerContract, RetrieverContract, TripleStoreContract
from triplebeam.testing.contracts.source import SourceContract

__all__ = [
    "AgentContract",
    "ChainScorerContract",
    "EmbedderContract",
    "ExtractorContract",
    "LanguageModelContract",
    "RetrieverContract",
    "SourceContract",
    "TripleStoreContract",
]
