"""A model that stands in for one that costs money, to count what an experiment would ask of it.

Its replies have the form that each prompt demands and say nothing. An ``eager`` one affirms and repeats itself, so that
an agent stops as soon as it may; the other denies and never says the same twice, so that it takes all its steps. What a
real model needs lies between the two.
"""

import itertools
import json
import re
from collections.abc import Mapping, Sequence
from typing import Any

from triplebeam.generate.language_model import Completion, Prompt, Usage, estimate_tokens

#: About what a reply has on average; the replies here are shorter than a model's.
_TOKENS_OUT = 100
#: A question of two hops, for GE-Reasoning: no text at random is a question graph.
_GRAPH = {"triplets": [["A", "maker", "#1"], ["#1", "birthplace", "#2"]], "target": ["#2"]}
_QUESTION = re.compile(r"Question: (.*)")
_CONCLUSION = "So the answer is: X."


class StandIn:
    """A language model without one."""

    name = "stand-in"

    def __init__(self, *, eager: bool) -> None:
        self._eager = eager
        self._numbers = itertools.count(1)

    def complete(self, prompts: Sequence[Prompt]) -> list[Completion]:
        """Return one reply per prompt, counted as if it had been paid for."""
        return [self._completion(prompt) for prompt in prompts]

    def _completion(self, prompt: Prompt) -> Completion:
        usage = Usage(calls=1, tokens_in=prompt.estimated_tokens, tokens_out=_TOKENS_OUT, estimated=True)
        if prompt.schema is None:
            return Completion(text=self._text(prompt), usage=usage)
        graph = prompt.template.startswith("ge_reasoning/question_graph")
        reply = _GRAPH if graph else self._fill_schema(prompt.schema, prompt)
        return Completion(text=json.dumps(reply), usage=usage)

    def _text(self, prompt: Prompt) -> str:
        """Return a conclusion; or something to search for that finds passages and was not said before."""
        asked = _QUESTION.search(prompt.user)
        return _CONCLUSION if self._eager else f"Part {next(self._numbers)} of {asked[1] if asked else 'it'}"

    def _fill_schema(self, schema: Any, prompt: Prompt) -> object:
        """Return a value as a JSON schema demands it."""
        if "$ref" in schema:
            definitions: Any = (prompt.schema or {})["$defs"]
            return self._fill_schema(definitions[schema["$ref"].rpartition("/")[2]], prompt)
        if "anyOf" in schema:
            return self._fill_schema(schema["anyOf"][0], prompt)
        match schema.get("type"):
            case "object":
                return {name: self._fill_schema(each, prompt) for name, each in schema["properties"].items()}
            case "array":
                return self._list(schema.get("items") or {"type": "string"}, prompt)
            case "boolean":
                return self._eager
            case "integer" | "number":
                return 1
            case _:
                return self._text(prompt)

    def _list(self, items: Mapping[str, Any], prompt: Prompt) -> list[object]:
        """Return all numbers there may be, three texts, which may be a triple, or one of anything else."""
        if items.get("type") == "integer":
            return list(range(1, 50))
        return [self._fill_schema(items, prompt) for _ in range(3 if items.get("type") == "string" else 1)]


def estimate_judging(questions: int) -> Usage:
    """Estimate the usage of judging so many answers: the prompt is as long as its instructions, nearly."""
    return Usage(calls=questions, tokens_in=questions * _JUDGE_TOKENS, tokens_out=questions * 10, estimated=True)


_JUDGE_TOKENS = estimate_tokens(" " * 1800)
