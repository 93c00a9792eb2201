"""Passages and answers out of a published index, or out of the part of it for which a filter holds."""

from collections.abc import Iterator, Sequence
from typing import TypedDict, Unpack, overload

from triplebeam import support
from triplebeam.answer import Agent, Answer, Evidence, Run, Step
from triplebeam.assemble.context import Context
from triplebeam.assemble.method import Method, expand
from triplebeam.errors import BadInputError, check_question
from triplebeam.explain.search_results import SearchResults
from triplebeam.index.source import Manifest, PassageLookup
from triplebeam.passage import Passage
from triplebeam.retrieve.retriever import Retriever, retrieve_many
from triplebeam.where import Where, parse

DEFAULT_METHOD = "blend"
DEFAULT_AGENT = "auto"


class SearchOptions(TypedDict, total=False):
    """What `Index.search` takes, too."""

    k: int
    """How many passages; 10 by default."""
    method: str | Method | Retriever
    """The name of a method, ``blend`` by default, or a retriever of your own; where there is a filter, it is to be
    built over that view."""
    where: str | Where | None
    """A filter: only passages for which it holds are found."""


class IndexReader:
    """An index, or a filtered view of one, open for searching and asking.

    It reads the generation that was published when it was opened.
    """

    def __init__(self, context: Context) -> None:
        """Read the source of a context, with its models."""
        self.location, self.settings = context.source.location, context.settings
        self._opened: Context | None = context

    def __repr__(self) -> str:
        filter_text = self._opened.filter_text if self._opened else ""
        view = f", filtered by {filter_text!r}" if filter_text else ""
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

    @overload
    def search(self, question: str, **options: Unpack[SearchOptions]) -> SearchResults: ...
    @overload
    def search(
        self, question: list[str] | tuple[str, ...], **options: Unpack[SearchOptions]
    ) -> list[SearchResults]: ...
    def search(
        self,
        question: str | list[str] | tuple[str, ...],
        *,
        k: int = 10,
        method: str | Method | Retriever = DEFAULT_METHOD,
        where: str | Where | None = None,
    ) -> SearchResults | list[SearchResults]:
        """Return the best passages for a question; for a list of questions, a list, faster than one by one.

        See `SearchOptions`. Scores of several questions may differ from those of one by rounding.
        """
        found = self._search_many([question] if isinstance(question, str) else question, k, method, where)
        return found[0] if isinstance(question, str) else found

    def _search_many(
        self,
        questions: Sequence[str],
        k: int = 10,
        method: str | Method | Retriever = DEFAULT_METHOD,
        where: str | Where | None = None,
    ) -> list[SearchResults]:
        for question in questions:
            check_question(question)
        if where is not None:
            return self.filter(where)._search_many(questions, k, method)
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

    def _find_fault(self, fact: Evidence) -> str | None:
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
