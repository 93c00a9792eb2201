"""Parts of a file that were read one by one, as one text."""

from collections.abc import Iterable

from triplebeam.ingest.text import Content
from triplebeam.passage import Heading, Link

_BETWEEN = "\n\n"


def joined(parts: Iterable[Content]) -> Content:
    """The parts in a row, their headings and links moved to where they are now."""
    texts: list[str] = []
    headings: list[Heading] = []
    links: list[Link] = []
    length = 0
    for part in parts:
        if part.text:
            headings += [heading._replace(start=heading.start + length) for heading in part.headings]
            links += [link._replace(start=link.start + length) for link in part.links]
            texts.append(part.text)
            length += len(part.text) + len(_BETWEEN)
    return Content(_BETWEEN.join(texts), headings=tuple(headings), links=tuple(links))
