"""What a list of passages says of each: its heading, where it is, and which others have nearly the same text."""

from collections import Counter
from collections.abc import Iterable, Sequence

from triplebeam.passage import Passage
from triplebeam.text.names import entity_key

#: Two texts are nearly the same if they share this part of all their runs of this length, in words.
_MIN_JACCARD, _SHINGLE_WORDS = 0.9, 3


def place_dict(passage: Passage) -> dict[str, object]:
    """Return a passage and where it is, as JSON values."""
    return {
        "id": passage.id,
        "title": passage.title,
        "section": passage.section,
        "document_id": passage.document_id,
        "path": path_of(passage),
        "position": passage.position,
        "text": passage.text,
    }


def path_of(passage: Passage) -> str:
    """Return the file a passage comes from; of a row, the id of its document."""
    return passage.metadata.get("path") or passage.document_id


def heading(passage: Passage) -> str:
    """Write title and section, as in ``Handbook › Options``."""
    return " › ".join(filter(None, (passage.title or passage.id, passage.section)))


def headings(passages: Iterable[Passage]) -> list[str]:
    """Write the heading of each; where several have the same, also file or position."""
    passages = list(passages)
    places = Counter((heading(passage), passage.document_id) for passage in passages)
    documents = Counter(written for written, _ in places)
    distinct = []
    for passage in passages:
        written = heading(passage)
        notes = [path_of(passage)] if documents[written] > 1 else []
        notes += [f"passage {passage.position + 1}"] if places[written, passage.document_id] > 1 else []
        distinct.append(f"{written} ({', '.join(notes)})" if notes else written)
    return distinct


def first_alike(texts: Sequence[str]) -> list[int | None]:
    """Find for each text the place of the first one before it that is nearly the same; None where there is none.

    Two texts are nearly the same if of all runs of three words in either, nine tenths are in both.
    """
    shingles = [_shingles(text) for text in texts]
    alike: list[int | None] = []
    for place, own in enumerate(shingles):
        firsts = (other for other in range(place) if alike[other] is None)
        alike.append(next((other for other in firsts if _are_alike(own, shingles[other])), None))
    return alike


def _shingles(text: str) -> frozenset[tuple[str, ...]]:
    words = entity_key(text).split()
    return frozenset(
        tuple(words[start : start + _SHINGLE_WORDS]) for start in range(max(1, len(words) - _SHINGLE_WORDS + 1))
    )


def _are_alike(one: frozenset[tuple[str, ...]], other: frozenset[tuple[str, ...]]) -> bool:
    if min(len(one), len(other)) < _MIN_JACCARD * max(len(one), len(other)):
        return False
    return len(one & other) >= _MIN_JACCARD * len(one | other)
