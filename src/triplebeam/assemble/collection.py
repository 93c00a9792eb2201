"""An index and all that can be asked of it, by name."""

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from functools import cached_property
from pathlib import Path
from typing import Any

from triplebeam.answer import Agent
from triplebeam.assemble.method_names import (
    AGENTS,
    BASES,
    EXPANSIONS,
    Part,
    parse,
    retriever_parts,
    split_agent,
)
from triplebeam.assemble.models import make_embedder, make_model
from triplebeam.embed.embedder import Embedder
from triplebeam.embed.remembering import Remembering
from triplebeam.errors import BadInputError
from triplebeam.generate.accounting import Accounted
from triplebeam.generate.language_model import LanguageModel
from triplebeam.index.opened import Index
from triplebeam.index.passages import PassageTable
from triplebeam.index.triple_graph import TripleGraph
from triplebeam.methods.climb import Climb
from triplebeam.methods.closed_book import ClosedBook
from triplebeam.methods.gear import (
    Cascade,
    Exact,
    GeAR,
    LLMReader,
    NaiveGE,
    PassageLink,
    Pooled,
    Reasoner,
    SingleStep,
    SyncGE,
)
from triplebeam.methods.gear.score import ChainScorer
from triplebeam.methods.hipporag import HippoRAG
from triplebeam.methods.hipporag2 import HippoRAG2
from triplebeam.methods.ircot import IRCoT
from triplebeam.methods.query_entities import GivenQueryEntities, LLMQueryEntities, QueryEntities, VerbatimEntities
from triplebeam.methods.question_answering import QuestionAnswerer
from triplebeam.methods.read_once import ReadOnce
from triplebeam.methods.triple_filter import LLMTripleFilter
from triplebeam.names import nearest
from triplebeam.progress import Progress, silent
from triplebeam.ranking import Ranking
from triplebeam.retrieve.bm25 import BM25
from triplebeam.retrieve.dense import Dense
from triplebeam.retrieve.given import GivenRanking
from triplebeam.retrieve.hybrid import Hybrid
from triplebeam.retrieve.retriever import Retriever
from triplebeam.settings import Settings, read_settings

