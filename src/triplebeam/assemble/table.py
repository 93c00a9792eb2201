"""The table of methods: a row per method, and what each takes in brackets. A new one needs its own file and a row here,
or in a package that adds its rows through the entry point ``triplebeam.methods``.

A row has the line for people, and the class of the method or the function that builds it, from which its parameters are
read. Triplebeam's own are named by their module, which is imported when the method is used: the table itself is cheap.
An expansion named alone, and an agent without a colon, use the ``base`` of their row.

A class's parameters are those of its fields that a person can type: numbers, yes or no, a choice of words. Its
collaborators (a retriever, a model, the passages) have other types, and so are none. A function that builds an object
adds its own keyword arguments. Bounds are the classes' own business: they refuse what they cannot use.
"""

import inspect
import math
from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass, field, fields, is_dataclass
from functools import cache, cached_property
from pathlib import Path
from pkgutil import resolve_name
from types import NoneType, UnionType
from typing import Any, Literal, TypeAlias, Union, get_args, get_origin, get_type_hints

from triplebeam.errors import BadInputError, nearest
from triplebeam.plugins import load_plugins

_TYPED = (bool, int, float, str, Path)


@dataclass(frozen=True)
class Parameter:
    """A name, the type of its value without ``None``, and its default."""

    name: str
    type: Any
    default: object
    is_field: bool
    """It is a field of the object that is built, and no argument of the function that builds it."""

    def read(self, text: str, method: str) -> object:
        """Return the value that a text means."""
        if get_origin(self.type) is Literal:
            return choice(self.name, text, get_args(self.type))
        if self.type is bool:
            if text not in ("yes", "no"):
                raise BadInputError(f"{self.name}={text} in {method!r} is not yes or no.")
            return text == "yes"
        try:
            value = self.type(text)
        except ValueError:
            value = math.nan
        if value != value:
            raise BadInputError(f"{self.name}={text} in {method!r} is not a number.")
        return value


@cache
def parameters_of(build: Callable[..., object]) -> Mapping[str, Parameter]:
    """Return the parameters of a class, or of a function and the class it says it returns."""
    if inspect.isclass(build):
        return _fields_of(build)
    hints = get_type_hints(build)
    own = {
        name: Parameter(name, _without_none(hints[name]), each.default, is_field=False)
        for name, each in inspect.signature(build).parameters.items()
        if each.kind is each.KEYWORD_ONLY
    }
    return _fields_of(hints["return"]) | own


def _fields_of(kind: type) -> dict[str, Parameter]:
    if not is_dataclass(kind):
        return {}
    hints = {name: _without_none(hint) for name, hint in get_type_hints(kind).items()}
    return {
        each.name: Parameter(each.name, hints[each.name], each.default, is_field=True)
        for each in fields(kind)
        if each.init and (hints[each.name] in _TYPED or get_origin(hints[each.name]) is Literal)
    }


def _without_none(hint: Any) -> Any:
    """``int`` of ``int | None``."""
    kinds = [each for each in get_args(hint) if each is not NoneType]
    return kinds[0] if get_origin(hint) in (Union, UnionType) and len(kinds) == 1 else hint


def choice(name: str, text: str, words: Iterable[str]) -> Any:
    """Return the word that was chosen, once it is known to be one of those there are."""
    if text not in words:
        raise BadInputError(f"{name}={text}{nearest(text, words)}: choose one of {', '.join(words)}.")
    return text


#: What builds a method: a class, a function, or a function of this package as ``module:name``.
Builder: TypeAlias = Callable[..., object] | str


@dataclass(frozen=True)
class Row:
    """A method: its name, what it is, a line for people, and what builds it."""

    name: str
    kind: Literal["base", "expansion", "agent"]
    line: str
    builder: Builder = field(repr=False)
    base: str = ""
    uses_graph: bool = False
    takes_snapshot: bool = False
    """It takes a `Snapshot`, which an index on a cluster makes around each question."""
    uses_model: bool = False
    """It always calls a language model; a parameter whose value is ``llm`` makes others do so, too."""
    variants: Mapping[str, str] = field(default_factory=dict)
    """Other forms that are worth showing to people, with a line each."""

    @cached_property
    def build(self) -> Callable[..., Any]:
        """The class of the method, or the function that builds it."""
        return resolve_name(f"{__package__}.{self.builder}") if isinstance(self.builder, str) else self.builder

    @cached_property
    def parameters(self) -> Mapping[str, Parameter]:
        """What it takes in brackets."""
        return parameters_of(self.build)


def base_row(name: str, line: str, builder: Builder) -> Row:
    """Describe a method that searches by itself."""
    return Row(name, "base", line, builder)


def graph_row(name: str, line: str, builder: Builder, variants: Mapping[str, str] | None = None) -> Row:
    """Describe a method that walks a graph."""
    return Row(name, "base", line, builder, uses_graph=True, takes_snapshot=True, variants=variants or {})


