"""Does a passage say a fact? Rules over words, without a model: see ``docs/evidence.md``."""

from triplebeam.support.find import fault_of, find_support, quoted, support_among

__all__ = ["fault_of", "find_support", "quoted", "support_among"]
