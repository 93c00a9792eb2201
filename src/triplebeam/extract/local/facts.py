"""From a passage to its triples: take its prose, parse it, join names, find who is meant, apply the rules."""

import re
from collections.abc import Iterable, Iterator
from dataclasses import dataclass, field
from itertools import islice
from pathlib import Path
from typing import TYPE_CHECKING, Any

from triplebeam.extract.extractor import Extraction, sort_out
from triplebeam.extract.local.prepare.names import (
    find_name,
    is_work,
    looks_like_title,
    reads_like_phrase,
    shorten_title,
)
from triplebeam.extract.local.prepare.prose import Speakers, extract_conversation, extract_prose, split_turns
from triplebeam.extract.local.prepare.tables import extract_tables, is_csv, is_worth_naming, keep_worthy
from triplebeam.extract.local.prepare.terms import Terms, find_stand_ins, make_readable
from triplebeam.extract.local.prepare.tidy import Aside, PlainText, join_texts, make_plain, tidy
from triplebeam.extract.local.resolve.mentions import join_names, join_titles
from triplebeam.extract.local.resolve.phrases import NAME_KINDS, PLACE_KINDS, is_named, is_person, is_time, write_noun
from triplebeam.extract.local.resolve.reference import References
from triplebeam.extract.local.rules.asserted import list_stated_tokens
from triplebeam.extract.local.rules.clauses import extract_clauses
from triplebeam.extract.local.rules.nominals import extract_nominals
from triplebeam.passage import Passage
from triplebeam.text.names import entity_key, split_name
from triplebeam.text.terms import detect_foreign_language

if TYPE_CHECKING:
    from spacy.language import Language
    from spacy.tokens import Doc, Token

_MAX_CHARACTERS = 100_000
#: Texts, and characters of them, that are parsed at a time: the parser takes four kilobytes for a character.
_BATCH = 128
_BATCH_CHARACTERS = 200_000
_NUMBERING = re.compile(
    r"^(?:(?:chapter|section|appendix|part) [\dA-Z]+(?:\.\d+)*[.:]? |\d+(?:\.\d+)*[.)] |[A-Z]\.\d+\.? )+", re.I
)
_SITE = re.compile(r" [-–—|·] [^-–—|·]*(?i:documentation|manual|version|guide|handbook|reference|wiki|docs)\b.*$")
_MAX_TOPIC_WORDS = 6
_OPENING = 300


def load_parser(folder: Path) -> "Language":
    """Load the parser without the parts no rule reads."""
    import spacy

    return spacy.load(folder, exclude=["senter", "lemmatizer", "attribute_ruler"])


@dataclass(frozen=True)
class Reading:
    """A passage made ready for the parser. ``topic`` is what its title names; a headline or a number names nothing."""

    passage: Passage
    plain: PlainText = field(default_factory=lambda: PlainText("", (), ()))
    topic: str = ""
    terms: Terms = field(default_factory=Terms)
    speakers: Speakers | None = None
    language: str | None = None


def read_passage(passage: Passage) -> Reading:
    """Take from a passage what can be read as English."""
    if (language := detect_foreign_language(passage.text)) is not None:
        return Reading(passage, language=language)
    terms, turns = Terms(), [] if is_csv(passage) else split_turns(passage.text)
    if turns:
        parts = [make_plain(terms.hide(extract_prose(turn.words))) for turn in turns]
        text, starts = join_texts(parts)
        speakers = [turn.speaker for turn in turns]
        return Reading(passage, text, "", terms, Speakers(list(zip(starts, speakers, strict=True))))
    text = make_plain(terms.hide(extract_prose(_body(passage))))
    return Reading(passage, text, _topic(terms.hide(passage.title), text.text), terms)


def _body(passage: Passage) -> str:
    """Remove a first line that is the title: it states nothing, and hides what "it" means further down."""
    heading, _, rest = passage.text.lstrip().partition("\n")
    is_title = passage.title and entity_key(heading) == entity_key(passage.title)
    return rest if is_title and rest.strip() else passage.text


def _topic(title: str, text: str) -> str:
    """Return what the title names, without the manual's name; a numbered heading or a headline names nothing."""
    if _NUMBERING.match(title):
        return ""
    name = shorten_title(tidy(_SITE.sub("", title)), text)
    if find_name(name, text) or set(split_name(name)) <= set(split_name(text[:_OPENING])):
        return name
    is_name = looks_like_title(name) and len(name.split()) <= _MAX_TOPIC_WORDS and not re.search(r"[:?!]|\d{4}-", name)
    return name if is_name else ""


def extract_passages(nlp: "Language", passages: "Iterable[Passage]") -> Iterator[Extraction]:
    """One extraction per passage, in order."""
    remaining = iter(passages)
    while batch := list(_take_batch(remaining)):
        readings = [read_passage(passage) if _is_bearable(passage) else Reading(passage) for passage in batch]
        docs = [_prepare(nlp, reading) for reading in readings]
        _parse(nlp, [doc for doc in docs if len(doc)])
        yield from map(_extract_or_fail, docs, readings)


def _take_batch(remaining: "Iterator[Passage]") -> "Iterator[Passage]":
    characters = 0
    for passage in islice(remaining, _BATCH):
        yield passage
        characters += len(passage.text)
        if characters >= _BATCH_CHARACTERS:
            return


