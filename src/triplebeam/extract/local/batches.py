"""Batches of passages as lines of JSON, for workers: in other processes of this machine, or on other machines."""

import json
from collections.abc import Callable, Iterable, Iterator, Sequence
from itertools import islice
from pathlib import Path

from triplebeam.extract.extractor import Extraction, sort_out
from triplebeam.extract.local.facts import extract_passages, load_parser
from triplebeam.passage import Passage

BATCH = 64


def batches(passages: Iterable[Passage]) -> Iterator[list[Passage]]:
    """All passages, a batch at a time."""
    source = iter(passages)
    while batch := list(islice(source, BATCH)):
        yield batch


def batch_line(batch: Sequence[Passage]) -> str:
    """A batch as a worker gets it."""
    kinds = (passage.metadata.get("type", "") for passage in batch)
    rows = [(each.id, each.text, each.title, each.position, kind) for each, kind in zip(batch, kinds, strict=True)]
    return json.dumps(rows)


def parsing(folder: Path) -> Callable[[str], str]:
    """What a worker does, with the parser of a folder: a line of passages in, a line of extractions out."""
    nlp = load_parser(folder)

    def parse(line: str) -> str:
        passages = [
            Passage(id=passage_id, text=text, title=title, position=position, metadata={"type": kind})
            for passage_id, text, title, position, kind in json.loads(line)
        ]
        rows = [
            (found.passage_id, found.triples, found.entities, found.failure, found.unread_language)
            for found in extract_passages(nlp, passages)
        ]
        return json.dumps(rows)

    return parse


def extractions(line: str) -> list[Extraction]:
    """What a worker returned."""
    return [_extraction(*row) for row in json.loads(line)]


def _extraction(
    passage_id: str, triples: list[list[str]], entities: list[str], failure: str | None, language: str | None
) -> Extraction:
    if failure is None and language is None:
        return sort_out(passage_id, triples, entities)
    return Extraction(passage_id=passage_id, failure=failure, unread_language=language)
