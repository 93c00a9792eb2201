"""The encoding stage of a build: a vector for everything that has none.

Where the embedder has vectors of tokens, a passage is read once for its own vector and those of its triples
(`find_spans`): the mean of the vectors of a triple's words. In context a vague triple ("he moved to it") has a definite
meaning, and no text is read twice. Otherwise triples are texts like any other.
"""

import re
from collections import Counter, defaultdict
from collections.abc import Iterable, Iterator, Mapping, Sequence
from itertools import accumulate, chain, tee
from typing import TypeVar

from triplebeam.embed.embedder import Embedder, EncodeWindows, Span, Window, encode_here, require_finite
from triplebeam.index.content.content import Content
from triplebeam.index.content.vector_cache import VectorCache
from triplebeam.system.work import Progress, ignore_progress
from triplebeam.triple import Triple

T = TypeVar("T")

#: Texts encoded between two commits: few enough to lose little, many enough to sort by length.
ENCODING_WINDOW = 512
#: Little work is done in smaller windows, so that it can be said early how long it takes.
_MIN_WINDOW, _TARGET_WINDOWS = 64, 16
_WORD = re.compile(r"\w+")
_SENTENCE_END = re.compile(r"(?<=[.!?])\s+|\n+")


def encode_missing(
    contents: Content,
    encoded: VectorCache,
    embedder: Embedder,
    progress: Progress = ignore_progress,
    encode: EncodeWindows = encode_here,
) -> int:
    """Encode what is not encoded yet; returns how many texts that were.

    Each window has its share of long and short texts, so that the time left can be estimated from the number of texts.
    Names that are encoded after the passages take far less time each, and are a stage of their own.
    """
    rows = _find_unencoded_passages(contents, encoded) if contents.in_context else []
    texts = encoded.find_missing({"entity": contents.entity_names} if contents.in_context else contents.texts())
    total, done = len(rows) + sum(map(len, texts.values())), 0
    passages = len(rows) if contents.in_context else total
    progress("embed", 0, passages)
    size = min(ENCODING_WINDOW, max(_MIN_WINDOW, total // _TARGET_WINDOWS))
    readings = (_collect_texts(passages, contents) for passages in _draw_samples(rows, size))
    plain = ((window, Window([*chain(*window.values())])) for window in _draw_samples_by_kind(texts, size))
    kept, sent = tee(chain(readings, plain))
    for (sources, window), vectors in zip(kept, encode(embedder, (window for _, window in sent)), strict=True):
        encoded.put(sources, require_finite(vectors, embedder))
        done += len(window.texts)
        progress("embed", min(done, passages), passages)
        if passages <= done and passages < total:
            progress("embed names", done - passages, total - passages)
    return done


def _find_unencoded_passages(contents: Content, encoded: VectorCache) -> list[int]:
    """Find the rows of passages without a vector of their own, or of one of their triples."""
    missing = encoded.find_missing({"passage": contents.passage_texts, "triple": contents.triple_sources})
    passages, triples = set(missing["passage"]), set(missing["triple"])
    own = (row for row, text in enumerate(contents.passage_texts) if text in passages)
    sources = zip(contents.triple_sources, contents.triple_rows, strict=True)
    return sorted({*own, *(row for source, row in sources if source in triples)})


def _collect_texts(rows: Sequence[int], contents: Content) -> tuple[dict[str, Sequence[str]], Window]:
    """Collect passages to encode, with the spans of their triples, and the text that each vector is made from."""
    texts = [contents.passage_texts[row] for row in rows]
    triples = [contents.triples_at(row) for row in rows]
    spans = [
        find_spans((contents.triples[place] for place in places), text)
        for places, text in zip(triples, texts, strict=True)
    ]
    sources = [contents.triple_sources[place] for places in triples for place in places]
    return {"passage": texts, "triple": sources}, Window(texts, spans)


def _draw_samples(items: Sequence[T], size: int) -> Iterator[Sequence[T]]:
    """Yield windows of about that size, each drawn evenly from the whole."""
    count = -(-len(items) // size)
    return (items[first::count] for first in range(count))


def _draw_samples_by_kind(texts: Mapping[str, Sequence[str]], size: int) -> Iterator[dict[str, Sequence[str]]]:
    """Draw samples of texts by kind, as if one kind followed the other in a single sequence."""
    begins = dict(zip(texts, accumulate(map(len, texts.values()), initial=0), strict=False))
    count = -(-sum(map(len, texts.values())) // size)
    for first in range(count):
        yield {kind: of_kind[(first - begins[kind]) % count :: count] for kind, of_kind in texts.items()}


def find_spans(triples: Iterable[Triple], text: str) -> list[list[Span]]:
    """Find the spans of each triple's words in the text; none where no word of it occurs there.

    A triple's sentence is the one with most of its words. All places of these words in it count; a word that is
    elsewhere alone, such as a name that a pronoun refers to, counts where it occurs first.
    """
    places = _locate_words(text)
    words = ({found.group().casefold() for found in _WORD.finditer(str(triple))} for triple in triples)
    return [[span for _, span in _choose_spans(each, places)] for each in words]


def _locate_words(text: str) -> dict[str, list[tuple[int, Span]]]:
    """Locate each word: the number of the sentence, and the span in the text."""
    places = defaultdict(list)
    start = 0
    for number, end in enumerate([*(found.end() for found in _SENTENCE_END.finditer(text)), len(text)]):
        for found in _WORD.finditer(text, start, end):
            places[found.group().casefold()].append((number, found.span()))
        start = end
    return places


def _choose_spans(words: set[str], places: dict[str, list[tuple[int, Span]]]) -> Iterator[tuple[int, Span]]:
    present = [places[word] for word in sorted(words) if word in places]
    votes = Counter(number for each in present for number in {number for number, _ in each})
    sentence = min(votes, key=lambda number: (-votes[number], number), default=None)
    for each in present:
        yield from [place for place in each if place[0] == sentence] or each[:1]
