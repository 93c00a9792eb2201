"""A document and the passages it is cut into: what is searched, ranked and quoted."""

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Protocol

#: The most tokens a passage has, unless the user sets another number.
PASSAGE_TOKENS = 200


@dataclass(frozen=True, slots=True, kw_only=True)
class Document:
    """One source text, as its reader returned it. Passages point into ``text`` by character offsets."""

    id: str
    text: str
    title: str = ""
    metadata: Mapping[str, str] = field(default_factory=dict)
    is_passage: bool = False
    """The document is a passage already (a line of JSON, a BEIR row) and is not cut unless the user asks for it."""


@dataclass(frozen=True, slots=True)
class Passage:
    """A span of a document. Its id comes from the document, never from a hash of the text."""

    id: str
    text: str
    title: str = ""
    document_id: str = ""
    position: int = 0
    start: int = 0
    end: int = 0
    metadata: Mapping[str, str] = field(default_factory=dict)

    @property
    def searchable(self) -> str:
        """The text that is embedded: the title, then the passage."""
        return f"{self.title}\n{self.text}" if self.title else self.text

    @property
    def term_text(self) -> str:
        """The text that goes into the term index: a word of the title counts twice."""
        return f"{self.title}\n{self.searchable}" if self.title else self.text


class Passages(Protocol):
    """Texts by id: an open index is one."""

    def __getitem__(self, passage_id: str, /) -> Passage:
        """The passage of that id."""
        ...
