"""Where the words of a triple are in the text it was extracted from.

A triple is a few words of one sentence, so its vector can be had from the reading of that text: the mean of the vectors
of these words' tokens. In context a vague triple ("he moved to it") has a definite meaning, and no text is read twice.

A triple's sentence is the one with most of its words. All places of these words in it count; a word that is elsewhere
alone, such as a name that a pronoun refers to, counts where it occurs first.
"""

import re
from collections import Counter, defaultdict
from collections.abc import Iterable, Iterator

from triplebeam.embed.embedder import Span
from triplebeam.triple import Triple

_WORD = re.compile(r"\w+")
_SENTENCE_END = re.compile(r"(?<=[.!?])\s+|\n+")


def spans_of(triples: Iterable[Triple], text: str) -> list[list[Span]]:
    """For each triple the places of its words in the text; none where no word of it occurs there."""
    places = _places(text)
    return [[span for _, span in _chosen(_words(str(triple)), places)] for triple in triples]


def _words(text: str) -> set[str]:
    return {found.group().casefold() for found in _WORD.finditer(text)}


def _places(text: str) -> dict[str, list[tuple[int, Span]]]:
    """The places of each word: the number of the sentence, and where in the text."""
    places = defaultdict(list)
    start = 0
    for number, end in enumerate([*(found.end() for found in _SENTENCE_END.finditer(text)), len(text)]):
        for found in _WORD.finditer(text, start, end):
            places[found.group().casefold()].append((number, found.span()))
        start = end
    return places


def _chosen(words: set[str], places: dict[str, list[tuple[int, Span]]]) -> Iterator[tuple[int, Span]]:
    present = [places[word] for word in sorted(words) if word in places]
    votes = Counter(number for each in present for number in {number for number, _ in each})
    sentence = min(votes, key=lambda number: (-votes[number], number), default=None)
    for each in present:
        yield from [place for place in each if place[0] == sentence] or each[:1]
