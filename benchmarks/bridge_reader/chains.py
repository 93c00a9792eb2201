"""Make questions from text without a model: two passages joined by a name, one fact of each, the name left out.

Where triples are known, the facts are triples, worded by templates; elsewhere they are the words around the name.
"""

import re
from collections import defaultdict
from collections.abc import Iterator
from random import Random

from bridge_reader.corpora import Corpus, Example
from triplebeam.text.names import entity_key

#: A name that more passages have is no bridge.
MAX_PASSAGES = 12
_CLAUSE_WORDS = 6
#: {a}: the entity that the question names; {p}: the first predicate; {q}: the second; ``_of``: the bridge is a subject.
_TEMPLATES = {
    (False, True): ["What {q} the one that {a} {p}?", "{a} {p} someone or something that {q} what?",
                    "Who or what {q}, if {a} {p} it?", "{q} what is said of the one {a} {p}?"],
    (True, True): ["The one that {p} {a} {q} what?", "What {q} the one who {p} {a}?",
                   "Which thing that {p} {a} also {q} something, and what?"],
    (False, False): ["Who or what {q} the one that {a} {p}?", "{a} {p} something. Who {q} it?",
                     "What {q} what {a} {p}?"],
    (True, False): ["Who or what {q} the one that {p} {a}?", "What {q} the person or thing that {p} {a}?"],
}  # fmt: skip
_PHRASES = [
    "What {second}, where {first}?", "{first}: {second}?", "Which one, as {first}, {second}?",
    "How is it that {second} when {first}?", "What is known about {first} and {second}?",
]  # fmt: skip
_NAME = re.compile(r"(?:[A-Z][\w'’-]+(?: (?:of |the |de )?[A-Z][\w'’-]+)*|`[^`\s]{3,40}`|\b\w+[_.]\w[\w.()]*|--[\w-]+)")
_FUNCTION_WORDS = frozenset(
    [
        "The",
        "A",
        "An",
        "In",
        "On",
        "At",
        "It",
        "He",
        "She",
        "They",
        "We",
        "I",
        "You",
        "But",
        "And",
        "For",
        "This",
        "That",
        "These",
        "Those",
        "There",
        "When",
        "While",
        "After",
        "Before",
        "As",
        "If",
        "What",
        "Who",
        "Which",
        "How",
        "Why",
        "My",
        "His",
        "Her",
        "Their",
        "Our",
        "Your",
        "No",
        "Yes",
        "Not",
        "So",
        "Then",
        "Now",
        "Mr",
        "Mrs",
        "Miss",
        "Sir",
        "Oh",
        "Well",
        "One",
    ]
)


def make_chains(corpus: Corpus, most: int, seed: int = 0) -> list[Example]:
    """Make up to ``most`` questions, in an order given by the seed."""
    random = Random(f"{corpus.name} {seed}")
    made = _from_triples(corpus, random, most) if corpus.triples else _from_names(corpus, random, most)
    return [
        Example(f"chain-{corpus.name}-{number}", question, gold, -1) for number, (question, gold) in enumerate(made)
    ]


def _pairs(mentions: dict[str, dict[int, list[object]]], random: Random) -> Iterator[tuple[str, int, int]]:
    """Give names with two passages that have them, rare names first met in random order, each name at most thrice."""
    names = [name for name, rows in mentions.items() if 2 <= len(rows) <= MAX_PASSAGES]
    for _ in range(3):
        random.shuffle(names)
        for name in names:
            one, other = random.sample(sorted(mentions[name]), 2)
            yield name, one, other


def _from_triples(corpus: Corpus, random: Random, most: int) -> list[tuple[str, list[int]]]:
    mentions: dict[str, dict[int, list[object]]] = defaultdict(lambda: defaultdict(list))
    for row, triples in enumerate(corpus.triples):
        for triple in triples:
            if len(triple) == 3 and all(triple):
                subject, predicate, object_ = triple
                mentions[entity_key(subject)][row].append((object_, predicate, True))
                mentions[entity_key(object_)][row].append((subject, predicate, False))
    made = []
    for name, one, other in _pairs(mentions, random):
        if len(made) >= most:
            break
        near, p, first_is_subject = random.choice(mentions[name][one])  # type: ignore[misc]
        far, q, second_is_subject = random.choice(mentions[name][other])  # type: ignore[misc]
        words = {*entity_key(near).split(), *entity_key(far).split()}
        if len(name) < 4 or name.isdigit() or not near[0].isupper() or words & set(name.split()) or len(words) < 2:
            continue
        template = random.choice(_TEMPLATES[first_is_subject, second_is_subject])
        question = template.format(a=near, p=p, q=q)
        made.append((question[0].upper() + question[1:], [one, other]))
    return made


def _from_names(corpus: Corpus, random: Random, most: int) -> list[tuple[str, list[int]]]:
    mentions: dict[str, dict[int, list[object]]] = defaultdict(lambda: defaultdict(list))
    for row, passage in enumerate(corpus.passages):
        for match in _NAME.finditer(passage.text):
            if match[0].split()[0] not in _FUNCTION_WORDS and len(match[0]) > 3:
                mentions[match[0]][row].append(match.span())
    made = []
    for name, one, other in _pairs(mentions, random):
        if len(made) >= most:
            break
        clauses = [
            _clause(corpus.passages[row].text, random.choice(mentions[name][row]), stand_in)  # type: ignore[arg-type]
            for row, stand_in in ((one, "someone or something"), (other, "it"))
        ]
        if all(clauses):
            first, second = clauses
            made.append((random.choice(_PHRASES).format(first=first, second=second), [one, other]))
    return made


def _clause(text: str, span: tuple[int, int], stand_in: str) -> str:
    """Cut the words around a name, within its sentence, with a stand-in for the name."""
    before = re.split(r"[.!?:;]\s", text[: span[0]])[-1].split()[-_CLAUSE_WORDS:]
    after = re.split(r"[.!?:;](?:\s|$)", text[span[1] :])[0].split()[:_CLAUSE_WORDS]
    return " ".join([*before, stand_in, *after]) if len(before) + len(after) >= 5 else ""
