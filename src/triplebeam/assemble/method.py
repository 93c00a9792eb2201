"""Reading a method's name.

A retriever is a base, then ``+`` what expands it: ``hybrid+naive_ge``. ``@triples`` behind a base searches the triples
instead of the passages. An agent stands in front, with ``:``: ``gear:hybrid``. Parameters stand in brackets behind what
they belong to: ``hybrid+naive_ge[scorer=exact,diversity=inf]``, ``gear[max_steps=2]:hybrid``.
"""

import re
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from typing import Any, TypeAlias

from triplebeam.errors import BadInputError
from triplebeam.names import nearest

#: The parameters a part takes in brackets, each with what reads its value.
Parameters: TypeAlias = Mapping[str, Callable[[str], object]]


def _yes_or_no(text: str) -> bool:
    if text not in ("yes", "no"):
        raise ValueError(text)
    return text == "yes"


_WALK: Parameters = {"base_k": int, "width": int, "length": int, "neighbours": int, "diversity": float}
_EXPANSION: Parameters = {**_WALK, "scorer": str, "shortlist": int}
_GNN_RET: Parameters = {
    "relevant": int,
    "layers": int,
    "alpha": float,
    "message": str,
    "edges": str,
    "weights": str,
    "chains": _yes_or_no,
    "beta": float,
}
BASES: Mapping[str, Parameters] = {
    "bm25": {},
    "dense": {},
    "hybrid": {"depth": int, "constant": float},
    "scaled_hybrid": {"title_bonus": float},
    "gnn_ret": _GNN_RET,
    "late_interaction": {"nprobe": int, "candidates": int},
    "hipporag": {"entities": str, "damping": float, "node_specificity": _yes_or_no, "synonym_threshold": float},
    "hipporag2": {
        "filter": str,
        "base": str,
        "base_k": int,
        "seed_triples": int,
        "seed_entities": int,
        "passage_weight": float,
        "damping": float,
        "synonym_threshold": float,
    },
    "title_link": {"followed": int, "base_weight": float},
    "blend": {"without": str, "depth": int, "constant": float},
    "gold": {},
}
EXPANSIONS: Mapping[str, Parameters] = {"naive_ge": _EXPANSION, "sync_ge": _EXPANSION, "gnn_ret": _GNN_RET}
#: Bases that walk a graph themselves.
GRAPH_BASES = ("hipporag", "hipporag2", "gnn_ret", "title_link", "blend")
_LOOP: Parameters = {"max_steps": int, "retrieved": int, "answered_from": int, "stop_when_stuck": _yes_or_no}
_PATHS: Parameters = {"retrieved": int, "paths": int, "temperature": float}
AGENTS: Mapping[str, Parameters] = {
    "gear": {**_LOOP, "read": int, "linked": int},
    "single_step": {"retrieved": int, "answered_from": int},
    "auto": {"max_steps": int},
    "ircot": {**_LOOP, "collected": int},
    "read": {"retrieved": int, "answered_from": int, "tokens": int, "question_first": _yes_or_no},
    "closed_book": {},
    "rgnn_ret": {**_LOOP, "tokens": int, "question_first": _yes_or_no},
    "self_ask": {**_LOOP, "own_answer": _yes_or_no, "retrieval": _yes_or_no},
    "iter_retgen": {**_LOOP, "read": int, "own_answer": _yes_or_no},
    "kgp": {"max_steps": int, "seeds": int, "branches": int, "collected": int, "answered_from": int},
    "chain_of_thought": {"retrieved": int},
    "zero_plus_few_shot": {"retrieved": int},
    "self_consistency": _PATHS,
    "verify_and_edit": _PATHS,
    "flare": {
        "retrieved": int,
        "threshold": float,
        "mask": float,
        "look_ahead_reads": _yes_or_no,
        "max_sentences": int,
        "answered_from": int,
    },
    "ge_reasoning": {
        "retrieval": _yes_or_no,
        "retrieve_by": str,
        "always_retrieve": _yes_or_no,
        "stored": _yes_or_no,
        "graph_guidance": _yes_or_no,
        "typed": _yes_or_no,
        "refining": _yes_or_no,
        "triplet_filtering": _yes_or_no,
        "filtering": _yes_or_no,
        "max_rounds": int,
        "read": int,
        "retrieved": int,
        "answered_from": int,
        "k1": float,
        "k2": float,
        "agreement_k1": float,
        "agreement_k2": float,
        "samples": int,
    },
    "era_cot": {"retrieved": int, "inferred": int, "threshold": float, "samples": int, "temperature": float},
}

