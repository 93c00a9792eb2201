"""What of a passage is read: its prose, its turns, its terms, its language, and what its title is about."""

import re
from dataclasses import dataclass, field

from triplebeam.extract.local.prepare.names import find_name, looks_like_title, shorten_title
from triplebeam.extract.local.prepare.prose import Speakers, extract_prose, split_turns
from triplebeam.extract.local.prepare.tables import is_csv
from triplebeam.extract.local.prepare.terms import Terms
from triplebeam.extract.local.prepare.tidy import PlainText, join_texts, make_plain, tidy
from triplebeam.passage import Passage
from triplebeam.text.names import entity_key, split_name
from triplebeam.text.terms import detect_foreign_language

_NUMBERING = re.compile(
    r"^(?:(?:chapter|section|appendix|part) [\dA-Z]+(?:\.\d+)*[.:]? |\d+(?:\.\d+)*[.)] |[A-Z]\.\d+\.? )+", re.I
)
_SITE = re.compile(r" [-–—|·] [^-–—|·]*(?i:documentation|manual|version|guide|handbook|reference|wiki|docs)\b.*$")
_MAX_TOPIC_WORDS = 6
_OPENING = 300


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
