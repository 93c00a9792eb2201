"""The part of a tokenizer that a few short texts need.

A byte-level BPE such as RoBERTa's splits a text into words and merges neighbouring characters of a word, the most
frequent pair first. A token that does not occur in a word is never made there, so the tokens and merges that occur give
the ids of the whole vocabulary. Building a tokenizer of 50,000 tokens takes longer than searching a small index.
"""

import json
from collections.abc import Mapping, Sequence
from itertools import combinations
from typing import Any

from pydantic_core import from_json

#: Characters of all texts, and of a word, which has about half the square of that many parts.
_MAX_CHARACTERS = 1000
_MAX_WORD_CHARACTERS = 64
#: What a model must not have: it would change what is merged, or look up what does not occur in the text.
_EXCLUDED = ("dropout", "continuing_subword_prefix", "end_of_word_suffix", "byte_fallback")


def prune_vocabulary(file: bytes, texts: Sequence[str]) -> str | None:
    """Return a ``tokenizer.json`` with the tokens and merges that occur in these texts.

    Return None if it is no byte-level BPE as it is usually published, or if the texts are long or hold special tokens.
    """
    if not 0 < sum(map(len, texts)) <= _MAX_CHARACTERS or b'"BPE"' not in file:
        return None
    tokenizer = from_json(file, cache_strings="none")
    model, split = tokenizer["model"], tokenizer.get("pre_tokenizer") or {}
    special = [each["content"] for each in tokenizer.get("added_tokens", [])]
    if (
        (model.get("type"), split.get("type")) != ("BPE", "ByteLevel")
        or tokenizer.get("normalizer")
        or split.get("add_prefix_space", True)
        or any(model.get(name) for name in _EXCLUDED)
        or not all(token in model["vocab"] for token in special)
        or any(token in text for token in special for text in texts)
    ):
        return None
    words = _split_words(texts, use_regex=split.get("use_regex", True))
    if max(map(len, words)) > _MAX_WORD_CHARACTERS:
        return None
    parts = {word[start:end] for word in words for start, end in combinations(range(len(word) + 1), 2)}
    return json.dumps({**tokenizer, "model": {**model, **_select(model["vocab"], model["merges"], parts, special)}})


def _select(
    numbers: Mapping[str, int], merges: Sequence[Any], parts: set[str], special: Sequence[str]
) -> dict[str, object]:
    """Select the tokens that are parts of words, and the merges that make them, in their order."""
    vocabulary = {token: numbers[token] for token in [*special, *sorted(numbers.keys() & parts)]}
    written = merges if isinstance(merges[0], str) else map(" ".join, merges)
    pairs = {f"{token[:end]} {token[end:]}" for token in vocabulary for end in range(1, len(token))}
    return {"vocab": vocabulary, "merges": [merge for merge in written if merge in pairs]}


def _split_words(texts: Sequence[str], *, use_regex: bool) -> set[str]:
    """Split texts into the words that are tokenised by themselves, each byte as one character."""
    # Not from tokenizers.pre_tokenizers: threads that first import a package and a part of it may wait for each other.
    from tokenizers import pre_tokenizers

    splitter = pre_tokenizers.ByteLevel(add_prefix_space=False, use_regex=use_regex)
    return {word for text in texts for word, _ in splitter.pre_tokenize_str(text)}
