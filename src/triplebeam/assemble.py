"""From names to objects: the one place that knows every method, extractor and embedder by its name.

A method's name is a base, then ``+`` what expands it: ``hybrid+naive_ge``. ``@triples`` behind a base searches the
triples instead of the passages. Parameters stand in brackets: ``hybrid+naive_ge[scorer=exact,diversity=inf]``.
"""

import difflib
import re
from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass, field
from functools import cached_property
from pathlib import Path
from typing import Any

from triplebeam.embed import load_embedder
from triplebeam.embed.embedder import Embedder
from triplebeam.embed.remembering import Remembering
from triplebeam.errors import BadInputError, ModelMissingError
from triplebeam.extract.extractor import Extractor
from triplebeam.index.opened import Index
from triplebeam.index.passages import PassageTable
from triplebeam.index.triple_graph import TripleGraph
from triplebeam.methods.gear import Cascade, Exact, NaiveGE, Pooled
from triplebeam.methods.gear.score import ChainScorer
from triplebeam.progress import Progress, silent
from triplebeam.ranking import Ranking
from triplebeam.retrieve.bm25 import BM25
from triplebeam.retrieve.dense import Dense
from triplebeam.retrieve.hybrid import Hybrid
from triplebeam.retrieve.retriever import Retriever
from triplebeam.settings import Settings, read_settings

DEFAULT_EMBEDDER = "minilm"
DEFAULT_METHOD = "hybrid+naive_ge"
EXTRACTORS = ("local", "llm", "none")

_SCORERS: Mapping[str, Callable[..., ChainScorer]] = {"cascade": Cascade, "exact": Exact, "pooled": Pooled}
_WALK = {"base_k": int, "width": int, "length": int, "neighbours": int, "diversity": float}
#: Each name of a method's part with the parameters it takes in brackets.
_BASES: Mapping[str, Mapping[str, Callable[[str], object]]] = {
    "bm25": {},
    "dense": {},
    "hybrid": {"depth": int, "constant": float},
}
_EXPANSIONS: Mapping[str, Mapping[str, Callable[[str], object]]] = {
    "naive_ge": _WALK | {"scorer": str, "shortlist": int},
    "sync_ge": _WALK | {"scorer": str, "shortlist": int},
}
_PART = re.compile(r"(?P<name>[^@\[\]]+)(@(?P<over>[^\[\]]+))?(\[(?P<parameters>[^\[\]]*)\])?")


@dataclass(frozen=True)
class Collection:
    """An index and all that can be asked of it."""

    index: Index
    settings: Settings
    given_embedder: Embedder | None = None
    progress: Progress = field(default=silent, repr=False)

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

    def retriever(self, method: str = DEFAULT_METHOD) -> Retriever:
        """The retriever of that name, such as ``hybrid+naive_ge[scorer=exact]``."""
        base, *expansions = (_parse(part, method) for part in method.split("+"))
        retriever = self._base(base)
        for expansion in expansions:
            retriever = self._expanded(retriever, expansion)
        return retriever

    def search(self, question: str, method: str = DEFAULT_METHOD, k: int = 10) -> Ranking:
        """The best k passages for a question."""
        if not question.strip():
            raise BadInputError("the question is empty: ask for something.")
        try:
            question.encode()
        except UnicodeEncodeError:
            raise BadInputError(
                f"the question {question!r} holds bytes that are not UTF-8: check the terminal's encoding."
            ) from None
        if k < 1:
            raise BadInputError(f"k is {k}: ask for at least one passage.")
        return self.retriever(method).retrieve(question, k)

    def _base(self, part: "_Part") -> Retriever:
        values = part.values(_BASES, "base")
        match part.name, part.over:
            case "bm25", "passages":
                return BM25.over_passages(self.index)
            case "bm25", _:
                return BM25.over_triples(self.index)
            case "dense", "passages":
                return Dense.over_passages(self.index, self.embedder)
            case "dense", _:
                return Dense.over_triples(self.index, self.embedder)
            case _:
                sparse, dense = (self._base(_Part(name, part.over, {}, part.method)) for name in ("bm25", "dense"))
                return Hybrid(sparse, dense, **values)

    def _expanded(self, base: Retriever, part: "_Part") -> Retriever:
        values = part.values(_EXPANSIONS, "expansion")
        scorer = self._scorer(values.pop("scorer", "cascade"), values)
        if part.name == "sync_ge":
            raise ModelMissingError(
                "sync_ge needs a reader: in Python, SyncGE(base=…, triples=…, scorer=…, reader=…);"
                " without a model, use +naive_ge."
            )
        return NaiveGE(base=base, triples=self.triples, scorer=scorer, **values)

    def _scorer(self, name: str, values: dict[str, Any]) -> ChainScorer:
        if name not in _SCORERS:
            raise BadInputError(f"there is no scorer {name!r}{_nearest(name, _SCORERS)}.")
        own = {"shortlist": values.pop("shortlist")} if "shortlist" in values else {}
        if own and name != "cascade":
            raise BadInputError(f"the scorer {name!r} has no shortlist: only cascade has.")
        return _SCORERS[name](triples=self.triples, embedder=self.embedder, **own)


