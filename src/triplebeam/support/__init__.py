"""Does a passage say a fact? Words name its entities, a small model reads the relation: see ``docs/evidence.md``."""

from triplebeam.support.entailment import prepare
from triplebeam.support.find import fault_of, find_support, quoted, support_among

__all__ = ["fault_of", "find_support", "prepare", "quoted", "support_among"]
