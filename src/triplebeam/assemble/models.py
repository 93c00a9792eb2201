"""Names of embedders, extractors and language models, and locations of indexes, to the objects themselves.

An index is published, and opened, in its own folder or on a cluster: no other module names both.
"""

import logging
from collections.abc import Callable
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING, Literal, NamedTuple, TypeAlias

from triplebeam.embed import load_embedder
from triplebeam.embed.embedder import Embedder
from triplebeam.errors import BadInputError, ModelMissingError, nearest
from triplebeam.extract.extractor import KEYWORDS_MARK, Extractor, kind_of
from triplebeam.generate.language_model import LanguageModel
from triplebeam.index.folder.manifest import is_index, read_version
from triplebeam.index.location import Cluster, Location
from triplebeam.index.source import Source
from triplebeam.index.store.tables import read_extractor
from triplebeam.plugins import require_plugin
from triplebeam.settings import Settings
from triplebeam.system.work import Progress, ignore_progress

if TYPE_CHECKING:
    from triplebeam.index.folder.publish import Publisher

DEFAULT_EMBEDDER = "granite"
EXTRACTORS = ("local", "llm", "llm-two-step", "none")
#: What a model is for. All but answering, which has the main one, may have an endpoint of their own.
Role: TypeAlias = Literal["answering", "extraction", "reading", "judge"]
#: Returns what changes with a generation, cheaply enough to be called before every search; None: nothing is published.
Watch: TypeAlias = Callable[[], object]

HOW_TO_CONFIGURE = (
    "set TRIPLEBEAM_MODEL (and TRIPLEBEAM_BASE_URL, TRIPLEBEAM_API_KEY for its endpoint),"
    " or write them into triplebeam.toml"
)


def make_embedder(name: str, settings: Settings, progress: Progress = ignore_progress) -> Embedder:
    """Load the embedder of that name; its weights are fetched at first use unless ``offline`` forbids it."""
    return load_embedder(
        name,
        settings.home,
        offline=settings.offline,
        progress=progress,
        precision=settings.precision,
        on_gpu=settings.on_gpu,
        base_url=settings.base_url,
        api_key=settings.api_key.get_secret_value() if settings.api_key else None,
        # The default is for chat models, which take longer.
        timeout=settings.timeout if "timeout" in settings.model_fields_set else None,
    )


def make_model(settings: Settings, role: Role = "answering", *, refresh: bool = False) -> LanguageModel:
    """Connect the language model for a role, with its cache and limits; its calls count towards the open accounts.

    ``refresh``, like the setting ``no_cache``, sends prompts again that the cache has a reply to.
    """
    endpoint = settings.endpoint(role)
    if not endpoint.model:
        raise ModelMissingError(f"no language model is configured: {HOW_TO_CONFIGURE}.")
    from triplebeam.generate.accounting import Accounted
    from triplebeam.generate.completion_cache import CompletionStore
    from triplebeam.generate.connect import connect

    return Accounted(
        connect(
            endpoint.model,
            base_url=endpoint.base_url,
            api_key=endpoint.api_key.get_secret_value() if endpoint.api_key else None,
            timeout=settings.timeout,
            concurrency=settings.concurrency,
            max_tokens=settings.max_tokens,
            parameters=settings.parameters,
            seed=settings.seed,
            requests_per_minute=settings.requests_per_minute,
            tokens_per_minute=settings.tokens_per_minute,
            cache=CompletionStore(completions_file(settings)),
            refresh=refresh or settings.no_cache,
            # A pause between tries may be long: the reason is logged to stderr.
            notify=logging.getLogger("triplebeam").warning,
        )
    )


def completions_file(settings: Settings) -> Path:
    """Where replies that were paid for are kept."""
    return settings.completions or settings.home / "completions.sqlite"


def make_extractor(
    name: str,
    triples_file: Path | None,
    settings: Settings,
    progress: Progress = ignore_progress,
    *,
    refresh: bool = False,
    keywords: bool = False,
) -> Extractor | None:
    """Return the extractor of that name, or the one that takes triples from a file; None for ``none``.

    With ``keywords`` the model for extraction is also asked for each passage's keywords, for the graph of passages.
    """
    found = _extractor(name, triples_file, settings, progress, refresh)
    if not keywords:
        return found
    if found is None:
        raise BadInputError("--keywords goes with an extractor: name one other than none.")
    with_keywords: Callable[..., Extractor] = require_plugin("extractors", "keywords", "a part")
    return with_keywords(found, _extraction_model("--keywords", settings, refresh), 4 * settings.concurrency)


