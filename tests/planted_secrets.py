"""A corpus with secrets: hidden documents through which every chain to a secret passes, and a model that looks for it.

Whatever only a hidden document has begins with ``zqx``: ids, titles, headings, names, predicates, metadata. One name is
visible in one spelling and hidden in another, under which the whole index knows it.
"""

import json
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

from triplebeam.generate.language_model import Completion, Prompt, TokenLogProbability, Usage
from triplebeam.index.folder.publish import Publisher
from triplebeam.passage import Document, Heading, Link
from written_facts import written_builder

WHERE = 'group = "open"'
SECRETS = ("zqx", "MILL-HARBOUR")
QUESTION = "Who guards the vault below Mill Harbour, where Ada Lovelace works?"
#: The triples are written in the texts, a line each.
_HIDDEN = {
    "zqx-first.md": ("Zqxtitle", "MILL-HARBOUR | stands above | Zqxvault\nZqxvault | is guarded by | Zqxguard"),
    "zqx-second.md": (
        "Mill Harbour",
        "Ada Lovelace | zqxguards the vault below | Mill Harbour\nMill Harbour | hides | Zqxplan",
    ),
    "zqx-third.md": ("Zqxguard", "Zqxguard | was born in | Bath\nAda Lovelace | knows | Zqxguard\nseen: Zqxguard"),
}
_VISIBLE = {
    "ada.md": ("Ada Lovelace", "Ada Lovelace | works at | Mill Harbour\nAda Lovelace | lives in | Bath"),
    "mill.md": ("Mill Harbour", "Mill Harbour | stands in | Bath\nMill Harbour | was built in | 1781"),
    "bath.md": ("Bath", "Bath | lies in | Somerset\nBath | has | a vault\nseen: Mill Harbour"),
    "guard.md": ("Night watch", "The night watch | guards | Bath\nseen: Ada Lovelace"),
}


def documents() -> list[Document]:
    """The hidden ones come first, so that names are known by their spellings."""
    hidden = [
        _document(id_, *row, group="zqxclosed", zqxfield="zqxvalue", links=("mill.md", "ada.md"))
        for id_, row in _HIDDEN.items()
    ]
    kinds = ("person", "place", "place", "person")
    rows = zip(_VISIBLE.items(), kinds, strict=True)
    return hidden + [_document(id_, *row, links=("zqx-first.md", "bath.md"), kind=kind) for (id_, row), kind in rows]


def _document(
    id_: str, title: str, text: str, group: str = "open", links: Sequence[str] = (), **metadata: str
) -> Document:
    heading = "Zqxheading of things" if group != "open" else "The place of work"
    return Document(
        id=id_,
        title=title,
        text=f"{heading}\n{text}",
        metadata={"group": group, "path": id_, "year": "2020", **metadata},
        headings=(Heading(0, 1, heading),),
        links=tuple(Link(0, target) for target in links),
    )


def build(folder: Path, publisher: Publisher | None = None) -> None:
    written_builder(folder, publisher=publisher).build(documents())


def find_leaks(*written: object) -> list[str]:
    """The secrets in anything that was written, printed or sent."""
    texts = [each if isinstance(each, str) else json.dumps(each, default=repr, ensure_ascii=False) for each in written]
    return [secret for secret in SECRETS for text in texts if secret in text or secret in text.casefold()]


class Curious:
    """A model that never has enough: it asks on, in whatever form is wanted, and remembers every prompt."""

    name = "curious"

    def __init__(self) -> None:
        self.prompts: list[Prompt] = []

    def complete(self, prompts: Sequence[Prompt]) -> list[Completion]:
        return [self._reply(prompt) for prompt in prompts]

    def _reply(self, prompt: Prompt) -> Completion:
        self.prompts.append(prompt)
        schema: Mapping[str, Any] = prompt.schema or {}
        text = json.dumps(self._of_form(schema, schema)) if schema else f"{self._words()} So the answer is: Bath."
        tokens = tuple(TokenLogProbability(word, -2.0) for word in text.split(" "))
        return Completion(text=text, usage=Usage(calls=1), log_probabilities=tokens)

    def _words(self) -> str:
        places = ("Mill Harbour", "the vault", "Ada Lovelace", "the guard of Bath")
        return f"What does {places[len(self.prompts) % len(places)]} hide {len(self.prompts)}?"

    def _of_form(self, schema: Mapping[str, Any], whole: Mapping[str, Any]) -> Any:
        if "$ref" in schema:
            return self._of_form(whole["$defs"][schema["$ref"].rsplit("/", 1)[1]], whole)
        if "anyOf" in schema:
            return self._of_form(schema["anyOf"][0], whole)
        if "enum" in schema:
            return schema["enum"][0]
        match schema.get("type"):
            case "object":
                wanted = {name: its for name, its in schema.get("properties", {}).items() if name != "premise"}
                return {name: self._of_form(its, whole) for name, its in wanted.items()}
            case "array":
                size = schema.get("minItems", 1)
                return [self._of_form(schema.get("items") or {}, whole) for _ in range(size)]
            case "boolean":
                return False
            case "integer" | "number":
                return 1
            case _:
                return self._words()

    def said(self) -> str:
        """Everything that it was sent."""
        return "\n".join(f"{prompt.system}\n{prompt.user}\n{prompt.correction}" for prompt in self.prompts)
