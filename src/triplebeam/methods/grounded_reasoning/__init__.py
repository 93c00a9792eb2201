"""Our own form of GE-Reasoning (`methods.ge_reasoning`): every sub-answer is read from documents, in one call."""

from triplebeam.methods.grounded_reasoning.agent import GroundedReasoning

__all__ = ["GroundedReasoning"]