_PART = re.compile(r"(?P<name>[^@\[\]]+)(@(?P<over>[^\[\]]+))?(\[(?P<parameters>[^\[\]]*)\])?")


@dataclass(frozen=True)
class Part:
    """One part of a method's name, read but not yet believed."""

    name: str
    over: str
    parameters: Mapping[str, str]
    method: str

    def values(self, known: Mapping[str, Parameters], role: str) -> dict[str, Any]:
        """The parameters as values, once the name and they are known to be right."""
        if self.name not in known:
            raise BadInputError(
                f"there is no {role} {self.name!r} in the method {self.method!r}{nearest(self.name, known)};"
                f" known are {', '.join(known)}."
            )
        allowed = known[self.name]
        return {name: self._value(name, text, allowed) for name, text in self.parameters.items()}

    def _value(self, name: str, text: str, allowed: Parameters) -> object:
        if name not in allowed:
            takes = f"it takes {', '.join(allowed)}" if allowed else "it takes none"
            raise BadInputError(f"{self.name} has no parameter {name!r}{nearest(name, allowed)}; {takes}.")
        try:
            value = allowed[name](text)
        except ValueError:
            wanted = "yes or no" if allowed[name] is _yes_or_no else "a number"
            raise BadInputError(f"{name}={text} in {self.method!r} is not {wanted}.") from None
        if isinstance(value, int | float) and not isinstance(value, bool) and not value > 0:
            raise BadInputError(f"{name}={text} in {self.method!r} must be above 0.")
        return value


def split_agent(method: str) -> tuple[Part | None, str]:
    """The agent in front, if one is named, and the retriever's name, which may be empty behind an agent."""
    head, colon, rest = method.partition(":")
    if colon:
        return parse(head, method), rest
    return (parse(method, method), "") if re.split(r"[\[+@]", method.strip())[0] in AGENTS else (None, method)


def check_method(method: str) -> None:
    """Is every part of the name known, with its parameters? Whether an index has what it needs is another matter."""
    agent, below = split_agent(method)
    if agent:
        agent.values(AGENTS, "agent")
    if below:
        base, *expansions = retriever_parts(below, method)
        base.values(BASES, "base")
        for expansion in expansions:
            expansion.values(EXPANSIONS, "expansion")


def is_agent(method: str) -> bool:
    """Does it answer, or only find passages?"""
    return split_agent(method)[0] is not None


def uses_model(method: str) -> bool:
    """Does it call a language model for a question?"""
    return is_agent(method) or any(map(_calls_model, retriever_parts(method, method)))


def _calls_model(part: Part) -> bool:
    given = part.parameters
    match part.name:
        case "hipporag":
            return given.get("entities", "llm") == "llm"
        case "hipporag2":
            return given.get("filter") == "llm" or ("base" in given and uses_model(given["base"]))
        case name:
            return name == "sync_ge"


def uses_graph(method: str) -> bool:
    """Does it walk a graph?"""
    _, retriever = split_agent(method)
    return is_agent(method) or any(
        part.name in EXPANSIONS or part.name in GRAPH_BASES for part in retriever_parts(retriever, method)
    )


def retriever_parts(retriever: str, method: str) -> list[Part]:
    """The base and what expands it."""
    return [parse(part, method) for part in retriever.split("+")]


def parse(text: str, method: str) -> Part:
    """One part."""
    match = _PART.fullmatch(text.strip())
    over = (match["over"] or "passages") if match else ""
    if not match or over not in ("passages", "triples"):
        raise BadInputError(
            f"the method {method!r} cannot be read at {text!r}: write a base, + what expands it, parameters in"
            " brackets, such as hybrid+naive_ge[scorer=exact], bm25@triples or gear:hybrid."
        )
    pairs = [pair.partition("=") for pair in (match["parameters"] or "").split(",") if pair.strip()]
    parameters = {name.strip(): value.strip() for name, _, value in pairs}
    if len(parameters) < len(pairs):
        raise BadInputError(f"a parameter stands twice in {text!r}: name each once.")
    return Part(match["name"], over, parameters, method)
