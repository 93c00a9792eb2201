"""Keywords of a passage, from a model: what GNN-Ret's keyword edges are made of in its paper (section 3.1).

Passages that share a keyword are joined, so names must be canonical; the prompt, whose words are ours, asks for that.
Triples come from another extractor, as they are; keywords replace the entities it lists. Without this the
ends of the triples are the keywords, which costs no call.
"""

from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass, field, replace
from functools import partial

from triplebeam.extract.extractor import KEYWORDS_MARK, Extraction, Extractor
from triplebeam.extract.llm import Entities, failed_extraction, in_batches
from triplebeam.generate.ask import Failed, ask_many
from triplebeam.generate.language_model import LanguageModel
from triplebeam.generate.prompts import Template
from triplebeam.passage import Passage
from triplebeam_research.templates import load


@dataclass(frozen=True)
class WithKeywords:
    """Another extractor's triples, and one call per passage for its keywords.

    A reply that cannot be used even after a correction is a failure of its passage, which is retried with
    ``--retry-failed``.
    """

    extractor: Extractor
    model: LanguageModel
    batch_size: int = 16
    template: Template = field(default_factory=partial(load, "keywords"), repr=False)

    @property
    def name(self) -> str:
        """Changes with the other extractor, the model and the prompt."""
        return f"{self.extractor.name}{KEYWORDS_MARK}{self.model.name}:{self.template.version}"

    def extract(self, passages: Iterable[Passage]) -> Iterator[Extraction]:
        """Yield one extraction per passage, in order, a batch at a time."""
        return in_batches(passages, self.batch_size, self._extract_batch)

    def _extract_batch(self, passages: Sequence[Passage]) -> Iterator[Extraction]:
        prompts = [self.template.fill(passage=passage.searchable) for passage in passages]
        replies = ask_many(self.model, prompts, Entities)
        for extraction, reply in zip(self.extractor.extract(passages), replies, strict=True):
            if extraction.failure is not None:
                yield extraction
            elif isinstance(reply, Failed):
                yield failed_extraction(extraction.passage_id, reply)
            else:
                yield replace(extraction, entities=tuple(dict.fromkeys(reply.value.names)))
