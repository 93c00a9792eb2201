"""Entities first, then triples between them: HippoRAG's sequential extraction (Gutiérrez et al., NeurIPS 2024).

A first call lists the named entities of a passage; a second sees the passage and that list and returns the triples.
GeAR's Table 10 compares this with one call for both, which is `LLMExtractor`. Ours: the prompts' words; what counts as
an entity, the rules for a fact and the examples are those of the joint prompt, so that a comparison shows what the
order of the work does and not what other examples do. (HippoRAG also lists dates as entities.)
"""

import json
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass, field
from functools import partial

from pydantic import BaseModel

from triplebeam.extract.extractor import Extraction, sort_out
from triplebeam.extract.llm import Entities, failed_extraction, in_batches
from triplebeam.generate.ask import Failed, Reply, ask_many
from triplebeam.generate.language_model import LanguageModel
from triplebeam.generate.parse import TripleRow
from triplebeam.generate.prompts import Template
from triplebeam.passage import Passage
from triplebeam_research.templates import load


class _Triples(BaseModel):
    triples: list[TripleRow]


@dataclass(frozen=True)
class TwoStepExtractor:
    """Asks a model twice per passage, ``batch_size`` passages at a time.

    A reply that cannot be used even after a correction, to either question, is a failure of its passage alone. An
    endpoint that cannot be used raises EndpointError, after the extractions before it.
    """

    model: LanguageModel
    batch_size: int = 16
    entities_template: Template = field(default_factory=partial(load, "extract_entities"), repr=False)
    triples_template: Template = field(default_factory=partial(load, "extract_triples"), repr=False)

    @property
    def name(self) -> str:
        """Changes with the model and with either prompt."""
        return f"llm-two-step:{self.model.name}:{self.entities_template.version}-{self.triples_template.version}"

    def extract(self, passages: Iterable[Passage]) -> Iterator[Extraction]:
        """Yield one extraction per passage, in order, a batch at a time."""
        return in_batches(passages, self.batch_size, self._extract_batch)

    def _extract_batch(self, passages: Sequence[Passage]) -> Iterator[Extraction]:
        named = self._name_entities(passages)
        prompts = [
            self.triples_template.fill(
                passage=passage.searchable, entities=json.dumps(first.entities, ensure_ascii=False)
            )
            for passage, first in zip(passages, named, strict=True)
            if first.failure is None
        ]
        replies = iter(ask_many(self.model, prompts, _Triples))
        for first in named:
            yield first if first.failure is not None else _extraction(first, next(replies))

    def _name_entities(self, passages: Sequence[Passage]) -> list[Extraction]:
        """Run the first step: extractions that hold entities or a failure, and no triples yet."""
        prompts = [self.entities_template.fill(passage=passage.searchable) for passage in passages]
        return [
            failed_extraction(passage.id, reply)
            if isinstance(reply, Failed)
            else sort_out(passage.id, (), reply.value.names)
            for passage, reply in zip(passages, ask_many(self.model, prompts, Entities), strict=True)
        ]


def _extraction(first: Extraction, reply: Reply[_Triples]) -> Extraction:
    """Join the second step's triples and the first step's entities."""
    if isinstance(reply, Failed):
        return failed_extraction(first.passage_id, reply)
    return sort_out(first.passage_id, reply.value.triples, first.entities)
