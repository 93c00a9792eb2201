"""How prompts show passages and facts to a model."""

from collections.abc import Sequence

from triplebeam.passage import Passage
from triplebeam.triple import Triple


def numbered_passages(passages: Sequence[Passage]) -> str:
    """Each passage under its number and title."""
    texts = [f"{passage.title}\n{passage.text}" if passage.title else passage.text for passage in passages]
    return "\n\n".join(f"[{number}] {text}" for number, text in enumerate(texts, 1)) or "(none)"


def numbered_facts(facts: Sequence[Triple]) -> str:
    """One fact per line, under its number."""
    return "\n".join(f"{number}. {fact}" for number, fact in enumerate(facts, 1)) or "(none)"
