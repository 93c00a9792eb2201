"""JSON that ends too early, as some endpoints let a reply end without saying that it was cut off.

Repairing such a text would take half a name or half a year for a whole one. So the item that was not finished goes: the
triple of a list of triples, the name of a list of names, the field of an object.
"""

import re
from dataclasses import dataclass

_TOKEN = re.compile(r'"(?:[^"\\]|\\.)*+(?P<closed>"?)|[\[\]{},]', re.DOTALL)
#: The end of an object that prose follows. A brace inside a text seldom follows a quotation mark or a bracket, and
#: what follows one inside an object is a comma or another bracket.
_CLOSED = re.compile(r"""(?:(?<!\\)["'](?:\s*+:\s*+[\w.+-]++)?|\])(?:\s*+\})++(?=\s*+[^\s,\]{"])""")
#: The object, one of its lists, and the items of that.
_ITEM_DEPTH = 2


@dataclass(slots=True)
class _Level:
    """An open bracket, and where the item that is being written in it begins."""

    bracket: str
    item: int

    def is_whole(self, text: str) -> bool:
        """Return whether the item ends where the text does. A number may go on, and a field has more than its name."""
        has_value = self.bracket == "[" or ":" in text[self.item :]
        return text.endswith(('"', "]", "}")) and has_value


def drop_cut_item(text: str) -> str:
    """Return the text up to its last whole item; as it is where its brackets are closed.

    A quotation mark too many turns texts and brackets inside out, so an end before prose is looked for first.
    """
    text = text.rstrip("` \n")
    if text.endswith("}"):
        return text
    if end := _CLOSED.search(text):
        return text[: end.end()]
    levels: list[_Level] = []
    closed = True
    for token in _TOKEN.finditer(text):
        sign = token[0][0]
        if sign in "[{":
            levels.append(_Level(sign, token.end()))
        elif sign in "]}" and levels:
            levels.pop()
            if not levels:  # what follows is prose
                return text
        elif sign == "," and levels:
            levels[-1].item = token.end()
        elif sign == '"':
            closed = bool(token["closed"])
    if len(levels) > _ITEM_DEPTH:
        return text[: levels[_ITEM_DEPTH - 1].item]
    return text if not levels or (closed and levels[-1].is_whole(text)) else text[: levels[-1].item]
