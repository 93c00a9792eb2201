"""Triples and entities by asking a language model, one call a passage and a second where the reply is no use."""

import itertools
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass, field
from functools import partial

from pydantic import BaseModel, ConfigDict

from triplebeam.extract.extractor import Extraction, sort_out
from triplebeam.extract.triple_row import TripleRow
from triplebeam.generate.ask import Failed, Reply, ask_many
from triplebeam.generate.language_model import LanguageModel
from triplebeam.generate.prompts import Template, load
from triplebeam.passage import Passage


class _Reply(BaseModel):
    # No docstring: it would travel in the schema.
    model_config = ConfigDict(coerce_numbers_to_str=True)

    entities: list[str]
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
        """One extraction a passage, in order, a batch at a time."""
        remaining = iter(passages)
        while batch := list(itertools.islice(remaining, self.batch_size)):
            yield from self._extract_batch(batch)

    def _extract_batch(self, passages: Sequence[Passage]) -> Iterator[Extraction]:
        prompts = [self.template.fill(passage=passage.searchable) for passage in passages]
        for passage, reply in zip(passages, ask_many(self.model, prompts, _Reply), strict=True):
            if isinstance(reply, Failed) and reply.endpoint_gone:
                raise reply.error
            yield _extraction(passage.id, reply)


def _extraction(passage_id: str, reply: Reply[_Reply]) -> Extraction:
    if isinstance(reply, Failed):
        return Extraction(passage_id=passage_id, failure=str(reply.error))
    entities = [name.strip() for name in reply.value.entities]
    return sort_out(passage_id, reply.value.triples, [name for name in entities if name])
