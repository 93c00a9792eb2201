"""Gold as a person writes it: where an answer is, by file and phrase, found again however the file was cut."""

import difflib
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from functools import cached_property
from itertools import chain, islice, pairwise
from typing import TypeAlias

from triplebeam.errors import BadInputError, nearest
from triplebeam.index.source import PassageLookup
from triplebeam.passage import Passage

_MAX_SEARCHED = 100_000
_MAX_NAMED = 3


@dataclass(frozen=True, slots=True)
class Place:
    """The passages of a file that contain a phrase: of every file without ``file``, all of them without ``phrase``."""

    file: str = ""
    """As the file was indexed, or the end of its path: ``usage/notes.html``."""
    phrase: str = ""

    def __str__(self) -> str:
        phrase = f"the phrase {self.phrase!r}" if self.phrase else ""
        return " in ".join(filter(None, [phrase, f"the file {self.file!r}" if self.file else ""]))


Entry: TypeAlias = tuple[str | Place, ...]
"""One entry of a question's gold: passage ids and places, any one of which is enough."""


class GoldFinder:
    """The passages of an index, to look gold up in. What is missing is an error: recall would be silently wrong."""

    def __init__(self, passages: PassageLookup) -> None:
        self._passages = passages

    @cached_property
    def _documents(self) -> dict[str, list[Passage]]:
        """The passages of each document, in their order."""
        documents: dict[str, list[Passage]] = {}
        for passage in self._passages:
            documents.setdefault(passage.document_id, []).append(passage)
        return documents

    def passages_of(self, question_id: str, entry: Entry) -> tuple[str, ...]:
        """Return the passages of which any one is enough. Each alternative must be in the index."""
        found = (self._find(question_id, each) for each in entry)
        return tuple(dict.fromkeys(chain.from_iterable(found)))

    def _find(self, question_id: str, wanted: str | Place) -> Sequence[str]:
        if isinstance(wanted, Place):
            return self._ids_of(question_id, wanted)
        if wanted not in self._passages:
            # An index of millions is not searched for the id that was probably meant.
            known = [passage.id for passage in islice(self._passages, _MAX_SEARCHED)]
            raise BadInputError(
                f"the gold passage {wanted!r} of question {question_id!r} is not in the index"
                f"{nearest(wanted, known)}: index the corpus these questions were written for."
            )
        return [wanted]

    def _ids_of(self, question_id: str, place: Place) -> list[str]:
        documents = [each for each in self._documents if _names(place.file, each)]
        if not documents:
            raise BadInputError(
                f"question {question_id!r} names {place}, but the index has no such file"
                f"{_list_documents(' (near: ', self._suggest_documents(place.file))}: name a file as it was indexed."
            )
        ids = self._find_phrase(place.phrase, documents)
        if not ids:
            elsewhere = (each for each in self._documents if self._find_phrase(place.phrase, [each]))
            raise BadInputError(
                f"question {question_id!r} names {place}, but no passage contains it"
                f"{_list_documents(' (it is in ', elsewhere)}: copy a phrase as `triplebeam show` prints the passage,"
                " without markup such as * or `."
            )
        return ids

    def _find_phrase(self, phrase: str, documents: Iterable[str]) -> list[str]:
        """Find the ids of the passages with a phrase; of two neighbours where the document was cut inside it."""
        folded = _fold_case(phrase)
        inside, across = [], []
        for document in documents:
            texts = [(passage.id, _fold_case(passage.text)) for passage in self._documents[document]]
            inside += [id_ for id_, text in texts if folded in text]
            across += [each for (one, a), (two, b) in pairwise(texts) if folded in f"{a} {b}" for each in (one, two)]
        return inside or across

    def _suggest_documents(self, file: str) -> list[str]:
        names = {_fold_case(each.replace("\\", "/").rpartition("/")[2]): each for each in self._documents}
        near = difflib.get_close_matches(_fold_case(file.rpartition("/")[2]), list(names), n=_MAX_NAMED)
        return [names[each] for each in near]


def _names(file: str, document: str) -> bool:
    return not file or f"/{document}".replace("\\", "/").endswith(f"/{file.removeprefix('/')}".replace("\\", "/"))


def _fold_case(text: str) -> str:
    return " ".join(text.split()).casefold()


def _list_documents(opening: str, documents: Iterable[str]) -> str:
    named = [repr(each) for each, _ in zip(documents, range(_MAX_NAMED), strict=False)]
    return f"{opening}{', '.join(named)})" if named else ""
