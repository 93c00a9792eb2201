"""Triples without a language model: an English parser's trees, read by rules."""

from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING

from triplebeam.errors import ModelMissingError
from triplebeam.extract.extractor import Extraction
from triplebeam.extract.local.draw import draw
from triplebeam.passage import Passage

if TYPE_CHECKING:
    from spacy.language import Language

#: Raise this whenever a rule changes, so that indexes know their triples are of another make.
RULES_VERSION = 1


@dataclass(frozen=True)
class LocalExtractor:
    """Entities and relations from spaCy's small English model in ``model_folder``, with ``processes`` at work."""

    model_folder: Path
    processes: int = 2

    @property
    def name(self) -> str:
        """The rules' version; the parser's weights are pinned by their hash."""
        return f"local:{RULES_VERSION}"

    def extract(self, passages: Iterable[Passage]) -> Iterator[Extraction]:
        """One extraction a passage, in order; a passage that states nothing gives one without triples."""
        yield from draw(load_parser(self.model_folder), passages)


def load_parser(folder: Path) -> "Language":
    """The parser without the parts no rule reads."""
    import spacy

    try:
        return spacy.load(folder, exclude=["senter", "lemmatizer", "attribute_ruler"])
    except OSError as error:
        raise ModelMissingError(f"There is no English parser in {folder} ({error}): fetch it anew.") from error
