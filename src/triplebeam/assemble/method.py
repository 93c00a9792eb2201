"""A method as a value: its name is read and checked once, and builds its retriever or its agent.

A retriever is a base, then ``+`` what expands it: ``hybrid+naive_ge``. ``@triples`` after a base searches the triples
instead of the passages. An agent comes first, followed by ``:``: ``agent:hybrid``. Parameters are in brackets after
what they belong to: ``hybrid+naive_ge[scorer=exact,diversity=inf]``, ``gear[max_steps=2]:hybrid``. ``run:FILE`` is
another system's run, which is read and not computed.
"""

import re
from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import Any

from triplebeam.answer import Agent
from triplebeam.assemble.context import Context
from triplebeam.assemble.table import RESEARCH_METHODS, Row, find_method, list_agents, list_retrievers
from triplebeam.errors import BadInputError, nearest
from triplebeam.index.folder.snapshot import Snapshot
from triplebeam.passage import Passages
from triplebeam.plugins import research_missing
from triplebeam.ranking import Ranking
from triplebeam.retrieve.retriever import PerQuestion, Retriever

_RUN = "run:"
_PART = re.compile(r"(?P<name>[^@\[\]]+)(@(?P<over>[^\[\]]+))?(\[(?P<parameters>[^\[\]]*)\])?")
_PLUS = re.compile(r"\+(?![^\[]*\])")
_PUBLISHED = "the class is the paper now: write"
#: What an agent was before it became the paper's, or ours alone, and the parameters that only such a name had.
_FORMER: Mapping[str, str] = {
    "gear": f"{_PUBLISHED} gear; the former gear is agent",
    "ge_reasoning": f"{_PUBLISHED} ge_reasoning; the former ge_reasoning is grounded_reasoning",
    "single_step": "the paper's single step is read:hybrid+sync_ge[scorer=exact]",
    "agent": "its calls and quotations are not switched; the paper's agent is gear",
    **{name: f"{_PUBLISHED} {name}" for name in ("rgnn_ret", "ircot", "self_ask")},
}
_FORMER_PARAMETERS = (
    *("paper", "calls", "searches", "quotations", "ranking", "answer_from", "stop_when_stuck", "attempts"),
    *("grounded", "max_attempts", "announce_last", "own_answer", "retrieved"),
)


@dataclass(frozen=True)
class Part:
    """A row of the table with the parameters that were written after it."""

    row: Row
    values: Mapping[str, Any]

    @property
    def uses_model(self) -> bool:
        """It calls a language model for a question."""
        return self.row.uses_model or any(
            value == "llm" or (isinstance(value, Method) and value.uses_model)
            for value in (self.values.get(name, each.default) for name, each in self.row.parameters.items())
        )

    def build(self, context: Context, *place: Any) -> Any:
        """Build the object with its parameters over ``place``: the context, a retriever, or `Below`."""
        arguments, fields = dict[str, Any](), dict[str, Any]()
        for name, value in self.values.items():
            kept = fields if self.row.parameters[name].is_field else arguments
            kept[name] = value.retriever(context) if isinstance(value, Method) else value
        build: Any = self.row.build
        built: Any = place[0].assemble(build) if isinstance(build, type) else build(*place, **arguments)
        return replace(built, **fields) if fields else built


@dataclass(frozen=True)
class Method:
    """What a name means. Two methods are equal where their names are."""

    text: str
    agent: Part | None = field(default=None, compare=False)
    parts: tuple[Part, ...] = field(default=(), compare=False)
    """The retriever as it was written, the base first; none where an agent uses its own default."""
    run: Path | None = field(default=None, compare=False)
    """The file of another system's run."""

    @classmethod
    def parse(cls, method: "str | Method") -> "Method":
        """Read a name; a mistake in it is said with what was probably meant."""
        if isinstance(method, Method):
            return method
        if method.startswith(_RUN):
            return cls(method, run=Path(method.removeprefix(_RUN)))
        head, colon, rest = method.partition(":")
        row = None if colon else find_method(re.split(r"[\[+@]", method.strip())[0])
        if colon or (row is not None and row.kind == "agent"):
            name, *expansions = _PLUS.split(head)
            agent = _part(name, method, ("agent",), "agent")
            if expansions:
                search = "+".join(filter(None, (rest, *expansions)))
                raise BadInputError(f"{name} answers, and is no search that + expands: write {name}:{search}.")
            return cls(method, agent, _retriever_parts(rest, method) if rest else ())
        return cls(method, parts=_retriever_parts(method, method))

    def __str__(self) -> str:
        """As it was written."""
        return self.text

    @property
    def is_agent(self) -> bool:
        """It answers, and does not only find passages."""
        return self.agent is not None

    @property
    def uses_model(self) -> bool:
        """It calls a language model for a question."""
        return any(part.uses_model for part in self.every_part())

    @property
    def uses_graph(self) -> bool:
        """It walks a graph."""
        return any(part.row.uses_graph for part in self.every_part())

    def every_part(self) -> Iterator[Part]:
        """Yield the agent, the retriever's parts, and those of a method that is a parameter."""
        for part in (*([self.agent] if self.agent else []), *self.parts):
            yield part
            for value in part.values.values():
                if isinstance(value, Method):
                    yield from value.every_part()

    def build(self, context: Context) -> Retriever | Agent:
        """Build what it names."""
        return self.build_agent(context) if self.agent else self.retriever(context)

    def retriever(self, context: Context) -> Retriever:
        """Return the retriever it names; made once per context."""
        if self.agent:
            raise BadInputError(f"{self.text!r} answers, and is no search: use it with `triplebeam ask --method`.")
        if self.run:
            raise BadInputError(f"{self.text!r} is a run of another system: compare it in `triplebeam bench`.")
        return context.once(self.text, lambda: self._build_retriever(context))

    def _build_retriever(self, context: Context) -> Retriever:
        takes_snapshot = (part.row.takes_snapshot or part.values.get("title_bonus") for part in self.parts)
        graphs = [place for place, takes in enumerate(takes_snapshot, 1) if takes]
        if graphs and not isinstance(context.source, Snapshot):
            below = Method(self.text, parts=self.parts[: graphs[-1]])
            around = AroundQuestion(context, self.text, below._build_over)
            return expand(context, around, self.parts[graphs[-1] :])
        return self._build_over(context)

    def _build_over(self, context: Context) -> Retriever:
        first, *expansions = self.parts
        if first.row.kind == "expansion":
            return expand(context, Method.parse(first.row.base).retriever(context), self.parts)
        return expand(context, first.build(context, context), tuple(expansions))

    def build_agent(self, context: Context, given: Retriever | None = None) -> Agent:
        """Return the agent it names; it uses the retriever it is ``given``, where the name leaves room for one."""
        if self.agent is None:
            raise BadInputError(
                f"{self.text!r} finds passages and does not answer: put an agent in front, such as agent:{self.text};"
                f" known are {', '.join(list_agents())}."
            )
        if given is not None and self.parts:
            raise BadInputError(f"{self.text!r} names a base, and another is given: leave out one of the two.")
        from triplebeam.assemble.agents import Below  # every agent: imported when one is asked for

        agent: Agent = self.agent.build(context, Below(self, context, given))
        return agent


