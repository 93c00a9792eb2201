"""Facts that carry their source: the passage a model read them in, and the words of it that say so.

A model names the passage by its number and quotes it; `support` checks the words. A fact whose words do not
support it keeps its passage but has no span: it counts as unsupported wherever it is shown.
"""

import re
from collections.abc import Iterable, Sequence
from dataclasses import dataclass, replace
from typing import Annotated, TypeAlias

from pydantic import BaseModel, BeforeValidator, WithJsonSchema
from pydantic.json_schema import SkipJsonSchema

from triplebeam.answer import Evidence, Span
from triplebeam.generate.accounting import note_warning
from triplebeam.generate.parse import PARTS, Text, TripleRow, coerce_list
from triplebeam.methods.shared.replies import filter_triples
from triplebeam.passage import Passage
from triplebeam.ranking import Hit, Ranking
from triplebeam.support import fault_of, find_quotation, support_among
from triplebeam.support.assertion import has_other_negation
from triplebeam.support.claim import split_statement
from triplebeam.support.context import compute_word_overlap, is_named
from triplebeam.support.locate import remove_brackets
from triplebeam.support.quotation import match_quotation
from triplebeam.support.resolve import Resolved, resolve_passage
from triplebeam.text.names import entity_key
from triplebeam.triple import Triple

_UP_TO_THREE_TEXTS = {"type": "array", "items": {"type": "string"}, "maxItems": len(PARTS)}
#: Parts, passage and quotation, perhaps with the other passages.
_PARTS_AND_SOURCE = (5, 6)
_NUMBER = re.compile(r"(?<![\d-])\d{1,4}\b")
#: The number of facts from which on it counts that most of them are not in the words that were quoted.
_MIN_UNQUOTED = 3
#: The least share of a fact's words in the words that are quoted for it.
_MIN_OVERLAP = 0.25
#: The least share of its words in the quotation that takes its place.
_MIN_OVERLAP_RESTATED = 0.4
#: In characters: so much of its passage's title is shown with a fact.
_MAX_TITLE_CHARACTERS = 60


@dataclass(frozen=True, slots=True)
class Fact:
    """A fact that a model read or knows, the passage it was read in, and the words that say it."""

    triple: Triple
    passage_id: str = ""
    """Empty where the model does not say it."""
    span: Span | None = None
    from_memory: bool = False
    also_in: tuple[str, ...] = ()
    """Other passages that say the same, of those that the model names."""
    statement: str = ""
    """The fact as a quotation with additions in brackets; empty for a triple alone."""
    date: str = ""
    """The day that its passage is from."""
    speaker: str = ""
    source: str = ""
    """The title, section and metadata of its passage, where it has more than a title."""
    has_quotation: bool = False
    """Whether the quoted words are in its passage and share words with it."""
    fault: str = ""
    """Why they do not support it, if they are there."""

    @property
    def is_quoted(self) -> bool:
        """Whether a passage has the words that were quoted for it, or supports it."""
        return self.span is not None or self.has_quotation

    @property
    def key(self) -> tuple[str, ...]:
        """Two facts are one if their words and sources, or their parts, have the same normal form."""
        return (entity_key(self.text),) if self.statement else tuple(map(entity_key, self.triple))

    @property
    def text(self) -> str:
        """The fact in words, with where it is from in parentheses: what a prompt shows."""
        source = "; ".join(filter(None, (self.source, self.speaker and f"said by {self.speaker}")))
        return f"{self.statement or self.triple}{f' ({source})' if source else ''}"

    def evidence(self, note: str = "") -> Evidence:
        """Return the evidence that an answer shows."""
        return Evidence(
            triple=self.triple,
            span=self.span,
            note=note,
            from_memory=self.from_memory,
            statement=self.statement,
            date=self.date,
            speaker=self.speaker,
            source=self.source,
        )


def find_invention(facts: Sequence[Fact]) -> str:
    """Say so if most facts that a model noted, or all, are in no passage; empty otherwise."""
    read = [fact for fact in facts if not fact.from_memory]
    if len(read) >= _MIN_UNQUOTED and 2 * sum(not fact.is_quoted for fact in read) > len(read):
        return "most facts that the model noted are not in the passages"
    is_quoted = any(fact.is_quoted for fact in read) or not read
    return "" if is_quoted else "no fact that the model noted is in the passages"


def _parse_number(value: object) -> int:
    """Parse a passage's number, however it is written; 0 is none."""
    found = _NUMBER.search(str(value))
    return int(found[0]) if found else 0


def _numbers(value: object) -> list[int]:
    """Parse the numbers of passages, however they are written; what is not one is left out."""
    if isinstance(value, list):
        return list(map(_parse_number, value))
    return list(map(int, _NUMBER.findall(str(value)))) if isinstance(value, str | int) else []