def _extractor(
    name: str, triples_file: Path | None, settings: Settings, progress: Progress, refresh: bool
) -> Extractor | None:
    if triples_file:
        from triplebeam.extract.triples_file import TriplesFile

        return TriplesFile(triples_file)
    match name:
        case "none":
            return None
        case "local":
            from triplebeam.extract.local import LocalExtractor
            from triplebeam.weights import ENGLISH_PARSER, ensure

            return LocalExtractor(ensure(ENGLISH_PARSER, settings.home, offline=settings.offline, progress=progress))
        case "llm" | "llm-two-step":
            from triplebeam.extract.llm import LLMExtractor

            kind: Callable[..., Extractor] = (
                LLMExtractor if name == "llm" else require_plugin("extractors", name, "an extractor")
            )
            model = _extraction_model(f"--extractor {name}", settings, refresh)
            return kind(model, batch_size=4 * settings.concurrency)
        case _:
            raise BadInputError(f"there is no extractor {name!r}{nearest(name, EXTRACTORS)}.")


def _extraction_model(flag: str, settings: Settings, refresh: bool) -> LanguageModel:
    if not settings.endpoint("extraction").model:
        raise ModelMissingError(
            f"{flag} needs a language model: {HOW_TO_CONFIGURE}; or use --extractor local alone, which needs none."
        )
    return make_model(settings, "extraction", refresh=refresh)


class Choice(NamedTuple):
    """An extractor by its name, or a file of triples; with or without a model's keywords."""

    extractor: str = "local"
    triples: Path | None = None
    keywords: bool = False
    is_remembered: bool = False

    @property
    def is_paid(self) -> bool:
        """Does it call a language model?"""
        return self.keywords or (self.triples is None and self.extractor.startswith("llm"))


def choose(
    folder: Path,
    extractor: str | None = None,
    *,
    triples: Path | None = None,
    keywords: bool = False,
    again: bool = False,
) -> Choice:
    """Choose what is named first. ``again``: what failed is retried with a model, unless another extractor is named."""
    if extractor or triples:
        return Choice(extractor or "local", triples, keywords)
    own = _read_choice(folder)
    if again and not own.is_paid:
        return Choice("llm", None, keywords)
    return own._replace(keywords=keywords or own.keywords)


def make_chosen(
    place: Path | Location,
    choice: Choice,
    settings: Settings,
    progress: Progress = ignore_progress,
    *,
    refresh: bool = False,
) -> Extractor | None:
    """Return the extractor; where the index goes on with one that cannot be made here, the two ways on are named."""
    if choice.is_remembered and choice.is_paid and not settings.endpoint("extraction").model:
        raise ModelMissingError(
            f"{place} goes on with the extractor it was built with, {choice.extractor}"
            f"{' with keywords' if choice.keywords else ''}, which needs a language model: {HOW_TO_CONFIGURE}; or name"
            " --extractor local, which extracts new passages without one and keeps the triples that are there."
        )
    if choice.is_remembered and choice.extractor not in EXTRACTORS:
        raise BadInputError(
            f"{place} goes on with the extractor it was built with, {choice.extractor!r}, which is not one of"
            f" Triplebeam's: pass it to `Index.add` again, or name another, such as local, for new passages."
        )
    return make_extractor(
        choice.extractor, choice.triples, settings, progress, refresh=refresh, keywords=choice.keywords
    )


def _read_choice(folder: Path) -> Choice:
    name = read_extractor(folder)
    if name is None:
        return Choice()
    kind = kind_of(name)
    return Choice("local" if kind == "given" else kind, None, KEYWORDS_MARK in name, is_remembered=True)


def open_source(location: Location) -> Source:
    """Open what is published at a location."""
    if isinstance(location, Cluster):
        from triplebeam.index.opensearch.source import open_cluster  # who searches a folder need not load it

        return open_cluster(location)
    from triplebeam.index.folder.snapshot import Snapshot  # nor who completes a command line load that

    return Snapshot.open(location.state)


def is_published(location: Location) -> bool:
    """Return whether there is an index to search at a location."""
    return watch(location)() is not None if isinstance(location, Cluster) else is_index(location.state)


def watch(location: Location) -> Watch:
    """Return what says whether the index at a location has changed."""
    if isinstance(location, Cluster):
        from triplebeam.index.opensearch.source import ClusterWatch

        return ClusterWatch(location).version
    return partial(read_version, location.state)


def publisher_of(location: Location) -> "Publisher":
    """Return what publishes to a location; who only searches need not load it."""
    if isinstance(location, Cluster):
        from triplebeam.index.opensearch.publish import ClusterPublisher

        return ClusterPublisher(location)
    from triplebeam.index.folder.publish import FolderPublisher

    return FolderPublisher(location.state)