def expand(context: Context, below: Retriever, expansions: "str | tuple[Part, ...]") -> Retriever:
    """Put expansions, or those of these names with ``+`` between, over a retriever."""
    if isinstance(expansions, str):
        expansions = _retriever_parts(expansions, expansions)
    for part in expansions:
        if part.row.kind != "expansion":
            raise BadInputError(f"{part.row.name} finds passages by itself: it expands nothing.")
        below = part.build(context, context, below)
    return below


def _retriever_parts(text: str, method: str) -> tuple[Part, ...]:
    first, *others = _PLUS.split(text)
    return (
        _part(first, method, ("base", "expansion"), "base"),
        *(_part(each, method, ("expansion",), "expansion") for each in others),
    )


def _part(text: str, method: str, kinds: tuple[str, ...], role: str) -> Part:
    match = _PART.fullmatch(text.strip())
    if not match:
        raise BadInputError(
            f"the method {method!r} cannot be read at {text!r}: write a base, + what expands it, parameters in"
            " brackets, such as hybrid+naive_ge[scorer=exact], bm25@triples or agent:hybrid."
        )
    row = find_method(match["name"])
    if row is None or row.kind not in kinds:
        raise _unknown(match["name"], method, kinds, role)
    if match["over"] and "over" not in row.parameters:
        raise BadInputError(f"{row.name} searches passages: @{match['over']} in {method!r} has no meaning there.")
    pairs = [pair.partition("=") for pair in (match["parameters"] or "").split(",") if pair.strip()]
    texts = {name.strip(): value.strip() for name, _, value in pairs}
    if len(texts) < len(pairs):
        raise BadInputError(f"a parameter is written twice in {text!r}: name each once.")
    texts |= {"over": match["over"]} if match["over"] else {}
    return Part(row, {name: _value(row, name, value, method) for name, value in texts.items()})


def _unknown(name: str, method: str, kinds: tuple[str, ...], role: str) -> BadInputError:
    if name in RESEARCH_METHODS and find_method(name) is None:
        return research_missing(name, "a method")
    place, agents = f" in the method {method!r}", list_agents()
    known = {each: row for each, row in {**list_retrievers(), **agents}.items() if row.kind in kinds}
    if ":" not in method and "+" not in method:  # what was meant may be an agent, too
        role, place, known = "method", "", {**known, **agents}
    return BadInputError(f"there is no {role} {name!r}{place}{nearest(name, known)}; known are {', '.join(known)}.")


def _value(row: Row, name: str, text: str, method: str) -> object:
    if name not in row.parameters:
        if name in _FORMER_PARAMETERS and row.name in _FORMER:
            raise BadInputError(f"{row.name} has no parameter {name!r} any more: {_FORMER[row.name]}.")
        takes = f"it takes {', '.join(row.parameters)}" if row.parameters else "it takes none"
        raise BadInputError(f"{row.name} has no parameter {name!r}{nearest(name, row.parameters)}; {takes}.")
    parameter = row.parameters[name]
    return Method.parse(text) if parameter.type is Retriever else parameter.read(text, method)


@dataclass(frozen=True)
class AroundQuestion:
    """A method over graphs, of an index that has none in memory: they are built around each query."""

    context: Context = field(repr=False)
    name: str
    build: Callable[[Context], Retriever] = field(repr=False)

    @property
    def passages(self) -> Passages:
        """The texts of what it finds."""
        return self.context.passages

    def retrieve(self, query: str, k: int = 10) -> Ranking:
        """Return the best k of the neighbourhood."""
        near = self.context.around(query)
        retriever = near.once(self.name, lambda: self.build(near))
        if isinstance(retriever, PerQuestion):
            raise BadInputError(
                f"{self.name} mixes the steps of a question over one graph, and on OpenSearch each step has its own:"
                " use gnn_ret without beta, or an index in a folder."
            )
        return retriever.retrieve(query, k)
