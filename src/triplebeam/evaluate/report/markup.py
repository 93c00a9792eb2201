"""Elements of HTML and SVG from escaped text: whatever is not `Markup` is escaped when it goes into an element."""

import html
from collections.abc import Iterable


class Markup(str):
    """Text that is markup already."""

    __slots__ = ()


def element(tag: str, *children: str, **attributes: str | float) -> Markup:
    """``<tag attributes>children</tag>``. ``class_`` is ``class``, other underscores hyphens; numbers are rounded."""
    words = "".join(f' {_name(name)}="{_value(value)}"' for name, value in attributes.items())
    return Markup(f"<{tag}{words}>{joined(children)}</{tag}>")


def joined(children: Iterable[str]) -> Markup:
    """Pieces one after the other."""
    return Markup("".join(child if isinstance(child, Markup) else html.escape(child) for child in children))


def _name(name: str) -> str:
    return name.rstrip("_").replace("_", "-")


def _value(value: str | float) -> str:
    return html.escape(value) if isinstance(value, str) else f"{value:.2f}".rstrip("0").rstrip(".")
