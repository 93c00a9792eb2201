"""Who is meant: the title behind ``he``, ``the film`` or ``Cahn``, where that is safe."""

import re
from typing import TYPE_CHECKING

from triplebeam.extract.local.mentions import is_named, is_person, is_time, words_of
from triplebeam.extract.local.phrases import noun_phrase
from triplebeam.triple import entity_key

if TYPE_CHECKING:
    from spacy.tokens import Doc, Span, Token

_OF_PERSONS = frozenset("he him his she her hers himself herself".split())
_OF_THINGS = frozenset("it its itself".split())
_OF_GROUPS = frozenset("they them their".split())
_BE = frozenset("is was are were".split())
_SUBJECTS = ("nsubj", "nsubjpass")
_GROUPS = frozenset("band group duo trio team club company people family tribe brothers sisters orchestra".split())


def title_name(title: str, text: str) -> str:
    """The title as the text says it: without a bracket, and without what follows a comma where the text leaves it out."""
    name = re.sub(r"\s*\([^()]*\)\s*$", "", title).strip() or title.strip()
    short = name.split(", ")[0]
    return short if name not in text and re.search(rf"\b{re.escape(short)}\b", text) else name


class References:
    """The entity behind each token of a text whose names are single tokens already."""

    def __init__(self, doc: "Doc", title: str, title_is_person: bool) -> None:
        self.title = title
        self.kinds: set[str] = set()
        self.aliases: list[str] = []
        self._known: dict[str, str] = {entity_key(title): title} if title else {}
        self._persons: list[str] = []
        self._of: dict[int, str] = {}
        self._opening_subject = self._find_opening_subject(doc)
        self.title_is_person = (
            title_is_person
            or any(is_person(token) and token.text == title for token in doc)
            or (self._opening_subject is not None and is_person(self._opening_subject))
        )
        if self.title_is_person and title:
            self._persons.append(title)
        if self._opening_subject is not None:
            self._learn_opening(self._opening_subject)
        subject: Token | None = None
        for sentence in doc.sents:
            subject = self._resolve_sentence(sentence, subject)

    def learn(self, name: str, entity: str) -> None:
        """Another name of an entity, such as an abbreviation, for the tokens resolved from now on."""
        self._known.setdefault(entity_key(name), entity)

    def entity(self, token: "Token") -> str | None:
        """The name of what the token stands for, None where it stands for nothing that can be named."""
        return self._of.get(token.i)

    def _find_opening_subject(self, doc: "Doc") -> "Token | None":
        """The first sentence's subject, when it is the title in another form."""
        first = next(iter(doc.sents), None)
        if first is None or not self.title:
            return None
        for token in first:
            if token.dep_ in _SUBJECTS and token.head == first.root:
                own = set(words_of(token.text))
                return token if is_named(token) and own & set(words_of(self.title)) else None
        return None

    def _learn_opening(self, subject: "Token") -> None:
        name = noun_phrase(subject)
        if entity_key(name) not in self._known:
            self._known[entity_key(name)] = self.title
            if len(words_of(name)) > 1:
                self.aliases.append(name)
        verb = subject.head
        if verb.lower_ in _BE:
            self.kinds |= {noun.lower_ for noun in verb.children if noun.dep_ == "attr"}
            self.kinds |= {noun.lower_ for attr in verb.children if attr.dep_ == "attr" for noun in attr.conjuncts}

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
        article = next((child.lower_ for child in token.children if child.dep_ == "det"), "")
        if article in ("the", "this") and token.lower_ in self.kinds and len(list(token.children)) == 1:
            return self.title
        if token.tag_ in ("NN", "NNS"):
            return noun_phrase(token) or None
        return None

    def _name(self, token: "Token") -> str:
        name = noun_phrase(token)
        key = entity_key(name)
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
        fitting = [
            person
            for person in self._persons
            if (full := words_of(person)) and (full[-len(words) :] == words or full[:1] == words)
        ]
        return fitting[0] if len(dict.fromkeys(fitting)) == 1 else None

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
        if word in _OF_GROUPS and self.kinds & _GROUPS:
            return self.title
        return None
