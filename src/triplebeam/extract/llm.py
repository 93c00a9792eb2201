"""Triples and entities by asking a language model, one call per passage and a second where the reply cannot be used."""

import itertools
from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import dataclass, field
from functools import partial

from pydantic import BaseModel

from triplebeam.extract.extractor import Extraction, sort_out
from triplebeam.generate.ask import Failed, ask_many
from triplebeam.generate.language_model import LanguageModel
from triplebeam.generate.parse import Text, TripleRow
from triplebeam.generate.prompts import Template, load
from triplebeam.passage import Passage


class Entities(BaseModel):
    # What a model names. No docstring: it would become part of the schema.
    entities: list[Text]

    @property
    def names(self) -> list[str]:
        """Without white space around them; empty ones are left out."""
        return [name for name in map(str.strip, self.entities) if name]


class _Reply(Entities):
    triples: list[TripleRow]


@dataclass(frozen=True)
class LLMExtractor:
    """Asks a model for the entities and triples of each passage, ``batch_size`` passages at a time.

    A reply that cannot be used even after a correction is a failure of its passage alone. An endpoint that cannot be
    used raises EndpointError, after the extractions before it.
    """

    model: LanguageModel
    batch_size: int = 16
    template: Template = field(default_factory=partial(load, "extract"), repr=False)

    @property
    def name(self) -> str:
        """Changes with the model and with the prompt."""
        return f"llm:{self.model.name}:{self.template.version}"

    def extract(self, passages: Iterable[Passage]) -> Iterator[Extraction]:
        """One extraction per passage, in order, a batch at a time."""
        return in_batches(passages, self.batch_size, self._extract_batch)

    def _extract_batch(self, passages: Sequence[Passage]) -> Iterator[Extraction]:
        prompts = [self.template.fill(passage=passage.searchable) for passage in passages]
        for passage, reply in zip(passages, ask_many(self.model, prompts, _Reply), strict=True):
            if isinstance(reply, Failed):
                yield failed_extraction(passage.id, reply)
            else:
                yield sort_out(passage.id, reply.value.triples, reply.value.names)


def in_batches(
    passages: Iterable[Passage], size: int, extract_batch: Callable[[Sequence[Passage]], Iterator[Extraction]]
) -> Iterator[Extraction]:
    """Return the extractions of all passages, ``size`` passages at a time."""
    remaining = iter(passages)
    while batch := list(itertools.islice(remaining, size)):
        yield from extract_batch(batch)


def failed_extraction(passage_id: str, reply: Failed) -> Extraction:
    """Return a failure of this passage alone; raise one of the endpoint."""
    if reply.endpoint_gone:
        raise reply.error
    return Extraction(passage_id=passage_id, failure=str(reply.error))