def _with_source(value: object) -> object:
    """Accept the parts side by side, in an array or an object, or a fact without its source, as models write them."""
    if isinstance(value, dict):
        parts = [value.get(part) for part in PARTS]
        return {"triple": parts if any(parts) else [], "passage": 0, "quotation": "", **value}
    if isinstance(value, list) and len(value) in _PARTS_AND_SOURCE:
        return {"triple": value[:3], **dict(zip(("passage", "quotation", "also"), value[3:], strict=False))}
    return {"fact" if isinstance(value, str) else "triple": value, "passage": 0, "quotation": ""}


def _with_number(value: object) -> object:
    """Accept a quotation without its number or passage, which then is none."""
    return {"number": 0, "passage": 0, "fact": "", **(value if isinstance(value, dict) else {})}


class CitedFact(BaseModel):
    """A fact: the passage's words with additions in brackets, its triple, and the number of its passage."""

    fact: Text = ""
    triple: Annotated[TripleRow, BeforeValidator(coerce_list), WithJsonSchema(_UP_TO_THREE_TEXTS)] = []
    passage: Annotated[int, BeforeValidator(_parse_number)]
    quotation: SkipJsonSchema[Text] = ""  # of a model that keeps it apart
    also: Annotated[list[int], BeforeValidator(_numbers)] = []


class RestatedFact(BaseModel):
    """The number of a fact that a prompt shows, the same fact as a quotation, and its passage's number."""

    number: Annotated[int, BeforeValidator(_parse_number)]
    passage: Annotated[int, BeforeValidator(_parse_number)]
    fact: Text


class QuotedTriple(CitedFact):
    """A triple, the number of its passage, and a quotation from it."""

    quotation: Text


#: The facts of a reply, each with the number of its passage; null counts as none.
CitedFacts: TypeAlias = Annotated[
    list[Annotated[CitedFact, BeforeValidator(_with_source)]], BeforeValidator(coerce_list)
]
QuotedTriples: TypeAlias = Annotated[
    list[Annotated[QuotedTriple, BeforeValidator(_with_source)]], BeforeValidator(coerce_list)
]
RestatedFacts: TypeAlias = Annotated[
    list[Annotated[RestatedFact, BeforeValidator(_with_number)]], BeforeValidator(coerce_list)
]


def make_cited_facts(rows: Sequence[CitedFact], passages: Sequence[Passage]) -> tuple[Fact, ...]:
    """Return the facts of a reply to a prompt that showed these passages."""
    facts = tuple(_find_source(triple, row, passages) for row in rows for triple in _list_triples(row))
    unsaid = sum(fact.span is None for fact in facts)
    if len(facts) >= _MIN_UNQUOTED and 2 * unsaid > len(facts):
        note_warning(f"{unsaid} of {len(facts)} facts are not supported by the model's quotations")
    return facts


def restate_fact(fact: Fact, row: RestatedFact, passages: Sequence[Passage]) -> Fact | None:
    """Return a fact as the quotation of a reply; None if no passage states it, or if it is about something else."""
    again = CitedFact(fact=row.fact, passage=row.passage)
    cited = next(filter(None, (_cite(fact.triple, again, each) for each in _put_first(row.passage, passages))), None)
    said = fact.statement or str(fact.triple)
    if cited is None or has_other_negation(said, cited.statement):
        return None
    if compute_word_overlap(said, cited.statement) < _MIN_OVERLAP_RESTATED:
        return None
    return replace(_add_place(cited, cited.span, None, passages), also_in=fact.also_in, has_quotation=True)


def _put_first(number: int, passages: Sequence[Passage]) -> list[Passage]:
    """List passages, the one of a number first, if there is one."""
    named = passages[number - 1 : number] if number else ()
    return [*named, *(each for each in passages if each not in named)]


def _list_triples(row: CitedFact) -> Sequence[Triple]:
    """Return the triple of a fact; where a sentence is given without one, the sentence in three pieces."""
    is_whole = len(row.triple) == len(PARTS) and all(row.triple)
    return filter_triples([row.triple]) if is_whole or not row.fact else [split_statement(remove_brackets(row.fact))]


