"""An index and all that can be asked of it, by name."""

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from functools import cached_property, lru_cache, partial
from pathlib import Path

from triplebeam.answer import Agent
from triplebeam.assemble.agents import make_agent
from triplebeam.assemble.models import make_embedder, make_model
from triplebeam.assemble.retrievers import expand_by, make_retriever
from triplebeam.embed.embedder import Embedder
from triplebeam.embed.remembering import Remembering
from triplebeam.errors import BadInputError
from triplebeam.generate.accounting import Accounted
from triplebeam.generate.language_model import LanguageModel
from triplebeam.index.opened import Index
from triplebeam.index.passages import PassageTable
from triplebeam.index.triple_graph import TripleGraph
from triplebeam.progress import Progress, silent
from triplebeam.ranking import Ranking
from triplebeam.retrieve.retriever import Retriever
from triplebeam.settings import Settings, read_settings

DEFAULT_METHOD = "blend"
DEFAULT_AGENT = "auto"
_RETRIEVERS_KEPT = 64
"""A server is asked for methods with any parameters in brackets, of which there is no end."""


@dataclass(frozen=True)
class Collection:
    """An open index with its embedder and, where one is configured, a language model."""

    index: Index
    settings: Settings
    given_embedder: Embedder | None = None
    given_model: LanguageModel | None = None
    progress: Progress = field(default=silent, repr=False)
    query_entities: Path | None = None
    """Entities of questions, for methods that start there; unless given, they are asked of the model."""
    gold: Mapping[str, Sequence[str]] = field(default_factory=dict, repr=False)
    """The gold passages of questions, for the upper bound ``gold``: known in an evaluation only."""

    @property
    def passages(self) -> PassageTable:
        """Passages by id."""
        return self.index.passages

    @property
    def triples(self) -> TripleGraph:
        """The graph of triples."""
        return self.index.triples

    @cached_property
    def embedder(self) -> Embedder:
        """The embedder the index was built with, loaded when it is first needed."""
        name = self.settings.embedder or self.index.manifest.embedder.name
        embedder = self.given_embedder or make_embedder(name, self.settings, self.progress)
        self.index.manifest.embedder.check(embedder)
        return Remembering(embedder)

    @cached_property
    def model(self) -> LanguageModel:
        """The language model that reasons and answers; its calls count towards the open accounts."""
        return Accounted(self.given_model) if self.given_model else make_model(self.settings)

    @cached_property
    def reading_model(self) -> LanguageModel:
        """The language model that reads: the same, unless another is configured for it."""
        if self.given_model or self.settings.endpoint("reading") == self.settings.endpoint("answering"):
            return self.model  # one client, so that the limits on requests hold for both
        return make_model(self.settings, "reading")

    def search(self, question: str, method: str = DEFAULT_METHOD, k: int = 10) -> Ranking:
        """The best k passages for a question."""
        check_question(question)
        if k < 1:
            raise BadInputError(f"k is {k}: ask for at least one passage.")
        return self.retriever(method).retrieve(question, k)

    def retriever(self, method: str = DEFAULT_METHOD) -> Retriever:
        """The retriever of that name, such as ``hybrid+naive_ge[scorer=exact]``; made once: some make a matrix."""
        return self._retrievers(method)

    @cached_property
    def _retrievers(self) -> Callable[[str], Retriever]:
        return lru_cache(_RETRIEVERS_KEPT)(partial(make_retriever, self))

    def expand(self, base: Retriever, expansion: str = "naive_ge") -> Retriever:
        """A retriever of your own, made multi-hop: by ``naive_ge``, ``sync_ge[base_k=10]`` or another expansion."""
        return expand_by(self, base, expansion)

    def agent(self, method: str = DEFAULT_AGENT, base: Retriever | None = None) -> Agent:
        """The agent of that name: ``gear``, ``gear:bm25``, ``gear[max_steps=2]:hybrid``, ``single_step``, ``auto``.

        A ``base`` of your own takes the place of the one behind the colon.
        """
        return make_agent(self, method, base)


def check_question(question: str) -> None:
    """A question must have words, and be text."""
    if not question.strip():
        raise BadInputError("the question is empty: ask for something.")
    try:
        question.encode()
    except UnicodeEncodeError:
        raise BadInputError(
            f"the question {question!r} holds bytes that are not UTF-8: check the terminal's encoding."
        ) from None


def open_collection(
    folder: str | Path,
    *,
    embedder: Embedder | None = None,
    model: LanguageModel | None = None,
    settings: Settings | None = None,
    progress: Progress = silent,
    query_entities: Path | None = None,
) -> Collection:
    """Open an index folder for questions. ``embedder`` and ``model`` are for ones without a name, such as your own."""
    return Collection(Index.open(Path(folder)), settings or read_settings(), embedder, model, progress, query_entities)
