"""Who is meant: the title behind ``he``, ``the film`` or ``Cahn``, where that is safe."""

from collections.abc import Mapping
from typing import TYPE_CHECKING

from triplebeam.extract.local.lexicon import get_words
from triplebeam.extract.local.prepare.names import is_called, same_name, strip_place
from triplebeam.extract.local.prepare.prose import Speakers
from triplebeam.extract.local.resolve.phrases import (
    SUBJECTS,
    is_common,
    is_definite,
    is_named,
    is_person,
    is_time,
    says_something,
    write_noun,
)
from triplebeam.text.names import entity_key, split_name

if TYPE_CHECKING:
    from spacy.tokens import Doc, Span, Token

_OF_PERSONS = frozenset(("he", "him", "his", "she", "her", "hers", "himself", "herself"))
_OF_WOMEN = frozenset(("she", "her", "hers", "herself"))
_OF_THINGS = frozenset(("it", "its", "itself"))
_FIRST_PERSON = frozenset(("i", "me", "my", "mine", "myself"))
_SECOND_PERSON = frozenset(("you", "your", "yours", "yourself"))
_OF_GROUPS = frozenset(("they", "them", "their"))
_GROUPS = get_words("groups")
_SAME_KIND = {
    "movie": "film",
    "picture": "film",
    "single": "song",
    "track": "song",
    "record": "album",
    "show": "series",
}
_BE = ("is", "was", "are", "were")


def _find_opening_subject(doc: "Doc") -> "Token | None":
    """Return the name that is the subject of the first sentence."""
    first = next(iter(doc.sents), None)
    for token in first or ():
        if first is not None and token.dep_ in SUBJECTS and token.head == first.root:
            listed = any(child.dep_ == "conj" for child in token.children)
            return token if is_named(token) and not is_time(token) and not listed else None
    return None


