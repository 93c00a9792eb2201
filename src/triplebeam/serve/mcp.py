"""The server of the Model Context Protocol: four tools that read and change nothing.

An error that the user can correct is returned as a tool error with its sentence; anything else is a bug, of which the
client learns no details.
"""

from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from importlib.metadata import version
from inspect import getdoc
from typing import Annotated, TypeAlias

from pydantic import Field

from triplebeam.answer import Step
from triplebeam.assemble import DEFAULT_AGENT, DEFAULT_METHOD, context_of
from triplebeam.errors import BadInputError, ExtraMissingError, TriplebeamError
from triplebeam.explain.graph import find_entity, follow
from triplebeam.serve.index_folders import message_of
from triplebeam.serve.mcp_results import (
    AskResult,
    ExpandResult,
    PassageResult,
    SearchResult,
    make_ask_result,
    make_chain,
    make_passage_result,
    make_search_result,
)
from triplebeam.serve.running import Runner
from triplebeam.where.parse import MAX_CHARACTERS

try:
    from mcp.server import MCPServer
    from mcp.server.mcpserver import Context
    from mcp.server.mcpserver.exceptions import ToolError
    from mcp_types import ToolAnnotations
except ImportError as error:
    raise ExtraMissingError("mcp") from error

_INSTRUCTIONS = (
    "The user's own documents, as passages and as a graph of facts extracted from them. Start with `search`, which also"
    " finds passages that only a chain of facts leads to; go on with `read_passage` for the whole text and `expand` to"
    " follow an entity through the graph. `ask` lets an agent answer, with quotes; it makes calls to a language model."
)

QuestionText: TypeAlias = Annotated[
    str, Field(description="A whole question or a few words, clear without the conversation.")
]
WhereText: TypeAlias = Annotated[
    str | None,
    Field(
        max_length=MAX_CHARACTERS,
        description='A filter by metadata, such as year >= 2020 and source in ("a", "b"): nothing else is searched. An'
        " error names the fields there are.",
    ),
]
IndexName: TypeAlias = Annotated[str | None, Field(description="Which index; needed only if the server has several.")]


def make_server(runner: Runner) -> MCPServer[None]:
    """Make a server over a runner's library, for stdio, or for an HTTP server to mount."""
    names = runner.library.names()
    server: MCPServer[None] = MCPServer(
        "triplebeam",
        title="Triplebeam",
        instructions=f"{_INSTRUCTIONS} Indexes: {', '.join(names) or 'none yet'}.",
        version=version("triplebeam"),
        log_level="WARNING",
    )
    tools = _Tools(runner)
    titles: dict[str, Callable[..., object]] = {
        "Search passages": tools.search,
        "Follow an entity": tools.expand,
        "Ask an agent": tools.ask,
        "Read a passage": tools.read_passage,
    }
    reads_only = ToolAnnotations(
        read_only_hint=True, destructive_hint=False, idempotent_hint=True, open_world_hint=False
    )
    for title, tool in titles.items():
        server.add_tool(tool, title=title, description=getdoc(tool), annotations=reads_only, structured_output=True)
    return server


@dataclass(frozen=True)
class _Tools:
    """The tools. A model reads their docstrings when it chooses among them."""

    runner: Runner

    async def search(
        self,
        question: QuestionText,
        method: Annotated[
            str | None,
            Field(
                description="Leave it out unless asked for: bm25, dense or hybrid are plain search; +naive_ge after"
                " one also walks the graph of facts."
            ),
        ] = None,
        k: Annotated[int, Field(ge=1, le=50, description="How many passages.")] = 10,
        where: WhereText = None,
        index: IndexName = None,
    ) -> SearchResult:
        """Find the passages of the user's documents that are relevant to a question, with their texts.

        Use it first, and for any question. It finds what the question names and what is a hop or two away from it, and
        shows the chains of facts that lead there. No language model is called; it takes a fraction of a second.
        """
        with self._tool_errors():
            method = method or DEFAULT_METHOD
            found = await self.runner.search(await self._name(index), question, method, k, where=where)
            return make_search_result(method, found.results)

    async def expand(
        self,
        entity: Annotated[str, Field(description="A name as the documents write it: a person, place, work, thing.")],
        length: Annotated[int, Field(ge=1, le=4, description="Facts in a chain; 1: direct facts only.")] = 2,
        question: Annotated[str | None, Field(description="What to look for: chains similar to it come first.")] = None,
        limit: Annotated[int, Field(ge=1, le=50, description="How many chains.")] = 10,
        where: WhereText = None,
        index: IndexName = None,
    ) -> ExpandResult:
        """Follow an entity through the graph of facts: what is said about it, and where that leads.

        Use it when you know a name and need what is connected to it, such as the next hop of a question whose first hop
        is answered. Each fact comes with its passage. For an unknown name it suggests the nearest ones.
        """
        with self._tool_errors():
            self.runner.limits.check_length(entity + (question or ""))
            name = await self._name(index)
            return await self.runner.run(self._expand, name, where, entity, question, length, limit)

    async def ask(
        self,
        question: QuestionText,
        context: Context[None],
        method: Annotated[
            str | None,
            Field(description="Leave it out unless asked for: single_step reads once, agent goes step by step."),
        ] = None,
        where: WhereText = None,
        index: IndexName = None,
    ) -> AskResult:
        """Let an agent answer a question from the documents, in several steps, with verbatim quotes as evidence.

        Use it for a multi-hop question that you do not want to work through with search and expand yourself. It calls
        the server's own language model, takes seconds to minutes, and reports each step as progress.
        """
        with self._tool_errors():
            name = await self._name(index)
            run = await self.runner.ask(name, question, method or DEFAULT_AGENT, where=where)
            try:
                async for step in run.progress():
                    if isinstance(step, Step):
                        thought = f" – {step.thought}" if step.thought else ""
                        await context.report_progress(step.number, None, f"Step {step.number}: {step.query}{thought}")
                return await self.runner.run(make_ask_result, run.answer, run.index)
            finally:
                run.cancel()

    async def read_passage(
        self,
        passage_id: Annotated[str, Field(description="As search, expand or ask returned it.")],
        index: IndexName = None,
    ) -> PassageResult:
        """Read one whole passage, with its document, its metadata and every fact extracted from it.

        Use it to check or quote a passage whose id another tool returned.
        """
        with self._tool_errors():
            name = await self._name(index)
            return await self.runner.run(lambda: make_passage_result(self.runner.library.index(name), passage_id))

    def _expand(
        self, name: str, where: str | None, entity: str, question: str | None, length: int, limit: int
    ) -> ExpandResult:
        """Follow an entity; without a question, its own name says what is near."""
        context = context_of(self.runner.library.index(name, where))
        graph = context.source.graph(entities=[entity])
        number = find_entity(graph, context.embedder, entity)
        followed = follow(graph, context.embedder, number, question or entity, length, limit)
        return {"entity": graph.entities.names[number], "chains": [make_chain(*each) for each in followed]}

    async def _name(self, name: str | None) -> str:
        if name is not None:
            return name
        names = await self.runner.run(self.runner.library.names)
        if len(names) != 1:
            there = f"there are {', '.join(names)}" if names else "this server has none yet"
            raise BadInputError(f"no index is named: {there}; name one under `index`.")
        return names[0]

    @contextmanager
    def _tool_errors(self) -> Iterator[None]:
        try:
            yield
        except TriplebeamError as error:
            raise ToolError(message_of(error, self.runner.library.redact)) from error
