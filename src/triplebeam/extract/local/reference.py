"""Who is meant: the title behind ``he``, ``the film`` or ``Cahn``, where that is safe."""

import re
from collections.abc import Mapping
from typing import TYPE_CHECKING

from triplebeam.extract.local.mentions import is_common, is_named, is_person, is_time, words_of
from triplebeam.extract.local.phrases import noun_phrase
from triplebeam.triple import entity_key

if TYPE_CHECKING:
    from spacy.tokens import Doc, Span, Token

_OF_PERSONS = frozenset(("he", "him", "his", "she", "her", "hers", "himself", "herself"))
_OF_THINGS = frozenset(("it", "its", "itself"))
_OF_GROUPS = frozenset(("they", "them", "their"))
_GROUPS = frozenset(
    ("band", "group", "duo", "trio", "team", "club", "company", "people", "family", "tribe", "orchestra")
)
_SAME_KIND = {
    "movie": "film",
    "picture": "film",
    "single": "song",
    "track": "song",
    "record": "album",
    "show": "series",
}
_BE = ("is", "was", "are", "were")
_SUBJECTS = ("nsubj", "nsubjpass")


def title_name(title: str, text: str) -> str:
    """The title as the text says it: without a bracket, without what follows a comma if the text leaves it out."""
    name = re.sub(r"\s*\([^()]*\)\s*$", "", title).strip() or title.strip()
    short = name.split(", ")[0]
    return short if name not in text and re.search(rf"(?<!\w){re.escape(short)}(?!\w)", text) else name


def opening_subject(doc: "Doc") -> "Token | None":
    """The name that is the subject of the first sentence."""
    first = next(iter(doc.sents), None)
    for token in first or ():
        if first is not None and token.dep_ in _SUBJECTS and token.head == first.root:
            listed = any(child.dep_ == "conj" for child in token.children)
            return token if is_named(token) and not is_time(token) and not listed else None
    return None


class References:
    """The entity behind each token of a text whose names are single tokens already."""

    def __init__(self, doc: "Doc", title: str, *, born: bool, also: Mapping[str, str]) -> None:
        """``born``: the text tells when its subject was born; ``also``: other names, each with the name it stands for."""
        self.title = title
        self.aliases: list[str] = []
        self.title_token: Token | None = None
        self._kinds = set(words_of(title)[-1:])
        self._also = {entity_key(other): name for other, name in also.items()}
        self._known: dict[str, str] = {}
        self._persons: list[str] = []
        self._of: dict[int, str] = {}
        self._begin(doc, opening_subject(doc) if title else None)
        self.title_is_person = born or self._reads_like_person(doc)
        if self.title_is_person and self.title:
            self._persons.append(self.title)
        subject: Token | None = None
        for sentence in doc.sents:
            subject = self._resolve_sentence(sentence, subject)

    def entity(self, token: "Token") -> str | None:
        """The name of what the token stands for, None where it stands for nothing that can be named."""
        return self._of.get(token.i)

    def _begin(self, doc: "Doc", subject: "Token | None") -> None:
        """Learn from the first sentence's subject: a longer form of the title, or what a topic's title is about."""
        name = noun_phrase(subject) if subject is not None else ""
        title, words = words_of(self.title), words_of(name)
        if subject is not None and set(title) & set(words) and not _same_name(title, words, is_person(subject)):
            self.title = name if set(words) <= set(title) else self.title
            if self.title != name:
                subject = None
        elif not set(title) & set(words):
            subject = None
        if self.title:
            self._known[entity_key(self.title)] = self.title
        self.title_token = subject or next((token for token in doc if token.text == self.title), None)
        if subject is not None:
            if entity_key(name) not in self._known:
                self._known[entity_key(name)] = self.title
                self.aliases += [name] if len(words) > 1 else []
            attributes = [noun for noun in subject.head.children if noun.dep_ == "attr"]
            if subject.head.lower_ in _BE:
                self._kinds |= {noun.lower_ for attr in attributes for noun in (attr, *attr.conjuncts)}

    def _reads_like_person(self, doc: "Doc") -> bool:
        """The recogniser says so of the title, or its last word stands alone in a text that says he or she."""
        if self.title_token is not None:
            return is_person(self.title_token)
        last = words_of(self.title)[-1:]
        pronouns = any(token.lower_ in _OF_PERSONS for token in doc)
        return pronouns and any(words_of(token.text)[-1:] == last and is_named(token) for token in doc)

    def _resolve_sentence(self, sentence: "Span", previous: "Token | None") -> "Token | None":
        """Resolve the tokens of a sentence; give back its subject, which the next sentence's pronouns may mean."""
        for token in sentence:
            entity = self._pronoun(token, previous) if token.tag_ in ("PRP", "PRP$") else self._noun(token)
            if entity:
                self._of[token.i] = entity
            if token.dep_ in _SUBJECTS and token.head == sentence.root:
                previous = token
        return previous

    def _noun(self, token: "Token") -> str | None:
        if is_named(token):
            return self._name(token)
        if not is_common(token):
            return None
        article = next((child.lower_ for child in token.children if child.dep_ == "det"), "")
        if (
            article in ("the", "this")
            and _SAME_KIND.get(token.lower_, token.lower_) in self._kinds
            and len(list(token.children)) == 1
        ):
            return self.title
        if token.text[0].isupper() and (full := self._full_name(words_of(token.text))):
            return full  # a surname that the tagger took for a plural
        return noun_phrase(token) or None

    def _name(self, token: "Token") -> str:
        name = noun_phrase(token)
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
        """The one person named before whose last (or first) words these are."""
        if self.title_is_person and words == words_of(self.title)[-1:]:
            return self.title
        fitting = [
            person
            for person in dict.fromkeys(self._persons)
            if (full := words_of(person)) and (full[-len(words) :] == words or full[:1] == words)
        ]
        return fitting[0] if len(fitting) == 1 else None

    def _pronoun(self, token: "Token", previous: "Token | None") -> str | None:
        """The title, unless the sentence before was about someone else whom the pronoun fits as well."""
        word = token.lower_
        last = self._of.get(previous.i) if previous is not None else None
        if word in _OF_PERSONS:
            if previous is not None and last and last != self.title and is_person(previous):
                return last if not self.title_is_person else None
            return self.title if self.title_is_person else None
        if word in _OF_THINGS:
            named_other = previous is not None and is_named(previous) and last != self.title
            return self.title if self.title and not self.title_is_person and not named_other else None
        return self.title if word in _OF_GROUPS and self._kinds & _GROUPS else None


def _same_name(title: list[str], name: list[str], person: bool) -> bool:
    """One form is the other with words added; a person's two forms end alike."""
    if person and title[-1] == name[-1]:
        return True
    return set(title) <= set(name) or title[: len(name)] == name