def agent_row(name: str, line: str, builder: Builder, base: str = "") -> Row:
    """Describe a method that answers."""
    return Row(name, "agent", line, builder, base, uses_graph=True, uses_model=True)


# Ours search the blend where no base is named, the papers' methods what their papers search: GeAR's hybrid, GNN-Ret's
# baselines dense, GE-Reasoning BM25.
_ROWS = [
    graph_row(
        "blend", "plain search, hops over titles; graph walks where passages have their own topic", "retrievers:blend"
    ),
    base_row("bm25", "shared words, rare ones counting more", "retrievers:bm25"),
    base_row("dense", "similarity of meaning", "retrievers:dense"),
    base_row("hybrid", "words and meaning, fused by rank", "retrievers:hybrid"),
    base_row("scaled_hybrid", "words and meaning, added by score", "retrievers:scaled_hybrid"),
    Row(
        "naive_ge", "expansion", "hybrid, then a walk along chains of triples",
        "expansions:naive_ge", "hybrid", uses_graph=True,
    ),
    Row(
        "sync_ge", "expansion", "the same, after a language model has read the first passages",
        "expansions:sync_ge", "hybrid", uses_graph=True, uses_model=True,
    ),
    Row(
        "rerank", "expansion", "blend, then a small model reads each passage beside the one that leads to it",
        "expansions:rerank", "blend", uses_graph=True, takes_snapshot=True,
    ),
    Row(
        "gnn_ret", "expansion", "messages over the graph of passages, from the most similar in meaning",
        "expansions:gnn_ret", "dense", uses_graph=True, takes_snapshot=True,
        variants={"scaled_hybrid+gnn_ret": "messages over the graph of passages, from words and meaning"},
    ),
    graph_row(
        "hipporag", "PageRank over entities, from those a language model names in the question", "retrievers:hipporag",
        {"hipporag[entities=verbatim]": "PageRank over entities, from those found word for word in the question"},
    ),
    graph_row("hipporag2", "PageRank over entities and passages, from the nearest triples", "retrievers:hipporag2"),
    agent_row("auto", "single_step first; agent only when that does not answer it", "agents:auto", "blend"),
    agent_row("single_step", "one step: reads, walks along triples, answers", "agents:single_step", "blend"),
    agent_row("agent", "reads, walks and reasons step by step until the facts suffice", "agents:agent", "blend"),
    agent_row(
        "grounded_reasoning", "the question as a graph, filled in from passages", "agents:GroundedReasoning", "bm25"
    ),
    agent_row("gear", "GeAR's agent: SyncGE, gist, verdict, next query, step by step", "agents:gear", "hybrid"),
    agent_row(
        "ge_reasoning", "GE-Reasoning: the question as a graph, solved part by part", "agents:ge_reasoning", "bm25"
    ),
    agent_row(
        "rgnn_ret", "sub-questions, each searched through the graph of passages", "agents:rgnn_ret", "gnn_ret[beta=0.9]"
    ),
    agent_row("read", "one search, then an answer from the best passages", "agents:read", "hybrid"),
]  # fmt: skip
_OWN: Mapping[str, Row] = {row.name: row for row in _ROWS}
#: Methods of the research package, by name: without it they are refused with a sentence that says what to install.
RESEARCH_METHODS = (
    "title_link", "late_interaction", "gold", "ircot", "self_ask", "iter_retgen", "kgp", "flare", "verify_and_edit",
    "era_cot", "chain_of_thought", "zero_plus_few_shot", "self_consistency", "closed_book",
)  # fmt: skip


@cache
def all_methods() -> Mapping[str, Row]:
    """Return every method, Triplebeam's own first, then those of installed packages."""
    return {**_OWN, **{row.name: row for rows in load_plugins("methods") for row in rows if row.name not in _OWN}}


def find_method(name: str) -> Row | None:
    """Find a method by its name. Other packages are looked at only when it is not Triplebeam's own."""
    return _OWN.get(name) or all_methods().get(name)


def list_retrievers() -> Mapping[str, Row]:
    """Return every method that finds passages."""
    return {name: row for name, row in all_methods().items() if row.kind != "agent"}


def list_agents() -> Mapping[str, Row]:
    """Return every method that answers."""
    return {name: row for name, row in all_methods().items() if row.kind == "agent"}


def search_methods() -> Mapping[str, str]:
    """Return the methods that find passages and are worth showing, with a line each. ``gold`` is for evaluations."""
    return {text: line for text, line in _describe(list_retrievers()).items() if text != "gold"}


def ask_methods() -> Mapping[str, str]:
    """Return the methods that answer, with a line each."""
    return _describe(list_agents())


def _describe(rows: Mapping[str, Row]) -> Mapping[str, str]:
    lines: dict[str, str] = {}
    for row in rows.values():
        is_walk = row.base == "hybrid" and row.kind == "expansion"  # the line of the row is about both
        lines |= {f"{row.base}+{row.name}" if is_walk else row.name: row.line, **row.variants}
    return lines
