"""A passage of the bank: which sentences name which entities, and what the model would read for a claim about them."""

import re
from functools import lru_cache
from typing import Any

Mention = tuple[int, int]
Fact = tuple[int, str, int]


def word_set(words: str) -> frozenset[str]:
    """As in triplebeam.text.stop_words.word_set: the training needs no package but PyTorch and a tokenizer."""
    return frozenset(words.split())


_LIGHT = word_set("is was are were be been became a an the has had in on at")
_JOINING = word_set("and or in near the as well of region state province city county district central")
_JOINING |= {f"{side}{ending}" for side in ("north", "south", "east", "west") for ending in ("", "ern")}
#: "Lyon, France"; "Mosta in the Northern Region of Malta"
_WITHIN = re.compile(r"(?:,| in| region| province| county| district| state| area| of| the| [A-Z][\w'’-]+)+ ?")
_OPENINGS = word_set("in on at by during after since from until")
_LONGEST_WORDING, _LONGEST_SHORTENED = 9, 18
_DANGLING = re.compile(r"(?: (?:of|to|from|by|for|in|on|at|with|the|a|an|and|his|her|its))+$")
#: Words that may be left out of a wording: "is a [fictional] dog character", "was married [in Paris] to".
_MODIFIER = re.compile(
    r"\b(a|an|the|his|her|its|their) (?!former|vice|deputy|acting|assistant|alleged|supposed|proposed|half|step|great)"
    r"[a-z'’-]+ (?=(?!of|in|on|at|by|for|to|from|with|as|and|or|who|that|which)[a-z]+(?<!ed)(?<!en)(?<!ing) [a-z])"
)
_PHRASE = re.compile(
    r" (?:in|on|at|during|for|with|after|as) (?:(?!not|never|no|than|of)[\w'’-]+ ){1,4}?"
    r"(?=(?:in|on|at|by|from|to|with|for|as)\b)"
)
#: The phrase behind an object: "invited Ann [to his home] to share new music".
_NEXT_PHRASE = re.compile(
    r" ((?:to|in|at|on|for|as|from|with|into) (?:(?:the|a|an|his|her|its|their) )?[\w'’-]+)"
    r"(?= (?:to|in|at|on|for|as|from|with|into|and|by|after|before|during|when|where|who|which|while)\b)"
)
_CONTEXT = 200


@lru_cache(maxsize=10_000)
def key(text: str) -> str:
    return " ".join(re.findall(r"\w+", text.casefold()))


def content(predicate: str) -> tuple[str, ...]:
    """Return the beginnings of the words that carry a predicate."""
    return tuple(word[:5] for word in key(predicate).split() if word not in _LIGHT)


def overlap(entity: str, *others: str) -> bool:
    return any(key(entity) in key(other) or key(other) in key(entity) for other in others)


def shortened(wording: str) -> str:
    """Without adjectives and phrases that it can do without."""
    return _MODIFIER.sub(r"\1 ", _PHRASE.sub(" ", wording))


