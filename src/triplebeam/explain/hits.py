"""What explains the hits of a question: chains of facts, else references between them, else links; and snippets."""

from collections.abc import Sequence
from typing import NamedTuple

from triplebeam.explain.cross_references import CrossReferences, telling_facts
from triplebeam.explain.explanation import Explanation
from triplebeam.explain.passages import first_alike
from triplebeam.explain.snippet import Snippet, snippet
from triplebeam.index.protocols import Source
from triplebeam.passage import Passage
from triplebeam.ranking import Hit
from triplebeam.triple import Chain


class Explained(NamedTuple):
    """What explains a result."""

    chains: tuple[Chain, ...]
    snippet: Snippet
    stemmer: str
    like: str | None


def explain_hits(source: Source, question: str, hits: Sequence[Hit], passages: Sequence[Passage]) -> list[Explained]:
    """Explain the hits of a question, whose passages are given."""
    if not hits:
        return []
    starts = (hop.passage_id for hit in hits for hop in hit.hops[:1])
    graph = source.graph(passages=[*(hit.passage_id for hit in hits), *starts])
    explanation, references = Explanation(graph, question), CrossReferences(graph, question, passages)
    stemmers = find_stemmers(graph, [passage.id for passage in passages])
    alike = first_alike([each.text for each in passages])
    explained = []
    for place, (hit, passage) in enumerate(zip(hits, passages, strict=True)):
        chains = explanation.chains(hit, passage) or references.chains(place) or explanation.links(hit, passage)
        stemmer, first = stemmers[passage.id], alike[place]
        shown = snippet(passage, question, telling_facts(chains), stemmer)
        explained.append(Explained(chains, shown, stemmer, None if first is None else passages[first].id))
    return explained


def find_stemmers(source: Source, passage_ids: Sequence[str]) -> dict[str, str]:
    """Return the stemmer of each of these passages, by id, as its words were indexed."""
    rows = source.passages.rows(passage_ids)
    return dict(zip(passage_ids, source.passage_terms.stemmers_of(rows), strict=True))
