"""Documents into an index, and out of it: what the command line, the server's jobs and `Index` all call.

Python adds paths, texts, rows and documents.
"""

import logging
import os
import re
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import replace
from functools import partial
from itertools import chain
from pathlib import Path
from typing import Any

from triplebeam.assemble.models import (
    DEFAULT_EMBEDDER,
    choose,
    completions_file,
    make_chosen,
    make_embedder,
    publisher_of,
)
from triplebeam.embed import load_embedder
from triplebeam.embed.embedder import Embedder
from triplebeam.errors import BadInputError, SourceError, nearest
from triplebeam.extract.extractor import Extractor
from triplebeam.generate.accounting import Account, compute_cost, find_price
from triplebeam.generate.completion_cache import CompletionStore
from triplebeam.index.build.build import IndexBuilder
from triplebeam.index.build.extraction import Budget, OverwritePolicy
from triplebeam.index.build.writing import PurgeReport, open_store_copy, purge, require_index, set_share
from triplebeam.index.content.content import Content
from triplebeam.index.content.corrected import LineMatches
from triplebeam.index.location import Cluster, Location
from triplebeam.index.source import PassageLookup
from triplebeam.index.store.corrections import Corrections
from triplebeam.index.store.tables import read_embedder, read_source_files, read_source_names
from triplebeam.ingest import (
    Reading,
    SourceNames,
    check_plain_fields,
    document_id,
    read_sources,
    row_document,
    scan_sources,
)
from triplebeam.ingest.folder_files import is_inside
from triplebeam.passage import Document
from triplebeam.settings import Settings
from triplebeam.system.work import Progress, ignore_progress
from triplebeam.text.characters import replace_unstorable

#: What failed before may well fail again; but a model that does no better than before is not to be paid for it all.
MAX_FAILURES_AGAIN = 0.50


def index_builder(
    location: Location,
    settings: Settings,
    *,
    extractor: str | Extractor | None = None,
    triples: str | Path | None = None,
    keywords: bool = False,
    replace_triples: bool = False,
    passage_tokens: int = IndexBuilder.passage_tokens,
    split: bool = False,
    again: bool = False,
    max_failures: float | None = None,
    budget: Budget | None = None,
    embedder: Embedder | None = None,
    names: SourceNames | None = None,
    progress: Progress = ignore_progress,
) -> IndexBuilder:
    """Make what adds documents to an index, retries those whose extraction failed, and removes documents.

    ``again`` is for such a retry: the model is asked again what the cache holds already, and more may fail. Without an
    ``extractor`` or ``triples`` the index goes on with its own. Triples that were given or paid for are replaced with
    ``replace_triples`` alone. The embedder, unless given, is the one that is set, else the index's own, else the
    default. ``names`` are those of the sources, to be remembered.
    """
    folder = location.state
    if extractor is None or isinstance(extractor, str):
        choice = choose(folder, extractor, triples=Path(triples) if triples else None, keywords=keywords, again=again)
        made = make_chosen(location, choice, settings, progress, refresh=again)
    else:
        made = extractor
    if max_failures is None:
        max_failures = MAX_FAILURES_AGAIN if again else IndexBuilder.max_failures
    kept = OverwritePolicy.SAME if extractor is None and not triples else OverwritePolicy.LOCAL
    builder = IndexBuilder(
        folder=folder,
        embedder=embedder or make_embedder(embedder_name(folder, settings), settings, progress),
        extractor=made,
        passage_tokens=passage_tokens,
        split_passages=split,
        max_failures=max_failures,
        budget=budget,
        source_names=names.known if names else {},
        triples_in_context=settings.triples_in_context,
        keyword_passages=settings.keyword_passages,
        overwrite=OverwritePolicy.ALL if replace_triples else kept,
        progress=progress,
        publisher=publisher_of(location),
    )
    return _on_cluster(builder, settings, encode=embedder is None) if settings.compute.endswith("@ray") else builder