def _parse(nlp: "Language", docs: "list[Doc]") -> None:
    """Annotate the texts, with one step of the parser for all of them at a time.

    spaCy's own loop takes and gives back the interpreter's lock for each token, which is half of its time.
    """
    component: Any
    for _, component in nlp.pipeline if docs else ():
        if hasattr(component, "moves"):
            states = component.moves.init_batch(docs)
            model, unfinished = component.model.predict(docs), list(states)
            while unfinished:
                unfinished = component.transition_states(unfinished, model.predict(unfinished))
        else:
            states = component.predict(docs)
        component.set_annotations(docs, states)


def _prepare(nlp: "Language", reading: Reading) -> "Doc":
    """Return the tokens, with quoted titles and stand-ins for terms marked as names before the parse."""
    words = find_stand_ins(reading.plain.text)
    make_readable(nlp.vocab, words)
    terms = [span for word in words for span in find_name(word, reading.plain.text)]
    return join_titles(nlp.make_doc(reading.plain.text), _find_titles(reading), terms)


def _extract_or_fail(doc: "Doc", reading: Reading) -> Extraction:
    passage = reading.passage
    if not _is_bearable(passage):
        given = f"{len(passage.text):,} characters"
        reason = f"the passage has {given} and the parser takes {_MAX_CHARACTERS:,}: --split cuts it"
        return Extraction(passage_id=passage.id, failure=reason)
    if reading.language:
        return Extraction(passage_id=passage.id, unread_language=reading.language)
    try:
        return _extract(doc, reading)
    except RecursionError:
        return Extraction(passage_id=passage.id, failure="a sentence is nested too deeply to be language: is it data?")


def _is_bearable(passage: Passage) -> bool:
    """Return whether the text is too long: a parse takes memory in proportion, and a passage this long was not cut."""
    return len(passage.text) <= _MAX_CHARACTERS


def _find_titles(reading: Reading) -> list[tuple[int, int]]:
    """Return the quoted titles, and the passage's own title where it is a phrase or a work (``Just Go with It``)."""
    is_one_name = reads_like_phrase(reading.topic) or is_work(reading.topic, reading.plain.text)
    own = find_name(reading.topic, reading.plain.text) if is_one_name else []
    return [*reading.plain.titles, *own]


def _extract(doc: "Doc", reading: Reading) -> Extraction:
    join_names(doc, reading.topic)
    stated = list(_read_asides(doc, reading.plain.asides))
    references = References(
        doc,
        reading.topic,
        born=any(map(_is_life, reading.plain.asides[:1])),
        also={other: write_noun(name) for name, predicate, other in stated if predicate == "also known as"},
        speakers=reading.speakers,
    )
    stated_by_text = list_stated_tokens(doc)
    rows = [
        *((references.title, "also known as", alias) for alias in references.aliases),
        *((entity, predicate, other) for name, predicate, other in stated if (entity := references.entity(name))),
        *extract_clauses(stated_by_text, references),
        *extract_nominals(stated_by_text, references),
        *extract_conversation(reading.speakers, reading.passage.title),
        *extract_tables(reading.passage),
    ]
    show = reading.terms.show
    names = (references.entity(token) for token in doc if is_named(token) and token.ent_type_ in NAME_KINDS)
    return sort_out(
        reading.passage.id,
        keep_worthy((show(subject), show(predicate), show(object_)) for subject, predicate, object_ in rows),
        [name for name in map(show, filter(None, (references.title, *names))) if is_worth_naming(name)],
    )


def _read_asides(doc: "Doc", asides: Iterable[Aside]) -> Iterator[tuple["Token", str, str]]:
    """Return what a bracket states, with the name that ends where the bracket began."""
    ends = {token.idx + len(token): token for token in doc}
    for aside in asides:
        token = ends.get(aside.position)
        if token is not None and _is_life(aside) and token.dep_ == "pobj" and is_named(token.head.head):
            token = token.head.head  # "Hedwig of Saxony (1445–1511)": Hedwig died, not Saxony
        if token is not None and is_named(token) and not is_time(token):
            years = sum(other.isdigit() for _, other in aside.facts)
            yield from ((token, *fact) for fact in aside.facts if _fits(token, *fact, span_of_years=years > 1))


def _fits(name: "Token", predicate: str, other: str, *, span_of_years: bool) -> bool:
    """Accept a year of a work, two years of a person's life, and an abbreviation made of the name's first letters."""
    if predicate == "dated":
        return name.i == 0 or name.ent_type_ in ("WORK_OF_ART", "EVENT")
    if predicate.startswith(("born", "died")):
        possible = name.ent_type_ not in PLACE_KINDS and not span_of_years
        return possible or is_person(name) or not name.ent_type_ or _opens_a_life(name)
    initials = {letter.casefold() for letter in re.findall(r"[A-Z]|\b\w", name.text)}
    return not other.isupper() or 2 * sum(letter.casefold() in initials for letter in other) >= len(other)


def _opens_a_life(name: "Token") -> bool:
    return name.i == 0 and any(token.lower_ in ("he", "she", "who") for token in name.doc)


def _is_life(aside: Aside) -> bool:
    return any(predicate.startswith(("born", "died")) for predicate, _ in aside.facts)