def open_collection(
    folder: str | Path,
    *,
    embedder: Embedder | None = None,
    settings: Settings | None = None,
    progress: Progress = silent,
) -> Collection:
    """Open an index folder for questions. ``embedder`` is for one that has no name, such as your own class."""
    return Collection(Index.open(Path(folder)), settings or read_settings(), embedder, progress)


def make_embedder(name: str, settings: Settings, progress: Progress = silent) -> Embedder:
    """The embedder of that name; its weights are fetched at first use unless ``offline`` forbids it."""
    return load_embedder(
        name,
        settings.home,
        offline=settings.offline,
        progress=progress,
        base_url=settings.base_url,
        api_key=settings.api_key.get_secret_value() if settings.api_key else None,
    )


def make_extractor(
    name: str, triples_file: Path | None, settings: Settings, progress: Progress = silent
) -> Extractor | None:
    """The extractor of that name, or the one that takes triples from a file; None for ``none``."""
    if triples_file:
        from triplebeam.extract.given import GivenTriples

        return GivenTriples(triples_file)
    match name:
        case "none":
            return None
        case "local":
            return _local_extractor(settings, progress)
        case "llm":
            return _llm_extractor(settings)
        case _:
            raise BadInputError(f"there is no extractor {name!r}{_nearest(name, EXTRACTORS)}.")


def _local_extractor(settings: Settings, progress: Progress) -> Extractor:
    from triplebeam.extract.local import LocalExtractor
    from triplebeam.weights import ENGLISH_PARSER, ensure

    return LocalExtractor(ensure(ENGLISH_PARSER, settings.home, offline=settings.offline, progress=progress))


def _llm_extractor(settings: Settings) -> Extractor:
    from triplebeam.extract.llm import LLMExtractor
    from triplebeam.generate.openai_compatible import OpenAICompatible

    if not settings.model:
        raise ModelMissingError(
            "--extractor llm needs a model: set TRIPLEBEAM_MODEL (and TRIPLEBEAM_BASE_URL, TRIPLEBEAM_API_KEY for its"
            " endpoint), or use --extractor local, which needs none."
        )
    key = settings.api_key.get_secret_value() if settings.api_key else None
    return LLMExtractor(OpenAICompatible(model=settings.model, base_url=settings.base_url, api_key=key))


@dataclass(frozen=True)
class _Part:
    """One part of a method's name, read but not yet believed."""

    name: str
    over: str
    parameters: Mapping[str, str]
    method: str

    def values(self, known: Mapping[str, Mapping[str, Callable[[str], object]]], role: str) -> dict[str, Any]:
        """The parameters as values, once the name and they are known to be right."""
        if self.name not in known:
            raise BadInputError(
                f"there is no {role} {self.name!r} in the method {self.method!r}{_nearest(self.name, known)};"
                f" known are {', '.join(known)}."
            )
        allowed = known[self.name]
        return {name: self._value(name, text, allowed) for name, text in self.parameters.items()}

    def _value(self, name: str, text: str, allowed: Mapping[str, Callable[[str], object]]) -> object:
        if name not in allowed:
            takes = f"it takes {', '.join(allowed)}" if allowed else "it takes none"
            raise BadInputError(f"{self.name} has no parameter {name!r}{_nearest(name, allowed)}; {takes}.")
        try:
            value = allowed[name](text)
        except ValueError:
            raise BadInputError(f"{name}={text} in {self.method!r} is not a number.") from None
        if isinstance(value, int | float) and not value > 0:
            raise BadInputError(f"{name}={text} in {self.method!r} must be above 0.")
        return value


def _parse(text: str, method: str) -> _Part:
    match = _PART.fullmatch(text.strip())
    over = (match["over"] or "passages") if match else ""
    if not match or over not in ("passages", "triples"):
        raise BadInputError(
            f"the method {method!r} cannot be read at {text!r}: write a base, + what expands it, parameters in"
            " brackets, such as hybrid+naive_ge[scorer=exact] or bm25@triples."
        )
    pairs = [pair.partition("=") for pair in (match["parameters"] or "").split(",") if pair.strip()]
    return _Part(match["name"], over, {name.strip(): value.strip() for name, _, value in pairs}, method)


def _nearest(name: str, known: Iterable[str]) -> str:
    """What was probably meant."""
    near = difflib.get_close_matches(name, list(known), n=1)
    return f" (did you mean {near[0]!r}?)" if near else ""
