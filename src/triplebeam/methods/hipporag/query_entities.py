"""What a query names, as a model says: the entities from which HippoRAG starts.

`LLMQueryEntities` asks a model, as the paper does. `GivenQueryEntities` reads what a model said once from a file.
`VerbatimEntities`, in `hipporag.py`, needs no model.
"""

import gzip
import zlib
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from functools import cached_property, partial
from pathlib import Path

from pydantic import BaseModel, ValidationError

from triplebeam.errors import BadInputError
from triplebeam.generate.language_model import LanguageModel
from triplebeam.generate.parse import Text
from triplebeam.generate.prompts import Template, load


class _Names(BaseModel):
    entities: list[Text]


class _Row(_Names):
    question: str


def _tidy(names: Sequence[str]) -> list[str]:
    return list(dict.fromkeys(name.strip() for name in names if name.strip()))


@dataclass(frozen=True, kw_only=True)
class LLMQueryEntities:
    """A model names them. A reply that cannot be used even after a correction counts as none, and is noted."""

    model: LanguageModel
    template: Template = field(default_factory=partial(load, "hipporag/query_entities"), repr=False)

    def entities(self, query: str) -> Sequence[str]:
        """Call the model once; none for a query without words."""
        if not query.strip():
            return []
        from triplebeam.methods.shared.replies import request_reply  # for those who ask a model

        reply = request_reply(self.model, self.template.fill(question=query), _Names)
        if reply is None:
            return []
        return _tidy(reply.entities)


@dataclass(frozen=True)
class GivenQueryEntities:
    """Entities from JSON lines, plain or ``.gz``: ``{"id", "question", "entities": [...]}``, found by the question.

    A question that is there twice has the entities of both rows.
    """

    path: Path

    def entities(self, query: str) -> Sequence[str]:
        """Return the entities that the file has for this question; a missing question is an error."""
        if query.strip() not in self._by_question:
            raise BadInputError(
                f"{self.path} has no entities for the question {query!r}: add a row for it, or let a model find them."
            )
        return self._by_question[query.strip()]

    @cached_property
    def _by_question(self) -> Mapping[str, list[str]]:
        found: dict[str, list[str]] = {}
        for number, line in self._lines():
            try:
                row = _Row.model_validate_json(line)
            except ValidationError as error:
                raise BadInputError(
                    f'{self.path}, line {number} is no row of "question" (a text) and "entities" (a list of texts):'
                    f" {error.errors()[0]['msg']}."
                ) from None
            question = row.question.strip()
            found[question] = _tidy([*found.get(question, []), *row.entities])
        return found

    def _lines(self) -> Iterator[tuple[int, str]]:
        opened = gzip.open if self.path.suffix == ".gz" else open
        try:
            with opened(self.path, "rt", encoding="utf-8") as file:
                yield from ((number, line) for number, line in enumerate(file, start=1) if line.strip())
        except (OSError, EOFError, zlib.error, UnicodeDecodeError) as error:
            raise BadInputError(f"the entities in {self.path} cannot be read ({error}): name another file.") from error
