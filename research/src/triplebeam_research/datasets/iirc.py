"""IIRC (Ferguson et al., EMNLP 2020): ``train.json``, ``dev.json``; ``context_articles.json``, what they link to.

The corpus is the passages that questions were written for and the paragraphs of every article: its lines of more than
ten words, as in IRCoT's setting. Gold are the paragraphs from which a question's ``context`` was copied: the one that
holds the copy word for word, or else the one with most of its words. Questions for which none has half of them are
left out, as are those that the articles do not answer.
"""

import html
import re
from collections.abc import Iterable, Iterator, Mapping, Sequence
from pathlib import Path
from typing import NamedTuple

from triplebeam.errors import BadInputError
from triplebeam.evaluate.questions import Question
from triplebeam_research.datasets.dataset import (
    Collected,
    Dataset,
    LeftOut,
    Paragraph,
    Rereadable,
    deduplicate,
    paragraph,
)
from triplebeam_research.datasets.rows import Row, members, read_first_character, read_rows

_NOT_ANSWERED = LeftOut("not answered by the articles")
_NOT_FOUND = LeftOut("with evidence that is not in the articles")
_TAG = re.compile(r"</?[a-zA-Z][^<>]*>")
_MIN_WORDS = 11
_MAIN = "main"


class _Evidence(NamedTuple):
    """A stretch of text copied from an article, named in lower case."""

    article: str
    text: str


def read_iirc(sources: Sequence[Path]) -> Dataset:
    """Read question files and the one file of articles, in any order."""
    articles = [source for source in sources if read_first_character(source) == "{"]
    files = [source for source in sources if source not in articles]
    if len(articles) != 1 or not files:
        raise BadInputError(
            f"IIRC is read from train.json or dev.json and context_articles.json; {len(files)} files of questions and"
            f" {len(articles)} of articles are named."
        )
    links = [link.text_or_empty("target") for row in _passages(files) for link in row.rows("links")]
    titles = {link.lower(): link for link in links}
    wanted = dict.fromkeys(each for row in _passages(files) for q in row.rows("questions") for each in _evidence(q))
    found = dict(_find(wanted, _articles(articles[0], titles)))
    collected = Collected()
    for row in _passages(files):
        for number, each in enumerate(row.rows("questions"), start=1):
            collected.add(each.place, _question(each, row, number, found))

    def corpus() -> Iterator[Paragraph]:
        yield from map(_main, _passages(files))
        for _, paragraphs in _articles(articles[0], titles):
            yield from paragraphs

    return collected.dataset(Rereadable(lambda: deduplicate(corpus())), sources)


def _passages(files: Sequence[Path]) -> Iterator[Row]:
    for file in files:
        yield from read_rows(file)


def _main(row: Row) -> Paragraph:
    return paragraph(row.text("title"), row.text("text"))


def _articles(path: Path, titles: Mapping[str, str]) -> Iterator[tuple[str, list[Paragraph]]]:
    """Return each article's lower-case name, as the file has it, and its paragraphs under the title that links show."""
    for name, text in members(path):
        if not isinstance(text, str):
            raise BadInputError(f"{path}: the article {name!r} is not a text: is it IIRC's context_articles.json?")
        lines = html.unescape(_TAG.sub("", text)).split("\n")
        title = titles.get(name.lower(), name)
        yield name.lower(), [paragraph(title, line) for line in lines if len(line.split()) >= _MIN_WORDS]


def _evidence(row: Row) -> list[_Evidence]:
    """Return what the answer was read from, except the passage in front of the writer."""
    context = [(each.text("passage"), each.text_or_empty("text")) for each in row.rows("context")]
    return [_Evidence(article.lower(), _collapse_spaces(text)) for article, text in context if article != _MAIN]


def _find(
    wanted: Iterable[_Evidence], articles: Iterable[tuple[str, list[Paragraph]]]
) -> Iterator[tuple[_Evidence, str]]:
    """Find the paragraph's id for each piece of evidence that has one."""
    by_article: dict[str, list[_Evidence]] = {}
    for evidence in wanted:
        by_article.setdefault(evidence.article, []).append(evidence)
    for name, paragraphs in articles:
        for evidence in by_article.get(name, ()):
            best = max(paragraphs, key=lambda each: _overlap(evidence.text, _collapse_spaces(each.text)), default=None)
            if best and _overlap(evidence.text, _collapse_spaces(best.text)) >= 0.5:
                yield evidence, best.id


def _overlap(evidence: str, text: str) -> float:
    """Return the share of the evidence's words that are in the text; more than 1 where it is there word for word."""
    words = set(evidence.lower().split())
    return 2.0 if words and evidence in text else len(words & set(text.lower().split())) / max(1, len(words))


def _collapse_spaces(text: str) -> str:
    return " ".join(text.split())


def _question(row: Row, passage: Row, number: int, found: Mapping[_Evidence, str]) -> Question | LeftOut:
    answer = row.row("answer")
    if (answer_type := answer.text("type")) == "none":
        return _NOT_ANSWERED
    evidence = _evidence(row)
    if not all(each in found for each in evidence):
        return _NOT_FOUND
    has_main = len(evidence) < len(row.rows("context"))
    gold = [_main(passage).id] * has_main + [found[each] for each in evidence]
    return Question(
        id=row.text_or_empty("qid") or f"{_main(passage).id}-{number}",
        question=row.text("question"),
        gold=tuple(dict.fromkeys(gold)),
        answers=_answers(answer, answer_type),
        type=answer_type,
    )


def _answers(row: Row, answer_type: str) -> tuple[str, ...]:
    """Return the answers: several spans are one answer together; a value counts with and without its unit."""
    if answer_type == "span":
        return (", ".join(span.text("text") for span in row.rows("answer_spans")),)
    if answer_type not in ("value", "binary"):
        raise row.make_error(f"has the type {answer_type!r}, which is none of span, value, binary and none")
    value, unit = row.text("answer_value"), row.text_or_empty("answer_unit")
    return (f"{value} {unit}", value) if unit else (value,)
