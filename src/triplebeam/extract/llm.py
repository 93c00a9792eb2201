"""Triples and entities by asking a language model, one call a passage."""

import itertools
import json
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass, field, replace
from functools import partial
from typing import Annotated

from pydantic import BaseModel, BeforeValidator, ConfigDict, WithJsonSchema

from triplebeam.errors import EndpointError
from triplebeam.extract.extractor import Extraction, sort_out
from triplebeam.generate.language_model import Completion, LanguageModel, Prompt, PromptRefusedError
from triplebeam.generate.parse import parse
from triplebeam.generate.prompts import Template, load
from triplebeam.passage import Passage


def _as_row(value: object) -> list[str]:
    """A row of texts. What is no row of plain values becomes one part, so that it is put aside without the others."""
    if isinstance(value, list) and all(part is None or isinstance(part, str | int | float) for part in value):
        return ["" if part is None else str(part) for part in value]
    return [json.dumps(value)]


_THREE_TEXTS = {"type": "array", "items": {"type": "string"}, "minItems": 3, "maxItems": 3}


class _Reply(BaseModel):
    # No docstring: it would travel in the schema. The schema asks for rows of three; what comes is read tolerantly and
    # judged row by row by `sort_out`.
    model_config = ConfigDict(json_schema_extra={"additionalProperties": False}, coerce_numbers_to_str=True)

    entities: list[str]
    triples: list[Annotated[list[str], BeforeValidator(_as_row), WithJsonSchema(_THREE_TEXTS)]]


@dataclass(frozen=True)
class LLMExtractor:
    """Asks a model for the entities and triples of each passage, ``batch_size`` passages at a time.

    A reply that cannot be used is a failure of its passage alone. An endpoint that cannot be used raises EndpointError.
    """

    model: LanguageModel
    batch_size: int = 16
    template: Template = field(default_factory=partial(load, "extract"), repr=False)

    @property
    def name(self) -> str:
        """Changes with the model and with the prompt."""
        return f"llm:{self.model.name}:{self.template.version}"

    def extract(self, passages: Iterable[Passage]) -> Iterator[Extraction]:
        """One extraction a passage, in order, a batch at a time."""
        remaining = iter(passages)
        while batch := list(itertools.islice(remaining, self.batch_size)):
            yield from self._extract_batch(batch)

    def _extract_batch(self, passages: Sequence[Passage]) -> list[Extraction]:
        try:
            completions = self.model.complete([self._prompt(passage) for passage in passages])
        except PromptRefusedError as refusal:
            if len(passages) == 1:
                return [Extraction(passage_id=passages[0].id, failure=str(refusal))]
            # One passage is at fault, and the error does not say which: ask for each alone.
            return [extraction for passage in passages for extraction in self._extract_batch([passage])]
        return [_read(passage, reply) for passage, reply in zip(passages, completions, strict=True)]

    def _prompt(self, passage: Passage) -> Prompt:
        return replace(self.template.fill(passage=passage.searchable), schema=_Reply.model_json_schema())


def _read(passage: Passage, completion: Completion) -> Extraction:
    try:
        reply = parse(completion, _Reply)
    except EndpointError as error:
        return Extraction(passage_id=passage.id, failure=str(error))
    entities = [name.strip() for name in reply.entities]
    return sort_out(passage.id, reply.triples, [name for name in entities if name])
