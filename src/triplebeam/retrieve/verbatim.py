"""Names that occur in a text word for word: of the entities of an index, or of the titles of its passages."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from functools import cached_property
from itertools import accumulate, takewhile

from triplebeam.index.arrays.array_set import SortedNames
from triplebeam.text.names import entity_key
from triplebeam.text.terms import query_words, text_words


@dataclass(frozen=True)
class VerbatimNames:
    """Finds known names, the keys of a mapping in their normal form, in a text: the longest first.

    A word belongs to one name only, so that "New York City" is not "New York" as well. Names made of function words
    alone, such as "who", do not count.
    """

    known: Mapping[str, object] = field(repr=False)

    def within(self, text: str) -> list[str]:
        """The normal forms of the names, each once; of names of one length, in the order of the text."""
        words, telling = entity_key(text).split(), frozenset(query_words(text))
        free, found = [True] * len(words), []
        for length, start in self._places(words):
            name = " ".join(words[start : start + length])
            if all(free[start : start + length]) and name in self.known and telling.intersection(text_words(name)):
                free[start : start + length] = [False] * length
                found.append(name)
        return list(dict.fromkeys(found))

    def _places(self, words: Sequence[str]) -> list[tuple[int, int]]:
        """Where names may be, by the word they begin with: length and start, the longest first."""
        places = [(length, start) for start in range(len(words)) for length in self._lengths_from(words[start:])]
        return sorted(places, key=lambda place: (-place[0], place[1]))

    def _lengths_from(self, words: Sequence[str]) -> list[int]:
        """How many words the names may have that these words begin with."""
        if not isinstance(self.known, SortedNames):
            return [length for length in self._lengths.get(words[0], ()) if length <= len(words)]
        beginnings = accumulate(words, "{} {}".format)
        going_on = sum(1 for _ in takewhile(self.known.has_beginning, beginnings))
        return list(range(1, going_on + 1))

    @cached_property
    def _lengths(self) -> dict[str, set[int]]:
        """How many words the names have that begin with a word."""
        lengths: dict[str, set[int]] = {}
        for name in self.known:
            first, *others = name.split(" ")
            lengths.setdefault(first, set()).add(1 + len(others))
        return lengths
