"""Replies of a model as JSON, for lines of thought."""

from collections.abc import Mapping
from typing import Any

from scripted_loops import reply
from triplebeam.generate.language_model import Completion


def completion(fields: Mapping[str, Any]) -> Completion:
    return reply(**fields)


def path(answer: str | None, reasoning: str = "It is known.") -> Completion:
    return completion({"reasoning": reasoning, "answer": answer})
