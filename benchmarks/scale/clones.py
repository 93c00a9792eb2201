"""Corpora of any size that look like real ones: clones of a real corpus, each with other names.

In a clone, capitalised words change places with others of about the same frequency, in texts, titles and triples alike.
So names recur as often as in the original, hubs stay hubs, and two clones share about as many names as unrelated pages
do: common ones often, rare ones hardly ever. The first clone is the original, to which the questions belong.
"""

import gzip
import json
import math
import random
import re
from collections import Counter, defaultdict
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass
from functools import cached_property, lru_cache
from pathlib import Path
from typing import Any

from triplebeam.extract.extractor import Extraction, sort_out
from triplebeam.passage import Document, Passage

DATASETS = ("musique", "2wikimultihopqa", "hotpotqa")
_TRIPLES = "triples.gpt-3.5-turbo-1106.jsonl.gz"
_WORD = re.compile(r"[^\W\d_]\w*")


@dataclass(frozen=True)
class Clones:
    """As many passages as wanted, and their triples: an extractor, too."""

    data: Path
    passages: int
    name = "clones:1"

    def documents(self) -> Iterator[Document]:
        """One per passage."""
        originals = list(self._corpus)
        for number in range(self.passages):
            clone, place = divmod(number, len(originals))
            row = originals[place]
            title, text = (self._renamed(clone, row[part]) for part in ("title", "text"))
            yield Document(id=f"{clone}/{row['id']}", title=title, text=text, is_passage=True)

    def extract(self, passages: Iterable[Passage]) -> Iterator[Extraction]:
        """Return the triples of the original, with the names of the clone."""
        for passage in passages:
            clone, original = passage.id.split("/", 1)
            triples = [[self._renamed(int(clone), part) for part in triple] for triple in self._triples[original]]
            yield sort_out(passage.id, triples, [])

    def questions(self, count: int) -> list[str]:
        """Development questions, as many from each dataset."""
        each = -(-count // len(DATASETS))
        rows = (self._rows(dataset, "questions.dev.jsonl.gz") for dataset in DATASETS)
        return [row["question"] for of_one in rows for row, _ in zip(of_one, range(each), strict=False)][:count]

    def _renamed(self, clone: int, text: str) -> str:
        if not clone:
            return text
        names = self._names(clone)
        return _WORD.sub(lambda found: names.get(found[0], found[0]), text)

    @lru_cache(maxsize=2)  # noqa: B019 - one object lives as long as the trial
    def _names(self, clone: int) -> Mapping[str, str]:
        """Each capitalised word's name in a clone."""
        names: dict[str, str] = {}
        for band, words in self._bands.items():
            shuffled = random.Random(f"{clone}/{band}").sample(words, len(words))
            names |= dict(zip(words, shuffled, strict=True))
        return names

    @cached_property
    def _bands(self) -> Mapping[int, list[str]]:
        """Capitalised words whose frequencies have one logarithm; a word that is mostly written small is none."""
        counts = Counter(word for row in self._corpus for word in _WORD.findall(f"{row['title']} {row['text']}"))
        bands: dict[int, list[str]] = defaultdict(list)
        for word, count in counts.items():
            if word[0].isupper() and counts[word[0].lower() + word[1:]] < count:
                bands[int(math.log2(count))].append(word)
        return bands

    @cached_property
    def _corpus(self) -> list[dict[str, Any]]:
        return [row for dataset in DATASETS for row in self._rows(dataset, "corpus.jsonl.gz")]

    @cached_property
    def _triples(self) -> Mapping[str, list[list[str]]]:
        return {row["passage_id"]: row["triples"] for dataset in DATASETS for row in self._rows(dataset, _TRIPLES)}

    def _rows(self, dataset: str, file: str) -> Iterator[dict[str, Any]]:
        with gzip.open(self.data / dataset / file, "rt", encoding="utf-8") as lines:
            yield from map(json.loads, lines)
