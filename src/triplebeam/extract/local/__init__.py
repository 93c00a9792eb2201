"""Passages to triples without a language model: an English parser's trees, read by rules."""

import os
from collections.abc import Iterable, Iterator
from dataclasses import dataclass, field
from itertools import chain, islice
from pathlib import Path

from triplebeam.errors import BadInputError, ModelMissingError
from triplebeam.extract.extractor import Extraction
from triplebeam.extract.local.facts import extract_passages, load_parser
from triplebeam.extract.local.workers import extract_in_processes
from triplebeam.passage import Passage

#: Raise this whenever a rule changes, so that indexes extract their passages again.
RULES_VERSION = 8
#: Fewer passages than this are parsed sooner than a second process has started.
_MIN_PASSAGES_FOR_WORKERS = 128


@dataclass(frozen=True)
class LocalExtractor:
    """Entities and relations from spaCy's small English model in ``model_folder``, with ``processes`` at work."""

    model_folder: Path
    processes: int = field(default_factory=lambda: os.cpu_count() or 1)

    def __post_init__(self) -> None:
        if self.processes < 1:
            raise BadInputError(f"The local extractor cannot run in {self.processes} processes: give at least 1.")

    @property
    def name(self) -> str:
        """The rules' version; the parser's weights are pinned by their hash."""
        return f"local:{RULES_VERSION}"

    def extract(self, passages: Iterable[Passage]) -> Iterator[Extraction]:
        """One extraction per passage, in order; a passage that states nothing gives one without triples.

        A passage in another language is not parsed: its extraction names the language in ``unread_language``.
        """
        if not (self.model_folder / "config.cfg").is_file():
            raise ModelMissingError(
                f"There is no English parser in {self.model_folder}: run `triplebeam doctor --install` to fetch it."
            )
        source = iter(passages)
        first = list(islice(source, _MIN_PASSAGES_FOR_WORKERS))
        if self.processes == 1 or len(first) < _MIN_PASSAGES_FOR_WORKERS:
            yield from extract_passages(load_parser(self.model_folder), chain(first, source))
        else:
            yield from extract_in_processes(self.model_folder, self.processes, chain(first, source))
