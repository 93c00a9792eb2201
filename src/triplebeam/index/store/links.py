"""Links between documents, as pairs of passages."""

import json
import posixpath
from bisect import bisect_right
from collections.abc import Iterable, Iterator, Mapping

#: What addresses of pages leave out: the ending, and the name of the page that stands for its folder.
_PAGE_ENDINGS = (".md", ".markdown", ".html", ".htm", ".xhtml", ".rst", ".adoc", ".asciidoc", ".txt")
_FOLDER_PAGES = ("index", "_index", "readme")
#: Fewer parts at the end of an address are a file's name, which other files may have too.
_MIN_PARTS = 2
#: As in ``/project/en/latest/guide/setup``.
_MAX_LEFT_OUT = 3


def find_linked_passages(
    documents: Iterable[tuple[int, str, str, str]], passages: Iterable[tuple[int, int, int]]
) -> Iterator[tuple[int, int]]:
    """Yield pairs of numbers of passages, each once and none with itself, in the order of the documents.

    ``documents`` are rows of number, id, anchors and links (JSON); ``passages`` of document, start and number.
    """
    listed = list(documents)
    numbers = {id_: number for number, id_, _, _ in listed}
    pages: dict[str, int | None] = {}
    for id_, number in numbers.items() if any(links != "[]" for *_, links in listed) else ():
        page = _page(id_)
        pages[page] = None if page in pages else number  # None: two documents have this page
    anchors = {number: json.loads(text) for number, _, text, _ in listed if text != "{}"}
    labels: dict[str, int | None] = {}
    for number, anchor in ((number, anchor) for number, named in anchors.items() for anchor in named):
        labels[anchor] = None if anchor in labels else number  # None: two documents have this anchor
    places: dict[int, tuple[list[int], list[int]]] = {}
    for document, start, passage in passages:
        starts, ids = places.setdefault(document, ([], []))
        starts.append(start)
        ids.append(passage)

    def find_passage(document: int, offset: int) -> int | None:
        starts, ids = places.get(document, ([], []))
        return ids[max(0, bisect_right(starts, offset) - 1)] if ids else None

    for number, origin, _, links in listed:
        pairs: dict[tuple[int, int], None] = {}
        for start, target in json.loads(links):
            id_, _, anchor = target.partition("#")
            other = numbers.get(target, _find_target(id_, origin, numbers, pages))
            if other == number and anchor and anchor not in anchors.get(number, {}):
                other = labels.get(anchor)  # a label of Sphinx is known in all documents
            if other is None:
                continue
            here, there = find_passage(number, start), find_passage(other, anchors.get(other, {}).get(anchor, 0))
            if here is not None and there is not None and here != there:
                pairs[here, there] = None
        yield from pairs


def _find_target(target: str, origin: str, numbers: Mapping[str, int], pages: Mapping[str, int | None]) -> int | None:
    """Find the document that a link of the document ``origin`` leads to.

    That is the one of this id, else the one page that differs from it in its ending alone. What begins with a slash is
    looked up below each folder above the origin, the outermost first: one of these is the root of its site. At last up
    to three of its first parts are left out, since a site may show its folder below another address.
    """
    if target in numbers:
        return numbers[target]
    if not target.startswith("/"):
        return pages.get(_page(target))
    parts = _page(target).strip("/").split("/")
    shorter = (parts[first:] for first in range(1, min(_MAX_LEFT_OUT, len(parts) - _MIN_PARTS) + 1))
    roots = _folders_above(origin)
    addresses = (posixpath.join(root, *rest).rstrip("/") for rest in (parts, *shorter) for root in roots)
    return next((pages[each] for each in addresses if each in pages), None)


def _page(path: str) -> str:
    """Return a path without what an address of it leaves out: ``guide`` of ``guide/index.md`` and of ``guide.html``."""
    path = path.rstrip("/")
    stem, ending = posixpath.splitext(path)
    path = stem if ending.lower() in _PAGE_ENDINGS else path
    folder, name = posixpath.split(path)
    return folder if name.lower() in _FOLDER_PAGES else path


def _folders_above(path: str) -> list[str]:
    """Return the folders that a path is in, the outermost first."""
    folders = [posixpath.dirname(path)]
    while folders[-1] not in ("", "/"):
        folders.append(posixpath.dirname(folders[-1]))
    return folders[::-1]