def _on_cluster(builder: IndexBuilder, settings: Settings, *, encode: bool) -> IndexBuilder:
    """Parse on a cluster, and encode there where its workers can load the embedder by its name.

    An endpoint is called from here: no key leaves this process.
    """
    from triplebeam.assemble.cluster import ClusterExtractor, encode_on_cluster
    from triplebeam.embed.openai_compatible import OpenAICompatibleEmbedder
    from triplebeam.extract.local import LocalExtractor

    extractor, encode_windows = builder.extractor, builder.encode_windows
    if isinstance(extractor, LocalExtractor):
        extractor = ClusterExtractor(extractor, settings.offline)
    if encode and not isinstance(builder.embedder, OpenAICompatibleEmbedder):
        load = partial(load_embedder, home=settings.home, offline=settings.offline, precision=settings.precision)
        encode_windows = partial(encode_on_cluster, partial(load, builder.embedder.name))
    return replace(builder, extractor=extractor, encode_windows=encode_windows)


def source_names(folder: Path, sources: Iterable[Path]) -> SourceNames:
    """Return the names of files in an index: those that these sources were first indexed by, from wherever it was."""
    return SourceNames(read_source_names(folder), sources)


def embedder_name(folder: Path, settings: Settings) -> str:
    """Return the embedder to index with: the one that is set, else the index's own, else the default."""
    there = read_embedder(folder)
    return settings.embedder or (there.name if there else DEFAULT_EMBEDDER)


def read_corrections(given: str | Path | Iterable[Mapping[str, object]]) -> Corrections:
    """From a file, by its path, or from rows."""
    return Corrections.read(Path(given)) if isinstance(given, str | Path) else Corrections.of(given)


def correction_matches(folder: Path, corrections: Corrections | None = None) -> list[LineMatches]:
    """Return what each line of corrections concerns in an index now; without any, of those that the index has."""
    require_index(folder, "there is nothing to correct")
    with open_store_copy(folder) as store:
        return Content.of(store, corrections=corrections).correction_lines()


def purge_index(location: Location, settings: Settings) -> PurgeReport:
    """Rewrite an index so that no byte of what was removed is left in it, nor replies to prompts that quoted it in the
    cache of completions.
    """
    folder, cache = location.state, completions_file(settings)
    if not cache.is_file():
        return purge(folder)
    with CompletionStore(cache) as completions:
        return purge(folder, completions.forget)


def tune_share(location: Location, share: float | None) -> None:
    """Set how much walks count in the default search, for this generation and those to come; None: as measured."""
    if isinstance(location, Cluster):
        raise BadInputError("how much walks count can be set for an index in a folder only, not for one on OpenSearch.")
    set_share(location.state, share)


def dollar_budget(dollars: float, settings: Settings, bill: Account) -> Budget:
    """Limit what the calls of a run may cost; its calls count towards ``bill``."""
    model = settings.endpoint("extraction").model or ""
    if find_price(model, settings.prices) is None:
        raise BadInputError(
            f"the price of the model {model!r} is not known, so --budget cannot be kept: give US dollars per million"
            f' tokens in triplebeam.toml, prices = {{"{model}" = {{input = 0.10, output = 0.40}}}}.'
        )
    return Budget(dollars, lambda: compute_cost(bill.usage, model, settings.prices) or 0.0)


def known_documents(folder: Path, passages: PassageLookup, wanted: Iterable[str | Path]) -> list[str]:
    """Return the ids of documents by what a person calls them; what is not there is an error that names the nearest.

    A file may be written in any way that leads to it: ``./docs/old.md`` is ``docs/old.md``, and so is ``old.md`` in
    that folder. A folder, or a file of many rows, is all documents that came from it, whether it is still there or not.
    """
    known, sources, names = passages.document_ids, read_source_files(folder), source_names(folder, ())
    found = (id_ for each in wanted for id_ in _find_documents(known, sources, str(each), names))
    return list(dict.fromkeys(found))


def _find_documents(
    known: Mapping[str, None], sources: Mapping[str, str], document: str, names: SourceNames
) -> list[str]:
    called = (document, document_id(Path(document)), names(Path(document)))
    for name in called:
        if name in known:
            return [name]
    for name in called:
        if below := [id_ for id_ in known if name != "." and is_inside(name, sources.get(id_, id_))]:
            return below
    there = f"has {len(known):,}, such as {next(iter(known))!r}" if known else "is empty"
    raise BadInputError(f"there is no document {document!r} in the index{nearest(document, known)}, which {there}.")


