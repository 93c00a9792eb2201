"""Passages and answers out of a published index, or out of the part of it for which a filter holds."""

from collections.abc import Iterator, Sequence

from triplebeam import support
from triplebeam.answer import Agent, Answer, Evidence, Run, Step
from triplebeam.assemble.context import Context
from triplebeam.assemble.method import Method, expand
from triplebeam.errors import BadInputError, check_question
from triplebeam.explain.search_results import SearchResults
from triplebeam.index.source import Manifest, PassageLookup
from triplebeam.passage import Passage
from triplebeam.retrieve.retriever import Retriever, retrieve_many
from triplebeam.system.work import run_in_thread
from triplebeam.where import Where, parse

DEFAULT_METHOD = "blend"
DEFAULT_AGENT = "auto"


class IndexReader:
    """An index, or a filtered view of one, open for searching and asking.

    It reads the generation that was published when it was opened.
    """

    def __init__(self, context: Context) -> None:
        """Read the source of a context, with its models."""
        self.location, self.settings = context.source.location, context.settings
        self._opened: Context | None = context

    def __repr__(self) -> str:
        view = f", filtered by {self.filter_text!r}" if self.filter_text else ""
        return f"{type(self).__name__}({str(self.location)!r}{view})"

    @property
    def passages(self) -> PassageLookup:
        """Passages by id."""
        return context_of(self).passages

    @property
    def status(self) -> Manifest:
        """What is in it: counts, the embedder, the extractor."""
        return context_of(self).source.manifest

    def __len__(self) -> int:
        return len(self.passages)

    def __bool__(self) -> bool:
        """Return true: an empty index is still an index."""
        return True

    def __iter__(self) -> Iterator[Passage]:
        return iter(self.passages)

    def filter(self, where: str | Where) -> "IndexReader":
        """Return a view of the passages for which a filter holds, such as ``year >= 2020 and source in ("a", "b")``.

        It is an index of these passages alone, for searching and asking with every method. It takes the vectors of the
        whole index over and encodes nothing. It can be filtered again.
        """
        return IndexReader(context_of(self).view(parse(where)))

    @property
    def filter_text(self) -> str:
        """What holds for the passages of a view; empty for a whole index."""
        filters = self._opened.filters if self._opened else ()
        return str(filters[0]) if len(filters) == 1 else " and ".join(f"({each})" for each in filters)

    def search(
        self,
        question: str,
        *,
        k: int = 10,
        method: str | Method | Retriever = DEFAULT_METHOD,
        where: str | Where | None = None,
    ) -> SearchResults:
        """Return the best k passages for a question, among those for which the filter ``where`` holds.

        ``method`` may be a retriever of your own, too; where there is a filter, it is to be built over that view.
        """
        return self.search_many([question], k=k, method=method, where=where)[0]

    def search_many(
        self,
        questions: Sequence[str],
        *,
        k: int = 10,
        method: str | Method | Retriever = DEFAULT_METHOD,
        where: str | Where | None = None,
    ) -> list[SearchResults]:
        """Return what `search` does for each question, apart from the rounding of scores; faster than one by one."""
        for question in questions:
            check_question(question)
        if where is not None:
            return self.filter(where).search_many(questions, k=k, method=method)
        if k < 1:
            raise BadInputError(f"k is {k}: ask for at least one passage.")
        retriever = self.retriever(method) if isinstance(method, str | Method) else method
        name = str(method) if isinstance(method, str | Method) else type(method).__name__
        source = context_of(self).source
        rankings = zip(questions, retrieve_many(retriever, questions, k), strict=True)
        return [SearchResults(source, question, name, ranking) for question, ranking in rankings]

    def ask(self, question: str, *, method: str | Method = DEFAULT_AGENT, where: str | Where | None = None) -> Answer:
        """Return an agent's answer with its evidence and steps; the agent sees only what ``where`` holds for."""
        return self._run(question, method, where).answer

    def ask_stream(
        self, question: str, *, method: str | Method = DEFAULT_AGENT, where: str | Where | None = None
    ) -> Iterator[Step | Answer]:
        """Yield each step as it happens, then the answer."""
        run = self._run(question, method, where)
        yield from run.steps
        yield run.answer

    async def asearch(
        self,
        question: str,
        *,
        k: int = 10,
        method: str | Method | Retriever = DEFAULT_METHOD,
        where: str | Where | None = None,
    ) -> SearchResults:
        """Search in a thread, for asyncio; cancelling the task stops calls to a language model."""
        return await run_in_thread(lambda: self.search(question, k=k, method=method, where=where))

    async def aask(
        self, question: str, *, method: str | Method = DEFAULT_AGENT, where: str | Where | None = None
    ) -> Answer:
        """Ask in a thread, for asyncio; cancelling the task stops calls to a language model."""
        return await run_in_thread(lambda: self.ask(question, method=method, where=where))

    def find_fault(self, fact: Evidence) -> str | None:
        """Say why the words that a fact quotes do not support it; None if they do. See `Answer.verify`."""
        if fact.span is None:
            return "the answer quotes nothing that supports it"
        if fact.span.passage_id not in self.passages:
            return f"the index has no passage {fact.span.passage_id!r}"
        support.prepare(self.settings.home, offline=self.settings.offline, progress=context_of(self).progress)
        return support.fault_of(fact.triple, fact.span, self.passages[fact.span.passage_id], fact.statement)

    def retriever(self, method: str | Method = DEFAULT_METHOD) -> Retriever:
        """Return the retriever with that name, such as ``hybrid+naive_ge[scorer=exact]``; built once and kept."""
        return Method.parse(method).retriever(context_of(self))

    def expand(self, base: Retriever, *, expansion: str = "naive_ge") -> Retriever:
        """Make your own retriever multi-hop by ``naive_ge``, ``sync_ge[base_k=10]`` or another expansion."""
        return expand(context_of(self), base, expansion)

    def agent(self, method: str | Method = DEFAULT_AGENT, *, base: Retriever | None = None) -> Agent:
        """Return the agent with that name: ``agent``, ``agent:bm25``, ``gear[max_steps=2]:hybrid``, ``auto``.

        Your own ``base`` replaces the one after the colon.
        """
        return Method.parse(method).build_agent(context_of(self), base)

    def _run(self, question: str, method: str | Method, where: str | Where | None) -> Run:
        check_question(question)
        index = self if where is None else self.filter(where)
        return index.agent(method).run(question)

    def _open(self) -> Context:
        assert self._opened is not None
        return self._opened


def context_of(index: IndexReader) -> Context:
    """Return what an index's methods are built from: its source, embedder, models and settings."""
    return index._open()