class References:
    """The entity behind each token of a text whose names are single tokens already."""

    def __init__(
        self, doc: "Doc", title: str, *, born: bool, also: Mapping[str, str], speakers: Speakers | None = None
    ) -> None:
        """``born``: the text says when its subject was born; ``also``: other names, each with what it stands for."""
        self._speakers = speakers
        self.opens_with_title = bool(title) and doc.text.startswith(title)
        self.title = title
        self.aliases: list[str] = []
        self.title_token: Token | None = None
        self._kinds = set(split_name(title)[-1:])
        self._also = {entity_key(other): name for other, name in also.items()}
        self._known: dict[str, str] = {}
        self._persons: list[str] = []
        self._of: dict[int, str] = {}
        self._begin(doc, _find_opening_subject(doc) if title else None, born)
        self.title_is_person = born or self._reads_like_person(doc)
        first = next((token.lower_ for token in doc if token.lower_ in ("he", "she")), None)
        self._title_is_woman = first in _OF_WOMEN
        if self.title_is_person and self.title:
            self._persons.append(self.title)
        subject: Token | None = None
        for sentence in doc.sents:
            subject = self._resolve_sentence(sentence, subject)

    def entity(self, token: "Token") -> str | None:
        """Return the name of what the token stands for, None where it stands for nothing that can be named."""
        return self._of.get(token.i)

    def is_about_title(self, token: "Token") -> bool:
        """Return whether the text opened with the title, or has named it before the token."""
        return self.opens_with_title or (self.title_token is not None and self.title_token.i < token.i)

    def is_small_talk(self, noun: "Token") -> bool:
        """Recognise a single common noun of a chat, such as *effort* or *friends*: only the chat says what it means."""
        return self._speakers is not None and is_common(noun) and " " not in write_noun(noun)

    def _begin(self, doc: "Doc", subject: "Token | None", born: bool) -> None:
        """Learn from the first sentence's subject: a longer form of the title, or what a topic's title is about."""
        name = write_noun(subject) if subject is not None else ""
        title, words = split_name(self.title), split_name(name)
        if subject is not None and not same_name(title, words, person=born or is_person(subject)):
            subject = subject if is_called(self.title, next(iter(doc.sents)).text) else None
        if self.title:
            self._known[entity_key(self.title)] = self.title
        named = (token for token in doc if self.title and is_named(token))
        self.title_token = subject or next((token for token in named if entity_key(token.text) in self._known), None)
        if subject is not None:
            self.opens_with_title = True
            if entity_key(name) not in self._known:
                self._known[entity_key(name)] = self.title
                self.aliases += [name] if len(words) > 1 else []
            attributes = [noun for noun in subject.head.children if noun.dep_ == "attr"]
            if subject.head.lower_ in _BE:
                self._kinds |= {noun.lower_ for attr in attributes for noun in (attr, *attr.conjuncts)}

    def _reads_like_person(self, doc: "Doc") -> bool:
        """Return whether the recogniser says so of the title, or its last word stands alone beside *he* or *she*."""
        words = {token.lower_ for token in doc}
        pronouns = bool(words & _OF_PERSONS)
        if self.title_token is not None and is_person(self.title_token):
            return pronouns or not words & _OF_THINGS
        name = split_name(strip_place(self.title)) if pronouns else []
        return len(name) > 1 and any(is_named(token) and split_name(token.text) == name[-1:] for token in doc)

    def _resolve_sentence(self, sentence: "Span", previous: "Token | None") -> "Token | None":
        """Resolve the tokens of a sentence; give back its subject, which the next sentence's pronouns may mean."""
        for token in sentence:
            entity = self._pronoun(token, previous) if token.tag_ in ("PRP", "PRP$") else self._noun(token)
            if entity:
                self._of[token.i] = entity
            if token.dep_ in SUBJECTS and token.head == sentence.root:
                previous = token
        return previous

    def _noun(self, token: "Token") -> str | None:
        if is_named(token):
            return self._name(token)
        if not is_common(token):
            return None
        kind = _SAME_KIND.get(token.lower_, token.lower_)
        if kind in self._kinds and is_definite(token) and not list(token.rights):
            return self.title
        return write_noun(token) or None if says_something(token) else None

    def _name(self, token: "Token") -> str:
        name = write_noun(token)
        key = entity_key(name)
        if key not in self._known and key in self._also:
            name = self._also[key]
            self._known[key] = self._known.get(entity_key(name), name)
        if key in self._known:
            return self._known[key]
        if not is_time(token) and (full := self._full_name(key.split())):
            self._known[key] = full
            return full
        self._known[key] = name
        if is_person(token) and " " in name:
            self._persons.append(name)
        return name

    def _full_name(self, words: list[str]) -> str | None:
        """Return the one person named before whose last (or first) words these are."""
        if self.title_is_person and words == split_name(strip_place(self.title))[-1:]:
            return self.title
        fitting = [
            person
            for person in dict.fromkeys(self._persons)
            if (full := split_name(strip_place(person))) and (full[-len(words) :] == words or full[:1] == words)
        ]
        return fitting[0] if len(fitting) == 1 else None

    def _is_safe(self, pronoun: "Token") -> bool:
        """Not of the other sex than the text's first he or she, and not an owner behind another person's name."""
        if (pronoun.lower_ in _OF_WOMEN) != self._title_is_woman:
            return False
        before = pronoun.doc[pronoun.sent.start : pronoun.i] if pronoun.tag_ == "PRP$" else ()
        return not any(is_person(token) and self._of.get(token.i) != self.title for token in before)

    def _pronoun(self, token: "Token", previous: "Token | None") -> str | None:
        """Return the title, unless the sentence before was about someone else whom the pronoun fits as well."""
        word = token.lower_
        if self._speakers is not None and word in _FIRST_PERSON:
            return self._speakers.speaker(token.idx)
        if self._speakers is not None and word in _SECOND_PERSON:
            return self._speakers.addressee(token.idx)
        last = self._of.get(previous.i) if previous is not None else None
        if token.tag_ == "PRP$" and token.head.dep_ == "conj" and word in _OF_PERSONS:
            return self._of.get(token.head.head.i) if is_named(token.head.head) else None  # "the king and his wife"
        if word in _OF_PERSONS:
            if self.title_is_person and not self._is_safe(token):
                return None
            if previous is not None and last and last != self.title and is_person(previous):
                return last if not self.title_is_person else None
            return self.title if self.title_is_person else None
        if word in _OF_THINGS:
            return self._thing(token, previous, last)
        return self.title if word in _OF_GROUPS and self._kinds & _GROUPS else None

    def _thing(self, pronoun: "Token", previous: "Token | None", last: str | None) -> str | None:
        """Resolve *it* to the subject of the sentence before, or to the title that the text opened with."""
        if any(child.dep_ == "acomp" and pronoun.dep_ == "nsubj" for child in pronoun.head.children):
            return None  # "it is important to": no thing at all
        if previous is not None and is_named(previous):
            goes_on = pronoun.dep_ in SUBJECTS and pronoun.head == pronoun.sent.root and not is_person(previous)
            return last if last == self.title or (goes_on and not list(previous.conjuncts)) else None
        about_title = self.opens_with_title and not self.title_is_person
        return self.title if about_title and (previous is None or last in (None, self.title)) else None