def _find_source(triple: Triple, row: CitedFact, passages: Sequence[Passage]) -> Fact:
    """Find the words that state a fact, wherever they are; failing that, words of the named passage."""
    named = passages[row.passage - 1 : row.passage] if row.passage else ()
    fact = next(filter(None, (_cite(triple, row, each) for each in _put_first(row.passage, passages))), None)
    if fact is None and (span := support_among(triple, named or passages)):
        fact = Fact(triple, span=span)  # the words state the triple, whatever the sentence says
    fact = fact or Fact(triple, statement=row.fact.strip())
    quoted = (find_quotation(row.quotation or row.fact, passage) for passage in named)
    words = fact.span or next(filter(None, quoted), None)
    same = [passages[number - 1].id for number in row.also if 1 <= number <= len(passages)]
    placed = _add_place(fact, words, named[0] if named else None, passages)
    also_in = tuple(id_ for id_ in dict.fromkeys(same) if id_ != placed.passage_id)
    has_quotation = words is not None and compute_word_overlap(row.fact or str(triple), words.text) >= _MIN_OVERLAP
    fault = fault_of(triple, words, named[0], row.fact) if words and named and not fact.span else None
    return replace(placed, span=fact.span, has_quotation=has_quotation, also_in=also_in, fault=fault or "")


def _cite(triple: Triple, row: CitedFact, passage: Passage) -> Fact | None:
    """Return a fact with the words of a passage that state it; None if there are none."""
    statement = row.fact.strip()
    words = find_quotation(row.quotation or statement, passage)
    if words and not row.quotation and not match_quotation(statement, passage, words.start, words.end):
        triple, statement = split_statement(words.text), words.text  # a few words differ: those of the passage count
    is_stated = words and fault_of(triple, words, passage, statement) is None
    return Fact(triple, span=words, statement=statement) if is_stated else None


def _add_place(fact: Fact, span: Span | None, named: Passage | None, passages: Sequence[Passage]) -> Fact:
    """Add the passage, the day and the speaker to a fact."""
    passage = next((each for each in passages if span and each.id == span.passage_id), named)
    if passage is None:
        return fact
    speaker = _choose_speaker(fact.statement, resolve_passage(passage), span) if span else ""
    told = passage.title[:_MAX_TITLE_CHARACTERS] if passage.date or speaker or passage.origin else ""
    source = "; ".join(filter(None, (told, passage.origin)))
    return replace(fact, passage_id=passage.id, span=span, date=passage.date, speaker=speaker, source=source)


def _choose_speaker(statement: str, resolved: Resolved, span: Span) -> str:
    """Name who speaks in a span: of several, the one whom a statement names, else the first."""
    inside = resolved.list_speakers(span.start, span.end)
    speakers = list(filter(None, (resolved.speaker_at(span.start), *inside)))
    return next((each for each in speakers if is_named(each, statement)), next(iter(speakers), ""))


def find_support(triple: Triple, passages: Sequence[Passage]) -> Fact:
    """Return a fact without a source, with the words of a passage that say it, where there are any."""
    return _look_up(Fact(triple), passages)


def with_sources(facts: Iterable[Fact], passages: Sequence[Passage]) -> tuple[Fact, ...]:
    """Return the facts, each looked up in the passages if the model did not say where it is from."""
    return tuple(fact if fact.passage_id else _look_up(fact, passages) for fact in facts)


def _look_up(fact: Fact, passages: Sequence[Passage]) -> Fact:
    return _add_place(fact, support_among(fact.triple, passages), None, passages)


def facts_from_memory(rows: Sequence[Sequence[str]]) -> tuple[Fact, ...]:
    """Return everyday knowledge that a reply names."""
    return tuple(Fact(triple, from_memory=True) for triple in filter_triples(rows))


def select_new_facts(read: Iterable[Fact], known: Iterable[Fact]) -> tuple[Fact, ...]:
    """Select facts that are not known yet, each once, under the entities' normal form."""
    seen = {fact.key for fact in known}
    fresh: dict[tuple[str, ...], Fact] = {}
    for fact in read:
        if fact.key not in seen:
            fresh.setdefault(fact.key, fact)
    return tuple(fresh.values())


def passages_of_facts(facts: Iterable[Fact]) -> list[str]:
    """Return the passages that facts were read in, in the order of the facts."""
    return list(dict.fromkeys(fact.passage_id for fact in facts if fact.passage_id))


def sources_of(facts: Iterable[Fact]) -> Ranking:
    """Return the passages that facts were read in, as a list that can be fused."""
    return Ranking(Hit(id_, -rank) for rank, id_ in enumerate(passages_of_facts(facts)))


def evidence_first(facts: Iterable[Fact], ranking: Ranking) -> Ranking:
    """Put the passages of the facts before all others."""
    return raise_passages(passages_of_facts(facts), ranking)


def raise_passages(passage_ids: Iterable[str], ranking: Ranking) -> Ranking:
    """Put these passages, in their order, before all others of the ranking."""
    first = dict.fromkeys(passage_ids)
    hits = {hit.passage_id: hit for hit in ranking}
    best = ranking[0].score if ranking else 0.0
    above = [hits.get(id_, Hit(id_, 0.0))._replace(score=best + len(first) - place) for place, id_ in enumerate(first)]
    return Ranking([*above, *(hit for hit in ranking if hit.passage_id not in first)])
