"""A search's hits as every door shows them: what matches, where it is, and why it was found."""

from collections import Counter
from collections.abc import Iterable, Sequence
from dataclasses import dataclass

from triplebeam.explain.cross_references import CrossReferences, telling_facts
from triplebeam.explain.explanation import Explanation
from triplebeam.explain.snippet import Snippet, snippet
from triplebeam.index.protocols import Source
from triplebeam.passage import Passage
from triplebeam.ranking import Hit
from triplebeam.text.names import entity_key
from triplebeam.text.terms import ENGLISH, query_stems, query_words, text_words
from triplebeam.triple import Chain

#: Two texts are nearly the same if this part of all runs of so many words in either is in both.
_MIN_JACCARD, _SHINGLE_WORDS = 0.9, 3


@dataclass(frozen=True)
class Found:
    """A hit with its passage, the chains that explain it, and the part of it to read first."""

    hit: Hit
    passage: Passage
    heading: str
    chains: tuple[Chain, ...]
    snippet: Snippet
    stemmer: str = ENGLISH
    """That of its language."""
    like: str | None = None
    """The id of the first hit above with nearly the same text, if there is one."""


def found(source: Source, question: str, hits: Iterable[Hit]) -> list[Found]:
    """Look at the hits of a question."""
    hits = list(hits)
    if not hits:
        return []
    starts = (hop.passage_id for hit in hits for hop in hit.hops[:1])
    graph = source.graph(passages=[*(hit.passage_id for hit in hits), *starts])
    explanation = Explanation(graph, question)
    passages = [graph.passages[hit.passage_id] for hit in hits]
    references = CrossReferences(graph, question, passages)
    shown = [
        explanation.chains(hit, passage) or references.chains(place) or explanation.links(hit, passage)
        for place, (hit, passage) in enumerate(zip(hits, passages, strict=True))
    ]
    known = stemmers(graph, [passage.id for passage in passages])
    own = [known[passage.id] for passage in passages]
    alike = [None if place is None else passages[place].id for place in first_alike([each.text for each in passages])]
    columns = zip(hits, passages, headings(passages), shown, own, alike, strict=True)
    return [
        Found(hit, passage, written, chains, snippet(passage, question, telling_facts(chains), stemmer), stemmer, like)
        for hit, passage, written, chains, stemmer, like in columns
    ]


def stemmers(source: Source, passage_ids: Sequence[str]) -> dict[str, str]:
    """The stemmer of each of these passages, by id, as its words were indexed."""
    rows = source.passages.rows(passage_ids)
    return dict(zip(passage_ids, source.passage_terms.stemmers_of(rows), strict=True))


def remark(question: str, method: str, shown: Sequence[Found]) -> str:
    """What to know if passages were found by no word of the question; empty if some were, and for dense search, which
    needs no words.
    """
    if not shown or method.startswith("dense"):
        return ""
    if len(query_words(f"{question} 0")) == 1:  # function words are left out only where there is another word
        return 'The question has no words other than such as "who" and "is"; these passages may be irrelevant.'
    if any(_has_word(question, each.passage, each.stemmer) for each in shown):
        return ""
    return "No word of the question occurs in these passages; they may be irrelevant."


def _has_word(question: str, passage: Passage, stemmer: str) -> bool:
    """Do they share a word, as the term index compares them?"""
    wanted = {stem for stems in query_stems(question, [stemmer]) for stem in stems.values()}
    return not wanted.isdisjoint(text_words(passage.term_text, stemmer))


def path_of(passage: Passage) -> str:
    """The file a passage comes from; of a row, the id of its document."""
    return passage.metadata.get("path") or passage.document_id


def heading(passage: Passage) -> str:
    """Title and section, as in ``Handbook › Options``."""
    return " › ".join(filter(None, (passage.title or passage.id, passage.section)))


def headings(passages: Iterable[Passage]) -> list[str]:
    """The heading of each; where several have the same, also file or position."""
    passages = list(passages)
    places = Counter((heading(passage), passage.document_id) for passage in passages)
    documents = Counter(written for written, _ in places)
    distinct = []
    for passage in passages:
        written = heading(passage)
        notes = [path_of(passage)] if documents[written] > 1 else []
        notes += [f"passage {passage.position + 1}"] if places[written, passage.document_id] > 1 else []
        distinct.append(f"{written} ({', '.join(notes)})" if notes else written)
    return distinct


def first_alike(texts: Sequence[str]) -> list[int | None]:
    """For each text, the place of the first one before it that is nearly the same; None where there is none.

    Two texts are nearly the same if of all runs of three words in either, nine tenths are in both.
    """
    shingles = [_shingles(text) for text in texts]
    alike: list[int | None] = []
    for place, own in enumerate(shingles):
        firsts = (other for other in range(place) if alike[other] is None)
        alike.append(next((other for other in firsts if _are_alike(own, shingles[other])), None))
    return alike


def _shingles(text: str) -> frozenset[tuple[str, ...]]:
    words = entity_key(text).split()
    return frozenset(
        tuple(words[start : start + _SHINGLE_WORDS]) for start in range(max(1, len(words) - _SHINGLE_WORDS + 1))
    )


def _are_alike(one: frozenset[tuple[str, ...]], other: frozenset[tuple[str, ...]]) -> bool:
    if min(len(one), len(other)) < _MIN_JACCARD * max(len(one), len(other)):
        return False
    return len(one & other) >= _MIN_JACCARD * len(one | other)
