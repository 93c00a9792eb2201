"""References from a passage to one in another document: it links there, or names a term that is defined there."""

from collections.abc import Iterable, Iterator, Mapping, Sequence

import numpy as np
from numpy.typing import NDArray

from triplebeam.index.content.definitions import Definition
from triplebeam.text.names import entity_key

#: Where they are stored, in the order of the passages that refer.
REFERENCES = "passage_references"
#: In the place of a term, where there is a link.
LINK = -1


def find_references(
    documents: Sequence[str],
    names: Iterable[tuple[int, str]],
    defined: Mapping[str, Definition],
    numbers: Mapping[str, int],
    links: Iterable[tuple[int, int]],
) -> NDArray[np.int64]:
    """Find references as rows of three: a passage, the passage it refers to, and the number of the term or ``LINK``.

    A document that defines a term itself means its own. A link to where a named term is defined says nothing more.
    """
    named = set(_find_named(documents, names, defined, numbers))
    joined = {(here, there) for here, there, _ in named}
    linked = {(here, there, LINK) for here, there in links if documents[here] != documents[there]}
    found = named | {link for link in linked if link[:2] not in joined}
    return np.array(sorted(found), np.int64).reshape(-1, 3)


def _find_named(
    documents: Sequence[str],
    names: Iterable[tuple[int, str]],
    defined: Mapping[str, Definition],
    numbers: Mapping[str, int],
) -> Iterator[tuple[int, int, int]]:
    for here, name in names:
        definition = defined.get(key := entity_key(name))
        if definition is None or not definition.is_named(name):
            continue
        if documents[here] not in {documents[row] for row in definition.rows}:
            yield from ((here, there, numbers[key]) for there in definition.rows)