class Passage:
    """A passage of the bank."""

    def __init__(self, row: dict[str, Any]) -> None:
        self.title, self.text, self.entities, self.triples = (row[k] for k in ("title", "text", "entities", "triples"))
        self.sentences, self.titles = row["sentences"], set(row["titles"])
        self.mentions: list[dict[int, list[Mention]]] = [{} for _ in self.entities]
        for found, mentioned in zip(self.mentions, row["mentions"], strict=True):
            for sentence, start, end in mentioned:
                found.setdefault(sentence, []).append((start, end))
        self.known = {(key(self.entities[s]), content(p), key(self.entities[o])) for s, p, o in self.triples}
        self.predicates = sorted({predicate for _, predicate, _ in self.triples})
        self.stems = [{word[:5] for word in key(self.text[start:end]).split()} for start, end in self.sentences]

    def is_known(self, subject: int, predicate: str, object_: int) -> bool:
        return (key(self.entities[subject]), content(predicate), key(self.entities[object_])) in self.known

    def is_named(self, subject: int, object_: int, sentence: int) -> bool:
        here = [sentence in self.mentions[end] for end in (subject, object_)]
        return any(here) and all(at or end in self.titles for at, end in zip(here, (subject, object_), strict=True))

    def places(self, subject: int, predicate: str, object_: int) -> list[tuple[int, bool, int]]:
        """Return the sentences that name both ends, those with most words of the predicate first."""
        shared = set(content(predicate))
        return sorted(
            (-len(shared & stems), not all(n in self.mentions[end] for end in (subject, object_)), n)
            for n, stems in enumerate(self.stems)
            if self.is_named(subject, object_, n)
        )

    def are_listed(self, one: int, other: int, sentence: int) -> bool:
        """Only names and light words are between two mentions ("Lyon in France"): both may be meant."""
        for first in self.mentions[one].get(sentence, ()):
            for second in self.mentions[other].get(sentence, ()):
                between = self.text[min(first[1], second[1]) : max(first[0], second[0])]
                plain = [word for word in re.findall(r"\w+", between) if word[0].islower()]
                if _JOINING.issuperset(plain) and not re.search(r"[;()–—:]", between):
                    return True
        return False

    def is_between(self, subject: int, predicate: str, object_: int, sentence: int) -> bool:
        """Return whether a word of the predicate comes between the ends, the subject first."""
        stems = set(content(predicate))
        return any(
            stems & {word[:5] for word in key(self.text[end:start]).split()}
            for _, end in self.mentions[subject].get(sentence, ())
            for start, _ in self.mentions[object_].get(sentence, ())
        )

    def around(self, place: int, sentence: int) -> list[int]:
        """Return the places that a sentence puts another one in: "Lyon, France"."""
        return [
            number
            for number, entity in enumerate(self.entities)
            if entity[0].isupper() and not re.search(r"\d", entity) and not overlap(entity, self.entities[place])
            if any(
                end < start and _WITHIN.fullmatch(self.text[end:start])
                for start, _ in self.mentions[number].get(sentence, ())
                for _, end in self.mentions[place].get(sentence, ())
            )
        ]

    def in_its_words(self, subject: int, object_: int, sentence: int) -> list[tuple[str, bool]]:
        """Predicates in the sentence's own words, and whether words were left out of them.

        "invited"; "invited to his court"; "moved to Rome in", of a date in front.
        """
        start, end = self.sentences[sentence]
        subjects, objects = (self.mentions[each].get(sentence, []) for each in (subject, object_))
        pronoun = re.match(r"(He|She|It|They)\b", self.text[start : start + 6])
        if not subjects and pronoun and subject in self.titles:
            subjects = [(start, start + pronoun.end())]
        if not subjects or not objects:
            return []
        (before, behind), (first, last) = subjects[0], objects[0]
        if behind <= first:
            return self._between(behind, first, last, end)
        lead = re.sub(" the$", "", self.text[start:first].strip().lower())
        rest = re.match(r" ((?:[\w'’-]+ ){2,7}[\w'’-]+)(?=[,.;]|$)", self.text[behind:end])
        in_front = lead in _OPENINGS and self.text[last:before].strip(" ,") == ""
        return [(f"{rest[1]} {lead}", False)] if rest and in_front else []

    def _between(self, start: int, first: int, last: int, end: int) -> list[tuple[str, bool]]:
        between = self.text[start:first]
        words = len(between.split())
        fit = 1 <= words <= _LONGEST_SHORTENED and not re.search(r'[,;:()\[\]{}–—."“”]', between)
        if not fit or not re.search(r"[a-z]{2}", between):
            return []
        said = re.sub(r" (?:the|a|an|his|her|its)$", "", between.strip())
        short, long = shortened(said), words > _LONGEST_WORDING
        found = [] if long else [(said, False)]
        if short != said and len(short.split()) <= _LONGEST_WORDING:
            found.append((short, True))
        tail = re.match(r"(?: \([^)]*\),?)? ((?:[\w'’-]+ ){1,4}[\w'’-]+)(?=[,.;]|$)", self.text[last:end])
        behind = (tail, _NEXT_PHRASE.match(self.text, last, end)) if content(said) and not long else ()
        found += [(_DANGLING.sub("", f"{said} {each[1]}"), False) for each in behind if each]
        return list(dict.fromkeys(found))

    def texts(
        self, fact: Fact, sentence: int, inserted: tuple[int, str] = (0, ""), *, in_context: bool = True
    ) -> tuple[str, str]:
        """Make the input of the model: see triplebeam.support.claim. Words may be inserted into the passage."""
        subject, predicate, object_ = fact
        place, words = inserted
        text = self.text[:place] + words + self.text[place:]
        start, end = self.sentences[sentence]
        marks = [
            mark
            for entity, (opening, closing) in ((subject, "[]"), (object_, "{}"))
            for first, last in (_moved(each, place, len(words)) for each in self.mentions[entity].get(sentence, ()))
            for mark in (((first, 1, -last), opening), ((last, 0, -first), closing))
        ]
        marked, at = "", start
        for (where, *_), mark in sorted(marks):
            marked, at = f"{marked}{text[at:where]} {mark} ", where
        title = self.title if sentence in self.mentions[subject] else f"[ {self.title} ]"
        title = title if sentence in self.mentions[object_] else f"{{ {title} }}"
        before = text[max(self.sentences[max(0, sentence - 1)][0], start - _CONTEXT) : start] if in_context else ""
        context = " ".join(f"{title} : {before} {marked}{text[at : end + len(words)]}".split())
        return f"[ {self.entities[subject]} ] {predicate} {{ {self.entities[object_]} }}", context


def _moved(mention: Mention, place: int, by: int) -> Mention:
    """Words inserted right behind a mention are no part of it."""
    start, end = mention
    return start + by * (start >= place), end + by * (end > place)
