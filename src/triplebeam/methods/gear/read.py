"""GeAR, Eq. 1, 4 and 5: a reader turns retrieved passages into proximal triples, facts that help with the question,
and the gist memory is all of them, one step after the other.

Followed to the letter: the reader sees the passages and the query (Eq. 1) and, from the second step on, the gist of the
earlier steps (Eq. 4). Ours: the prompt's words and example, the reply as JSON, and a reply that cannot be used even
after a correction counts as no facts and is noted on the open account; a fact the gist holds
already is not added again, since it would be linked and counted twice in Eq. 9.
"""

from collections.abc import Sequence
from dataclasses import dataclass, field
from functools import partial
from typing import Protocol

from pydantic import BaseModel

from triplebeam.generate.language_model import LanguageModel
from triplebeam.generate.parse import TripleRow
from triplebeam.generate.prompts import Template, load, numbered_facts, numbered_passages
from triplebeam.methods.shared.usable_replies import usable_reply, usable_triples
from triplebeam.passage import Passages
from triplebeam.triple import Triple, entity_key


class Reader(Protocol):
    """read(C, q, G): what a model finds in the passages for this query. It looks up the passages' texts itself."""

    def read(self, query: str, passage_ids: Sequence[str], gist: Sequence[Triple] = ()) -> Sequence[Triple]:
        """The proximal triples, most helpful first; none where the passages do not help."""
        ...


class _Facts(BaseModel):
    facts: list[TripleRow]


@dataclass(frozen=True, kw_only=True)
class LLMReader:
    """A language model that reads."""

    model: LanguageModel
    passages: Passages = field(repr=False)
    template: Template = field(default_factory=partial(load, "gear/read"), repr=False)

    def read(self, query: str, passage_ids: Sequence[str], gist: Sequence[Triple] = ()) -> Sequence[Triple]:
        """Eq. 1, and with a gist Eq. 4."""
        if not passage_ids:
            return ()
        prompt = self.template.fill(
            passages=numbered_passages([self.passages[passage_id] for passage_id in passage_ids]),
            known=numbered_facts(gist),
            question=query,
        )
        reply = usable_reply(self.model, prompt, _Facts)
        return usable_triples(reply.facts) if reply else ()


def new_facts(read: Sequence[Triple], gist: Sequence[Triple]) -> tuple[Triple, ...]:
    """Eq. 5: what a step adds to the gist: facts it does not hold under the entities' normal form."""
    known = {_key(fact) for fact in gist}
    fresh: dict[tuple[str, ...], Triple] = {}
    for fact in read:
        if _key(fact) not in known:
            fresh.setdefault(_key(fact), fact)
    return tuple(fresh.values())


def _key(fact: Triple) -> tuple[str, ...]:
    return tuple(entity_key(part) for part in fact)