DEFAULT_METHOD = "hybrid+naive_ge"
#: What an agent stands on unless its name says otherwise.
DEFAULT_BASE = "hybrid"
#: Inside an agent SyncGE takes ten base passages (GeAR, appendix C.2).
_AGENT_BASE_K = "10"
#: Bases that can search the triples instead of the passages.
_OVER_TRIPLES = ("bm25", "dense", "hybrid")
_ENTITIES = ("llm", "verbatim", "given")
_SCORERS: Mapping[str, Callable[..., ChainScorer]] = {"cascade": Cascade, "exact": Exact, "pooled": Pooled}


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
        """The retriever of that name, such as ``hybrid+naive_ge[scorer=exact]``."""
        base, *expansions = retriever_parts(method, method)
        retriever = self._base(base)
        for expansion in expansions:
            retriever = self._expanded(retriever, expansion)
        return retriever

    def agent(self, method: str = "auto") -> Agent:
        """The agent of that name: ``gear``, ``gear:bm25``, ``gear[max_steps=2]:hybrid``, ``single_step``, ``auto``."""
        part, below = split_agent(method)
        if part is None:
            raise BadInputError(
                f"{method!r} finds passages and does not answer: put an agent in front, such as gear:{method};"
                f" known are {', '.join(AGENTS)}."
            )
        values = part.values(AGENTS, "agent")
        match part.name:
            case "gear":
                return self._gear(below, values)
            case "single_step":
                return self._single_step(below, values, method)
            case "ircot":
                return self._ircot(below, values)
            case "read":
                return ReadOnce(retriever=self.retriever(below or DEFAULT_METHOD), answerer=self._answerer(), **values)
            case "closed_book":
                return self._closed_book(below, method)
            case _:
                return Climb(first=self._single_step(below, {}, method), then=self._gear(below, values))

    def _gear(self, below: str, values: dict[str, Any]) -> Agent:
        base = retriever_parts(below or DEFAULT_BASE, below)[0]
        return GeAR(
            retriever=self._below_agent(below or DEFAULT_BASE),
            reader=self._reader(),
            reasoner=Reasoner(model=self.model),
            passage_link=PassageLink(
                passages=self._base(replace(base, over="passages")), triples=self._base(replace(base, over="triples"))
            ),
            answerer=self._answerer(),
            passages=self.passages,
            **values,
        )

    def _single_step(self, below: str, values: dict[str, Any], method: str) -> Agent:
        retriever = self._below_agent(below or DEFAULT_BASE)
        if not isinstance(retriever, SyncGE):
            raise BadInputError(f"single_step reads before it walks: {method!r} needs +sync_ge last, or a base alone.")
        return SingleStep(retriever=retriever, answerer=self._answerer(), passages=self.passages, **values)

    def _ircot(self, below: str, values: dict[str, Any]) -> Agent:
        return IRCoT(
            retriever=self.retriever(below or DEFAULT_BASE),
            model=self.model,
            answerer=self._answerer(),
            passages=self.passages,
            **values,
        )

    def _closed_book(self, below: str, method: str) -> Agent:
        if below:
            raise BadInputError(f"closed_book answers without passages: {method!r} names a retriever; leave it out.")
        return ClosedBook(model=self.model)

    def _answerer(self) -> QuestionAnswerer:
        return QuestionAnswerer(model=self.model, passages=self.passages)

    def _below_agent(self, below: str) -> Retriever:
        """A base alone gets SyncGE, as in the paper; a name with ``+`` is taken as it is."""
        if "+" in below:
            return self.retriever(below)
        return self._expanded(self.retriever(below), parse(f"sync_ge[base_k={_AGENT_BASE_K}]", below))

    def _reader(self) -> LLMReader:
        return LLMReader(model=self.reading_model, passages=self.passages)

    def _base(self, part: Part) -> Retriever:
        values = part.values(BASES, "base")
        if part.over != "passages" and part.name not in _OVER_TRIPLES:
            raise BadInputError(f"{part.name} searches passages: @{part.over} in {part.method!r} has no meaning there.")
        match part.name, part.over:
            case "bm25", "passages":
                return BM25.over_passages(self.index)
            case "bm25", _:
                return BM25.over_triples(self.index)
            case "dense", "passages":
                return Dense.over_passages(self.index, self.embedder)
            case "dense", _:
                return Dense.over_triples(self.index, self.embedder)
            case "hipporag", _:
                return HippoRAG.over(self.index, self.embedder, self._query_entities(values), **values)
            case "hipporag2", _:
                return self._hipporag2(values)
            case "gold", _:
                return self._gold(part.method)
            case _:
                sparse, dense = (self._base(Part(name, part.over, {}, part.method)) for name in ("bm25", "dense"))
                return Hybrid(sparse, dense, **values)

    def _query_entities(self, values: dict[str, Any]) -> QueryEntities:
        match name := values.pop("entities", "llm"):
            case "llm":
                return LLMQueryEntities(model=self.reading_model)
            case "verbatim":
                return VerbatimEntities(self.index.entities)
            case "given" if self.query_entities:
                return GivenQueryEntities(self.query_entities)
            case "given":
                raise BadInputError("entities=given needs a file of them: name it with --query-entities.")
            case _:
                raise BadInputError(f"entities={name}: choose{nearest(name, _ENTITIES)} one of {', '.join(_ENTITIES)}.")

    def _hipporag2(self, values: dict[str, Any]) -> Retriever:
        if (name := values.pop("filter", "none")) not in ("none", "llm"):
            raise BadInputError(f"filter={name}: choose none or llm.")
        if name == "llm":
            values["triple_filter"] = LLMTripleFilter(model=self.reading_model)
        if "base" in values:
            values["base"] = self.retriever(values["base"])
        return HippoRAG2.over(self.index, self.embedder, **values)

    def _gold(self, method: str) -> Retriever:
        if not self.gold:
            raise BadInputError(
                f"{method!r} needs questions whose gold passages are known: use it in `triplebeam bench`."
            )
        return GivenRanking(self.gold)

    def _expanded(self, base: Retriever, part: Part) -> Retriever:
        values = part.values(EXPANSIONS, "expansion")
        if part.over != "passages":
            raise BadInputError(f"@{part.over} in {part.method!r} belongs behind a base, not behind {part.name}.")
        scorer = self._scorer(values.pop("scorer", "cascade"), values)
        if part.name == "sync_ge":
            return SyncGE(base=base, triples=self.triples, scorer=scorer, reader=self._reader(), **values)
        return NaiveGE(base=base, triples=self.triples, scorer=scorer, **values)

    def _scorer(self, name: str, values: dict[str, Any]) -> ChainScorer:
        if name not in _SCORERS:
            raise BadInputError(f"there is no scorer {name!r}{nearest(name, _SCORERS)}.")
        own = {"shortlist": values.pop("shortlist")} if "shortlist" in values else {}
        if own and name != "cascade":
            raise BadInputError(f"the scorer {name!r} has no shortlist: only cascade has.")
        return _SCORERS[name](triples=self.triples, embedder=self.embedder, **own)


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
