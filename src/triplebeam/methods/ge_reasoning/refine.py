"""GE-Reasoning, section 3.4: passages are refined to the triplets that bear on a sub-question.

Followed to the letter: triplets are extracted from each passage by itself, then all of them are filtered. The switches
are the paper's ablation and our option: without ``filtering`` all triplets are kept, with ``triples`` those that the
index holds of the passages are taken, which saves one call per passage. Ours: triplets are chosen by number, and what
cannot be used of the replies is noted.
"""

from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field, replace
from functools import partial

from pydantic import BaseModel

from triplebeam.generate.language_model import LanguageModel
from triplebeam.generate.parse import TripleRow
from triplebeam.generate.prompts import Template, load
from triplebeam.index.protocols import TripleStore
from triplebeam.methods.shared.facts import Fact
from triplebeam.methods.shared.replies import LLMTripleFilter, filter_triples, request_replies
from triplebeam.passage import Passages
from triplebeam.support import find_support


class _Reply(BaseModel):
    triplets: list[TripleRow]


@dataclass(frozen=True, kw_only=True)
class Refinement:
    """KnowledgeRefine of Algorithm 1."""

    model: LanguageModel
    passages: Passages = field(repr=False)
    triples: TripleStore | None = field(default=None, repr=False)
    filtering: bool = True
    extract_template: Template = field(default_factory=partial(load, "ge_reasoning/extract"), repr=False)
    filter_template: Template = field(default_factory=partial(load, "ge_reasoning/filter"), repr=False)

    def refine(self, passage_ids: Sequence[str], sub_question: str) -> list[Fact]:
        """Return the facts that help with the sub-question, each once with its words, the better passage's first."""
        found = (
            self._extract_facts(passage_ids) if self.triples is None else self._load_facts(self.triples, passage_ids)
        )
        facts = list({fact.triple: fact for fact in reversed(list(found))}.values())[::-1]
        if facts and self.filtering:
            chosen = LLMTripleFilter(model=self.model, template=self.filter_template)
            facts = [facts[number] for number in chosen.keep(sub_question, [fact.triple for fact in facts])]
        return [replace(fact, span=find_support(fact.triple, self.passages[fact.passage_id])) for fact in facts]

    def _extract_facts(self, passage_ids: Sequence[str]) -> Iterator[Fact]:
        prompts = [self.extract_template.fill(passage=self.passages[id_].searchable) for id_ in passage_ids]
        for id_, reply in zip(passage_ids, request_replies(self.model, prompts, _Reply), strict=True):
            yield from (Fact(triple, id_) for triple in (filter_triples(reply.value.triplets) if reply else ()))

    def _load_facts(self, triples: TripleStore, passage_ids: Sequence[str]) -> Iterator[Fact]:
        stored = triples.triples_of(passage_ids)
        for number, id_ in zip(stored, triples.passage_of(stored), strict=True):
            yield Fact(triples.triple(int(number)), id_)
