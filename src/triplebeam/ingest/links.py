"""Links of a file, as ids of the documents they lead to."""

import posixpath
from collections.abc import Iterable
from urllib.parse import unquote, urlsplit

from triplebeam.passage import Link
from triplebeam.text import storable

_MOST = 2000


def document_links(links: Iterable[Link], document_id: str) -> tuple[Link, ...]:
    """Links to files beside this one, whose ids are paths too, and to anchors inside it; to other sites there are none.

    A link that leads to the place where it is itself, or twice to one place from one paragraph, says nothing new, and
    is left to whoever joins passages: here nothing is looked up.
    """
    folder = posixpath.dirname(document_id)
    found = (Link(link.start, target) for link in links if (target := _target(link.target, folder, document_id)))
    return tuple(link for link, _ in zip(found, range(_MOST), strict=False))


def _target(address: str, folder: str, document_id: str) -> str:
    try:
        parts = urlsplit(address.strip())
    except ValueError:  # "http://[half an address"
        return ""
    if parts.scheme or parts.netloc or not (parts.path or parts.fragment):
        return ""
    anchor = f"#{unquote(parts.fragment)}" if parts.fragment else ""
    path = posixpath.normpath(posixpath.join(folder, unquote(parts.path))) if parts.path else document_id
    return storable(path + anchor)
