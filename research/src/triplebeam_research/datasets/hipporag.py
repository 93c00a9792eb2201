"""HippoRAG's layout (Gutiérrez et al., NeurIPS 2024), also its case studies: ``<name>.json``, ``<name>_corpus.json``.

The corpus is a list of ``title`` and ``text``, or for HotpotQA an object of titles with their sentences; the questions
keep their dataset's own fields. A corpus is known by the word "corpus" in its name.
"""

from collections.abc import Iterator, Sequence
from pathlib import Path

from triplebeam.errors import BadInputError
from triplebeam.evaluate.questions import Question
from triplebeam_research.datasets.dataset import Collected, Dataset, LeftOut, Rereadable, require_gold
from triplebeam_research.datasets.json_values import members, read_first_character
from triplebeam_research.datasets.multi_hop import UNANSWERABLE, kind
from triplebeam_research.datasets.paragraphs import (
    Paragraph,
    deduplicate,
    gold_ids,
    join_sentences,
    paragraph,
    read_listed,
    read_titled,
)
from triplebeam_research.datasets.row import Row, read_rows

_CORPUS = "corpus"


def read_hipporag(sources: Sequence[Path]) -> Dataset:
    """Read the corpora named, or else those beside the questions, and the questions."""
    files = [source for source in sources if _CORPUS not in source.name]
    if not files:
        raise BadInputError(
            f"there are no questions among {', '.join(map(str, sources))}: name <name>.json as well as"
            " <name>_corpus.json."
        )
    corpora = [source for source in sources if _CORPUS in source.name] or [_corpus_beside(file) for file in files]
    collected = Collected()
    for file in files:
        for number, row in enumerate(read_rows(file), start=1):
            collected.add(row.place, _question(row, f"{file.name.split('.')[0]}-{number}"))
    documents = Rereadable(lambda: deduplicate(each for corpus in corpora for each in _corpus(corpus)))
    return require_gold(collected.dataset(documents, sources))


def _corpus_beside(file: Path) -> Path:
    stem, dot, endings = file.name.partition(".")
    beside = file.with_name(f"{stem}_{_CORPUS}{dot}{endings}")
    if not beside.is_file():
        raise BadInputError(f"the corpus of {file} is neither named nor at {beside}: name it beside the questions.")
    return beside


def _corpus(path: Path) -> Iterator[Paragraph]:
    if read_first_character(path) == "{":
        for title, sentences in members(path):
            yield paragraph(title, join_sentences(Row(f"{path}, {title!r}", {}), sentences))
    else:
        for row in read_rows(path):
            yield paragraph(row.text_or_empty("title"), row.text("text", "paragraph_text"))


def _question(row: Row, default_id: str) -> Question | LeftOut:
    if row.fields.get("answerable", True) is False:
        return UNANSWERABLE
    question_id = row.text_or_empty("id", "_id") or default_id
    paragraphs = (
        read_titled(row) if row.has("supporting_facts") else read_listed(row, "paragraphs", "contexts", gold=True)
    )
    hops, kind_name = kind(question_id)
    titles = {each.title for each in paragraphs if each.is_gold}
    return Question(
        id=question_id,
        question=row.text("question"),
        gold=gold_ids(paragraphs),
        answers=tuple(dict.fromkeys(row.texts("answer", "gold_ans", "reference", "obj") + row.texts("answer_aliases"))),
        hops=len(titles) if row.has("supporting_facts") else hops,
        type=row.text_or_empty("type") or kind_name,
    )
