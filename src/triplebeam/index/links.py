"""Links between documents, as pairs of passages."""

import json
from bisect import bisect_right
from collections.abc import Iterable, Iterator


def linked_passages(
    documents: Iterable[tuple[int, str, str, str]], passages: Iterable[tuple[int, int, int]]
) -> Iterator[tuple[int, int]]:
    """Pairs of numbers of passages, each once and none with itself, in the order of the documents.

    ``documents`` are rows of number, id, anchors and links (JSON); ``passages`` of document, start and number.
    """
    listed = list(documents)
    numbers = {id_: number for number, id_, _, _ in listed}
    anchors = {number: json.loads(text) for number, _, text, _ in listed if text != "{}"}
    places: dict[int, tuple[list[int], list[int]]] = {}
    for document, start, passage in passages:
        starts, ids = places.setdefault(document, ([], []))
        starts.append(start)
        ids.append(passage)

    def at(document: int, offset: int) -> int | None:
        starts, ids = places.get(document, ([], []))
        return ids[max(0, bisect_right(starts, offset) - 1)] if ids else None

    for number, _, _, links in listed:
        pairs: dict[tuple[int, int], None] = {}
        for start, target in json.loads(links):
            id_, _, anchor = target.partition("#")
            other = numbers.get(target, numbers.get(id_))
            if other is None:
                continue
            here, there = at(number, start), at(other, anchors.get(other, {}).get(anchor, 0))
            if here is not None and there is not None and here != there:
                pairs[here, there] = None
        yield from pairs
