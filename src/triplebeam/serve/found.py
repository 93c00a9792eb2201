"""A search's hits as every door shows them: what matches, where it is, and why it was found."""

from collections import Counter
from collections.abc import Iterable, Sequence
from dataclasses import dataclass

from triplebeam.assemble import Index
from triplebeam.passage import Passage
from triplebeam.ranking import Hit
from triplebeam.serve.cross_references import CrossReferences, telling_facts
from triplebeam.serve.explanation import Explanation
from triplebeam.serve.snippet import Snippet, snippet, wanted_words, words_in
from triplebeam.triple import Chain


@dataclass(frozen=True)
class Found:
    """A hit with its passage, the chains that explain it, and the part of it to read first."""

    hit: Hit
    passage: Passage
    heading: str
    chains: tuple[Chain, ...]
    snippet: Snippet


def found(index: Index, question: str, hits: Iterable[Hit]) -> list[Found]:
    """Look at the hits of a question."""
    hits = list(hits)
    index = index.around([hit.passage_id for hit in hits])
    explanation = Explanation(index, question)
    passages = [index.passages[hit.passage_id] for hit in hits]
    references = CrossReferences(index, question, passages)
    shown = [
        explanation.chains(hit, passage) or references.chains(place)
        for place, (hit, passage) in enumerate(zip(hits, passages, strict=True))
    ]
    snippets = [
        snippet(passage, question, telling_facts(chains)) for passage, chains in zip(passages, shown, strict=True)
    ]
    return [Found(*each) for each in zip(hits, passages, headings(passages), shown, snippets, strict=True)]


def remark(question: str, shown: Sequence[Found]) -> str:
    """That a search matched nothing, if so: the nearest vectors are passages, too."""
    wanted = wanted_words(question)
    if not (shown and wanted) or any(wanted & words_in(each.passage.term_text) for each in shown):
        return ""
    return "None of these passages has a word of the question: they may have nothing to do with it."


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
