"""The server of the Model Context Protocol: four tools that read and change nothing.

A tool that is a plain function runs in a thread of the SDK's, so none of them holds up the event loop. What a user can
put right comes back as a tool error with its sentence; anything else is a bug, of which the client learns no details.
"""

from collections.abc import Callable, Iterator, Mapping
from contextlib import AbstractContextManager, contextmanager, nullcontext
from dataclasses import dataclass
from functools import partial
from importlib.metadata import version
from inspect import getdoc
from typing import Annotated, Protocol, TypeAlias, TypeVar

from pydantic import Field

from triplebeam.answer import Step
from triplebeam.assemble import DEFAULT_METHOD, Index, check_question
from triplebeam.errors import BadInputError, TriplebeamError
from triplebeam.names import nearest
from triplebeam.serve.extras import ExtraMissingError
from triplebeam.serve.found_passages import find_passages
from triplebeam.serve.mcp.follow import follow
from triplebeam.serve.mcp.results import AskResult, ExpandResult, FoundPassage, PassageResult, SearchResult

try:
    from anyio import from_thread
    from mcp.server import MCPServer
    from mcp.server.mcpserver import Context
    from mcp.server.mcpserver.exceptions import ToolError
    from mcp_types import ToolAnnotations
except ImportError as error:
    raise ExtraMissingError("mcp") from error

_INSTRUCTIONS = (
    "Documents of the user's own, as passages and as a graph of facts drawn from them. Start with `search`, which also"
    " finds passages that only a chain of facts leads to; go on with `read_passage` for the whole text and `expand` to"
    " follow an entity through the graph. `ask` lets an agent answer, with quotes; it costs calls of a language model."
)

T = TypeVar("T")

QuestionText: TypeAlias = Annotated[str, Field(description="A whole question or a few telling words.")]
CollectionName: TypeAlias = Annotated[
    str | None, Field(description="Which collection; needed only where the server has several.")
]


class Shelf(Protocol):
    """Collections by name, looked up at each call: they may come, go and be published anew while the server runs."""

    def names(self) -> list[str]:
        """Every collection there is now."""
        ...

    def collection(self, name: str) -> Index:
        """The collection of that name."""
        ...


class Rules:
    """What a call may ask for and where it runs: anything, at once. A server for others has rules of its own."""

    def check(self, question: str, method: str) -> None:
        """Refuse a call."""

    def search(self, function: Callable[[], T], method: str) -> T:
        """Run a search by that method."""
        return function()

    def answering(self) -> AbstractContextManager[None]:
        """Around an agent's work."""
        return nullcontext()

    def told(self, text: str) -> str:
        """What a client hears of an error."""
        return text


def make_server(
    collections: Mapping[str, Index] | Shelf,
    *,
    search_method: str = DEFAULT_METHOD,
    ask_method: str = "auto",
    rules: Rules | None = None,
) -> MCPServer[None]:
    """A server over these collections, for stdio, or for an HTTP server to mount."""
    shelf = _Given(collections) if isinstance(collections, Mapping) else collections
    server: MCPServer[None] = MCPServer(
        "triplebeam",
        title="Triplebeam",
        instructions=f"{_INSTRUCTIONS} Collections: {', '.join(shelf.names()) or 'none yet'}.",
        version=version("triplebeam"),
        log_level="WARNING",
    )
    tools = _Tools(shelf, search_method, ask_method, rules or Rules())
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
class _Given:
    collections: Mapping[str, Index]

    def names(self) -> list[str]:
        return list(self.collections)

    def collection(self, name: str) -> Index:
        return self.collections[name]


