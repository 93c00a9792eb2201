"""From a passage to its rows of triples: tidy, take out brackets, parse, join names, find who is meant, apply the rules."""

from collections.abc import Iterable, Iterator
from typing import TYPE_CHECKING

from triplebeam.extract.extractor import Extraction, sort_out
from triplebeam.extract.local.brackets import Aside, take_out
from triplebeam.extract.local.clauses import clause_facts
from triplebeam.extract.local.mentions import NAME_KINDS, is_named, is_time, join_names, join_quoted
from triplebeam.extract.local.nominals import nominal_facts
from triplebeam.extract.local.reference import References, title_name
from triplebeam.extract.local.tidy import tidy
from triplebeam.triple import entity_key

if TYPE_CHECKING:
    from spacy.language import Language
    from spacy.tokens import Doc

    from triplebeam.passage import Passage

_LONGEST_PART = 120


def draw(nlp: "Language", passages: "Iterable[Passage]") -> Iterator[Extraction]:
    """One extraction a passage, in order."""
    read = ((*take_out(tidy(passage.text)), passage) for passage in passages)
    inputs = ((join_quoted(nlp.make_doc(text)), (asides, passage)) for text, asides, passage in read)
    for doc, (asides, passage) in nlp.pipe(inputs, as_tuples=True):
        yield _extraction(doc, asides, passage)


def _extraction(doc: "Doc", asides: list[Aside], passage: "Passage") -> Extraction:
    title = title_name(tidy(passage.title), doc.text)
    join_names(doc, title)
    born = bool(asides) and asides[0].facts[:1] != () and asides[0].facts[0][0].startswith(("born", "died"))
    references = References(doc, title, title_is_person=born)
    rows = [
        *((title, "also known as", alias) for alias in references.aliases),
        *_aside_facts(doc, asides, references),
        *clause_facts(doc, references),
        *nominal_facts(doc, references),
    ]
    entities = [
        entity
        for token in doc
        if is_named(token) and token.ent_type_ in NAME_KINDS and (entity := references.entity(token))
    ]
    return sort_out(passage.id, _worth_keeping(rows), [title, *entities] if title else entities)


def _aside_facts(doc: "Doc", asides: list[Aside], references: References) -> Iterator[tuple[str, str, str]]:
    """What a bracket states, said of the name that ends where the bracket began."""
    ends = {token.idx + len(token): token for token in doc}
    for aside in asides:
        token = ends.get(aside.position) or ends.get(aside.position - 1)
        if token is not None and is_named(token) and not is_time(token) and (name := references.entity(token)):
            yield from ((name, predicate, target) for predicate, target in aside.facts)


def _worth_keeping(rows: Iterable[tuple[str, str, str]]) -> list[tuple[str, str, str]]:
    """Once each under the normal form, with two different ends of a bearable length."""
    kept: dict[tuple[str, ...], tuple[str, str, str]] = {}
    for row in rows:
        keys = tuple(entity_key(part) for part in row)
        if keys[0] != keys[2] and max(len(part) for part in row) <= _LONGEST_PART:
            kept.setdefault(keys, row)
    return list(kept.values())
