"""From a passage to its triples: make the text plain, parse it, join names, find who is meant, apply the rules."""

from collections.abc import Iterable, Iterator
from pathlib import Path
from typing import TYPE_CHECKING

from triplebeam.extract.extractor import Extraction, sort_out
from triplebeam.extract.local.clauses import clause_facts
from triplebeam.extract.local.kinds import NAME_KINDS, is_named, is_time
from triplebeam.extract.local.mentions import join_names, join_titles
from triplebeam.extract.local.names import occurrences, reads_like_phrase, title_name
from triplebeam.extract.local.nominals import nominal_facts
from triplebeam.extract.local.phrases import noun_phrase
from triplebeam.extract.local.reference import References
from triplebeam.extract.local.tidy import Aside, PlainText, plain, tidy
from triplebeam.triple import entity_key

if TYPE_CHECKING:
    from spacy.language import Language
    from spacy.tokens import Doc, Token

    from triplebeam.passage import Passage

_LONGEST_PART = 120
_LONGEST_TEXT = 100_000


def load_parser(folder: Path) -> "Language":
    """The parser without the parts no rule reads."""
    import spacy

    return spacy.load(folder, exclude=["senter", "lemmatizer", "attribute_ruler"])


def draw(nlp: "Language", passages: "Iterable[Passage]") -> Iterator[Extraction]:
    """One extraction a passage, in order."""
    texts = ((plain(_body(passage) if _is_bearable(passage) else ""), passage) for passage in passages)
    inputs = (
        (join_titles(nlp.make_doc(text.text), _titles(text, passage)), (text, passage)) for text, passage in texts
    )
    for doc, (text, passage) in nlp.pipe(inputs, as_tuples=True, batch_size=64):
        yield _extraction_or_failure(doc, text, passage)


def _extraction_or_failure(doc: "Doc", text: PlainText, passage: "Passage") -> Extraction:
    if not _is_bearable(passage):
        reason = (
            f"the passage has {len(passage.text):,} characters and the parser takes {_LONGEST_TEXT:,}: --split cuts it"
        )
        return Extraction(passage_id=passage.id, failure=reason)
    try:
        return _extraction(doc, text, passage)
    except RecursionError:
        return Extraction(passage_id=passage.id, failure="a sentence is nested too deeply to be language: is it data?")


def _body(passage: "Passage") -> str:
    """The text without a first line that is the title: it states nothing, and hides whom "it" means further down."""
    heading, _, rest = passage.text.lstrip().partition("\n")
    is_title = passage.title and entity_key(heading) == entity_key(passage.title)
    return rest if is_title and rest.strip() else passage.text


def _is_bearable(passage: "Passage") -> bool:
    """A parse takes memory in proportion to the text; a passage this long is a document that was not cut."""
    return len(passage.text) <= _LONGEST_TEXT


def _titles(text: PlainText, passage: "Passage") -> list[tuple[int, int]]:
    """The quoted titles, and the passage's own title where it reads like a phrase (``Just Go with It``)."""
    title = title_name(tidy(passage.title), text.text)
    own = occurrences(title, text.text) if reads_like_phrase(title) else []
    return [*text.titles, *own]


def _extraction(doc: "Doc", text: PlainText, passage: "Passage") -> Extraction:
    title = title_name(tidy(passage.title), doc.text)
    join_names(doc, title)
    stated = list(_stated_of_names(doc, text.asides))
    references = References(
        doc,
        title,
        born=any(map(_is_life, text.asides[:1])),
        also={other: noun_phrase(name) for name, predicate, other in stated if predicate == "also known as"},
    )
    rows = [
        *((references.title, "also known as", alias) for alias in references.aliases),
        *((entity, predicate, other) for name, predicate, other in stated if (entity := references.entity(name))),
        *clause_facts(doc, references),
        *nominal_facts(doc, references),
    ]
    names = (references.entity(token) for token in doc if is_named(token) and token.ent_type_ in NAME_KINDS)
    return sort_out(passage.id, _worth_keeping(rows), [name for name in (references.title, *names) if name])


def _stated_of_names(doc: "Doc", asides: Iterable[Aside]) -> Iterator[tuple["Token", str, str]]:
    """What a bracket states, with the name that ends where the bracket began."""
    ends = {token.idx + len(token): token for token in doc}
    for aside in asides:
        token = ends.get(aside.position)
        if token is not None and _is_life(aside) and token.dep_ == "pobj" and is_named(token.head.head):
            token = token.head.head  # "Hedwig of Saxony (1445–1511)": Hedwig died, not Saxony
        if token is not None and is_named(token) and not is_time(token):
            yield from ((token, predicate, other) for predicate, other in aside.facts)


def _is_life(aside: Aside) -> bool:
    return any(predicate.startswith(("born", "died")) for predicate, _ in aside.facts)


def _worth_keeping(rows: Iterable[tuple[str, str, str]]) -> list[tuple[str, str, str]]:
    """Once each under the normal form, with two ends of bearable length, and not what a longer row says as well."""
    kept: dict[tuple[str, ...], tuple[str, str, str]] = {}
    for row in rows:
        keys = tuple(entity_key(part) for part in row)
        if keys[0] != keys[2] and max(len(part) for part in row) <= _LONGEST_PART:
            kept.setdefault(keys, row)
    return [row for keys, row in kept.items() if not any(_says_more(other, keys) for other in kept)]


def _says_more(longer: tuple[str, ...], row: tuple[str, ...]) -> bool:
    """``X, is town in, Y`` says more than ``X, is, town``, and ``X, has a role in, Y`` more than ``X, role in, Y``."""
    if longer[0] != row[0]:
        return False
    if longer[2] == row[2] and longer[1] != row[1]:
        return row[1] == "mentions" or longer[1].endswith(f" {row[1]}")
    return longer[1].startswith(f"{row[1]} {row[2]} ")