_NUMBERED = re.compile(r"text-([0-9]+)")


def list_paths(paths: str | Path | Iterable[str | Path]) -> list[Path]:
    """Return paths as a list; one that is a text by mistake is an error."""
    listed = [paths] if isinstance(paths, str | Path) else list(paths)
    for each in listed:
        if not isinstance(each, str | Path):
            raise BadInputError(f"a path is {type(each).__name__}: add_documents takes documents and rows.")
        if any(map(str.isspace, str(each))) and not os.path.exists(each):  # noqa: PTH110 (False for what is too long)
            raise BadInputError(
                f"there is no file or folder {str(each)[:80]!r}: check the path; add_texts takes texts."
            )
    return [Path(each) for each in listed]


def read_paths(
    paths: Sequence[Path], encoding: str | None, name: Callable[[Path], str], *, follow_links: bool
) -> Iterable[Reading]:
    """Read files and folders; files are called what ``name`` returns."""
    for line in scan_sources(paths, follow_links=follow_links).describe_skipped():
        logging.getLogger("triplebeam").info("skipped: %s", line)
    return read_sources(paths, encoding=encoding, name=name, follow_links=follow_links)


def read_texts(texts: str | Iterable[str], known: Iterable[str]) -> list[Document]:
    """Make documents of texts, numbered text-1, text-2 and so on, above those that are ``known`` already."""
    numbers, documents = _free_numbers(known), []
    for place, text in enumerate([texts] if isinstance(texts, str) else texts, 1):
        if not isinstance(text, str):
            raise BadInputError(f"text {place} is {type(text).__name__}: add takes paths, add_documents rows.")
        if not text.strip():
            raise BadInputError(f"text {place} is empty: leave it out.")
        documents.append(Document(id=next(numbers), text=replace_unstorable(text)))
    return documents


def read_documents(
    given: Document | Mapping[str, object] | Iterable[Document | Mapping[str, object]], known: Iterable[str]
) -> list[Document]:
    """Check documents and rows, all before anything is written; rows without an id are numbered as texts are."""
    numbers, documents = _free_numbers(known), []
    for place, each in enumerate([given] if isinstance(given, Document | Mapping) else given, 1):
        if isinstance(each, Document):
            _check_document(each, place)
            documents.append(each)
        elif isinstance(each, Mapping):
            documents.append(_row(each, place, numbers))
        else:
            raise BadInputError(
                f'item {place} is {type(each).__name__}: give rows with a "text", or Documents; add takes paths, and'
                " add_texts texts."
            )
    seen: set[str] = set()
    for document in documents:
        if document.id in seen:
            raise BadInputError(f"two documents have the id {document.id!r}: give each its own.")
        seen.add(document.id)
    return documents


def _row(row: Mapping[str, Any], place: int, numbers: Iterator[str]) -> Document:
    has_id = any(row.get(name) not in (None, "") for name in ("id", "_id"))
    try:
        check_plain_fields(dict(row))
        return row_document(dict(row), "" if has_id else next(numbers))
    except (SourceError, TypeError) as error:
        raise BadInputError(f"row {place} cannot be indexed: {error}.") from error


def _check_document(document: Document, place: int) -> None:
    """Refuse values of another type: they would be stored, and break every later change of the index."""
    fields: object = document.metadata
    if not isinstance(fields, Mapping):
        raise BadInputError(
            f"document {place} cannot be indexed: its metadata is {type(fields).__name__}: give a dict."
        )
    strings: dict[object, object] = {"id": document.id, "text": document.text, "title": document.title}
    for name, value in chain(strings.items(), fields.items()):
        if not (isinstance(name, str) and isinstance(value, str)):
            raise BadInputError(
                f"document {place} cannot be indexed: its {name!r} is {type(value).__name__}: give a string, or a row"
                " (a dict), whose numbers are made strings."
            )


def _free_numbers(known: Iterable[str]) -> Iterator[str]:
    taken = [int(match[1]) for match in map(_NUMBERED.fullmatch, known) if match]
    number = max(taken, default=0)
    while True:
        number += 1
        yield f"text-{number}"