@dataclass(frozen=True)
class _Tools:
    """The tools. Their docstrings are what a model reads when it chooses among them."""

    shelf: Shelf
    search_method: str
    ask_method: str
    rules: Rules

    def search(
        self,
        question: QuestionText,
        method: Annotated[
            str | None,
            Field(
                description="Leave it out unless asked for: bm25, dense or hybrid are plain search; +naive_ge behind"
                " one walks the graph of facts."
            ),
        ] = None,
        k: Annotated[int, Field(ge=1, le=50, description="How many passages.")] = 10,
        collection: CollectionName = None,
    ) -> SearchResult:
        """Find the passages of the user's documents that bear on a question, with their texts.

        Use it first, and for any question. It finds what the question names and what is a hop or two away from it, and
        shows the chains of facts that lead there. No language model is called; it takes a fraction of a second.
        """
        with self._explained():
            method = method or self.search_method
            self.rules.check(question, method)
            chosen = self._collection(collection)
            found = self.rules.search(partial(find_passages, chosen, question, method, k), method)
            return SearchResult(method=method, passages=[FoundPassage.of(each) for each in found])

    def expand(
        self,
        entity: Annotated[str, Field(description="A name as the documents write it: a person, place, work, thing.")],
        length: Annotated[int, Field(ge=1, le=4, description="Facts in a chain; 1: direct facts only.")] = 2,
        question: Annotated[str | None, Field(description="What to look for: chains like it come first.")] = None,
        limit: Annotated[int, Field(ge=1, le=50, description="How many chains.")] = 10,
        collection: CollectionName = None,
    ) -> ExpandResult:
        """Follow an entity through the graph of facts: what is said of it, and where that leads.

        Use it when you know a name and need what is connected to it, such as the next hop of a question whose first hop
        is answered. Each fact comes with the passage it stands in. An unknown name is answered with the nearest ones.
        """
        with self._explained():
            self.rules.check(entity + (question or ""), self.search_method)
            chosen = self._collection(collection)
            return self.rules.search(partial(follow, chosen, entity, question, length, limit), self.search_method)

    def ask(
        self,
        question: QuestionText,
        context: Context[None],
        method: Annotated[
            str | None,
            Field(description="Leave it out unless asked for: single_step reads once, gear goes step by step."),
        ] = None,
        collection: CollectionName = None,
    ) -> AskResult:
        """Let an agent answer a question from the documents, in several steps, with verbatim quotes as evidence.

        Use it for a multi-hop question that you do not want to work through with search and expand yourself. It calls
        the server's own language model, takes seconds to minutes, and reports each step as progress.
        """
        with self._explained(), self.rules.answering():
            method = method or self.ask_method
            self.rules.check(question, method)
            check_question(question)
            chosen = self._collection(collection)
            run = chosen.agent(method).run(question)
            # A client that has gone away gets no further step, and pays for none.
            from_thread.check_cancelled()
            for step in run.steps:
                from_thread.run(context.report_progress, step.number, None, _news(step))
                from_thread.check_cancelled()
            return AskResult.of(run.answer, chosen)

    def read_passage(
        self,
        passage_id: Annotated[str, Field(description="As search, expand or ask gave it.")],
        collection: CollectionName = None,
    ) -> PassageResult:
        """Read one passage whole, with its document, its metadata and every fact drawn from it.

        Use it to check or quote a passage whose id another tool gave.
        """
        with self._explained():
            chosen = self._collection(collection)
            return PassageResult.of(chosen.passages[passage_id], chosen)

    def _collection(self, name: str | None) -> Index:
        names = self.shelf.names()
        if name is None and len(names) == 1:
            return self.shelf.collection(names[0])
        there = f"there are {', '.join(names)}" if names else "this server has none yet"
        if name is None:
            raise BadInputError(f"no collection is named: {there}; name one under `collection`.")
        if name not in names:
            raise BadInputError(f"there is no collection {name!r}{nearest(name, names)}: {there}.")
        return self.shelf.collection(name)

    @contextmanager
    def _explained(self) -> Iterator[None]:
        try:
            yield
        except TriplebeamError as error:
            raise ToolError(self.rules.told(str(error))) from error


def _news(step: Step) -> str:
    return f"Step {step.number}: {step.query}" + (f" – {step.thought}" if step.thought else "")
