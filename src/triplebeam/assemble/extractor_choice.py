"""Which extractor indexes documents: the one that is named, else the one the index was built with, else the local."""

from pathlib import Path
from typing import NamedTuple

from triplebeam.assemble.models import EXTRACTORS, HOW_TO_CONFIGURE, make_extractor
from triplebeam.errors import BadInputError, ModelMissingError
from triplebeam.extract.extractor import KEYWORDS_MARK, Extractor
from triplebeam.index.location import Location
from triplebeam.index.store.lookup import read_extractor
from triplebeam.index.store.policy import kind_of
from triplebeam.settings import Settings
from triplebeam.system.progress import Progress, silent


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
    """What is named comes first. ``again``: what failed is retried with a model, unless another extractor is named."""
    if extractor or triples:
        return Choice(extractor or "local", triples, keywords)
    own = _remembered(folder)
    if again and not own.is_paid:
        return Choice("llm", None, keywords)
    return own._replace(keywords=keywords or own.keywords)


def make_chosen(
    place: Path | Location, choice: Choice, settings: Settings, progress: Progress = silent, *, refresh: bool = False
) -> Extractor | None:
    """The extractor; where the index goes on with one that cannot be made here, the two ways on are named."""
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


def _remembered(folder: Path) -> Choice:
    name = read_extractor(folder)
    if name is None:
        return Choice()
    kind = kind_of(name)
    return Choice("local" if kind == "given" else kind, None, KEYWORDS_MARK in name, is_remembered=True)
