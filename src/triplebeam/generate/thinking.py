"""Thoughts that a "thinking" model writes into its reply, told apart from what it says."""

from collections.abc import Sequence

from triplebeam.generate.language_model import TokenLogProbability

_OPEN, _CLOSE = "<think>", "</think>"


def without_thoughts(text: str) -> tuple[str, bool]:
    """What a reply says, and whether thoughts stood before it.

    Some chat templates open the thoughts themselves, so that only their end is seen. Thoughts that do not end were cut
    off at the limit of tokens: nothing is said then.
    """
    _, close, said = text.rpartition(_CLOSE)
    if close:
        return said.lstrip(), True
    if text.lstrip().startswith(_OPEN):
        return "", True
    return text, False


def tokens_without_thoughts(tokens: Sequence[TokenLogProbability]) -> tuple[TokenLogProbability, ...]:
    """The tokens after the thoughts: how sure a model was of its reply, not of its musings."""
    text = "".join(token.token for token in tokens)
    start = text.rfind(_CLOSE) + len(_CLOSE) if _CLOSE in text else 0
    kept, position = [], 0
    for token in tokens:
        if position >= start:
            kept.append(token)
        position += len(token.token)
    return tuple(kept)
