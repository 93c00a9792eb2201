"""Datasets whose questions come with their paragraphs: the corpus is the union of those.

- HotpotQA (Yang et al., EMNLP 2018): ``hotpot_train_v1.1.json``, ``hotpot_dev_distractor_v1.json``.
- 2WikiMultiHopQA (Ho et al., COLING 2020), in the same format: ``train.json``, ``dev.json``, ``test.json``. With the
  ``id_aliases.json`` of later releases an answer's aliases count too, as they do in its own evaluation.
- MuSiQue (Trivedi et al., TACL 2022): ``musique_ans_v1.0_*.jsonl``, ``musique_full_v1.0_*.jsonl``.
- IRCoT's layout (Trivedi et al., ACL 2023): ``processed_data/<dataset>/*.jsonl``. Its corpora are larger than what
  comes with its questions: the union of the paragraphs in the raw files of MuSiQue and 2WikiMultiHopQA. Raw files named
  beside processed ones give their paragraphs to the corpus, and no questions.
- HippoRAG's layout (Gutiérrez et al., NeurIPS 2024), also its case studies: ``<name>.json``, ``<name>_corpus.json``.
  The corpus is a list of ``title`` and ``text``, or for HotpotQA an object of titles with their sentences; the
  questions keep their dataset's own fields. A corpus is known by the word "corpus" in its name.
"""

import re
from collections.abc import Iterator, Sequence
from dataclasses import replace
from pathlib import Path

from triplebeam.errors import BadInputError
from triplebeam.evaluate.questions import Question, SubQuestion
from triplebeam_research.datasets.dataset import (
    Collected,
    Dataset,
    LeftOut,
    Paragraph,
    Rereadable,
    deduplicate,
    gold_ids,
    join_sentences,
    paragraph,
    read_contexts,
    read_listed,
    read_titled,
    require_gold,
)
from triplebeam_research.datasets.rows import Row, members, read_first_character, read_rows


def read_hotpotqa(sources: Sequence[Path]) -> Dataset:
    """Read the union of all questions' paragraphs, and the questions."""
    return read_contexts(sources, read_titled, _hotpotqa_question)


def read_two_wiki(sources: Sequence[Path]) -> Dataset:
    """Read the union of all questions' paragraphs, and the questions."""
    aliases: dict[str, tuple[str, ...]] = {}
    files = []
    for source in sources:
        first = next(read_rows(source), None)
        if first and first.has("Q_id"):
            for row in read_rows(source):
                aliases[row.text("Q_id")] = row.texts("aliases") + row.texts("demonyms")
        else:
            files.append(source)

    def with_aliases(row: Row, paragraphs: list[Paragraph]) -> Question:
        plain = _hotpotqa_question(row, paragraphs)
        more = aliases.get(row.text_or_empty("answer_id"), ()) if plain.answers else ()
        evidences = _evidences(row)
        return replace(
            plain,
            answers=tuple(dict.fromkeys(plain.answers + more)),
            evidences=evidences,
            decomposition=tuple(_relation_asked(evidence, paragraphs) for evidence in evidences),
        )

    return read_contexts(files, read_titled, with_aliases)


def _hotpotqa_question(row: Row, paragraphs: list[Paragraph]) -> Question:
    """Return a question; its hops are the distinct titles among its supporting facts."""
    return Question(
        id=row.text("_id", "id"),
        question=row.text("question"),
        gold=gold_ids(paragraphs),
        answers=row.texts("answer"),
        hops=len({each.title for each in paragraphs if each.is_gold}) or None,
        type=row.text_or_empty("type"),
    )


def _evidences(row: Row) -> tuple[tuple[str, str, str], ...]:
    triples = row.items("evidences") if row.has("evidences") else []
    found = [tuple(map(str, each)) for each in triples if isinstance(each, list) and len(each) == 3]
    if len(found) < len(triples):
        raise row.make_error("has something in 'evidences' that is not a triple")
    return tuple((subject, relation, object_) for subject, relation, object_ in found)


def _relation_asked(evidence: tuple[str, str, str], paragraphs: list[Paragraph]) -> SubQuestion:
    """Write a triple as a sub-question: the dataset has none. The passage is the subject's, if it is gold."""
    subject, relation, object_ = evidence
    own = [each.id for each in paragraphs if each.is_gold and each.title.casefold() == subject.casefold()]
    return SubQuestion(question=f"What is the {relation} of {subject}?", answer=object_, gold=own[0] if own else "")


UNANSWERABLE = LeftOut("marked unanswerable")
_KIND = re.compile(r"(?P<type>(?P<hops>\d+)hop\d*)__")


def read_musique(sources: Sequence[Path]) -> Dataset:
    """Read the union of all questions' paragraphs, and the answerable questions."""
    return read_contexts(sources, lambda row: read_listed(row, "paragraphs"), _musique_question)


def kind(question_id: str) -> tuple[int | None, str]:
    """Parse the hops and the type from the beginning of a question's id: ``3hop1__…`` is of type 3hop1, with 3 hops."""
    match = _KIND.match(question_id)
    return (int(match["hops"]), match["type"]) if match else (None, "")


def _musique_question(row: Row, paragraphs: list[Paragraph]) -> Question | LeftOut:
    question_id, text = row.text("id"), row.text("question")
    if row.fields.get("answerable", True) is False:
        return UNANSWERABLE
    hops, kind_name = kind(question_id)
    steps = row.rows("question_decomposition") if row.has("question_decomposition") else []
    return Question(
        id=question_id,
        question=text,
        gold=gold_ids(paragraphs),
        answers=tuple(dict.fromkeys(row.texts("answer") + row.texts("answer_aliases"))),
        hops=hops,
        type=kind_name,
        decomposition=tuple(_musique_step(step, paragraphs) for step in steps),
    )


def _musique_step(step: Row, paragraphs: list[Paragraph]) -> SubQuestion:
    """Return a sub-question; ``paragraph_support_idx`` numbers the question's paragraphs, or is null."""
    place = step.text_or_empty("paragraph_support_idx")
    if place and not (place.isdecimal() and int(place) < len(paragraphs)):
        raise step.make_error(f"names the paragraph {place}, and there are {len(paragraphs)}")
    return SubQuestion(
        question=step.text("question"),
        answer=step.text_or_empty("answer"),
        gold=paragraphs[int(place)].id if place else "",
    )


_IRCOT_DATE = ("day", "month", "year")


def read_ircot(sources: Sequence[Path]) -> Dataset:
    """Read the union of all paragraphs, and the questions of the processed files."""
    return read_contexts(sources, _ircot_paragraphs, _ircot_question)


def _ircot_paragraphs(row: Row) -> list[Paragraph]:
    if row.has("context"):
        return read_titled(row)
    pinned = read_listed(row, "pinned_contexts") if row.has("pinned_contexts") else []
    return pinned + read_listed(row, "contexts", "paragraphs")


def _ircot_question(row: Row, paragraphs: list[Paragraph]) -> Question | None:
    if row.has("context", "paragraphs"):
        return None
    question_id = row.text("question_id")
    hops, kind_name = kind(question_id)
    return Question(
        id=question_id,
        question=row.text("question_text"),
        gold=gold_ids(paragraphs),
        answers=tuple(dict.fromkeys(filter(None, map(_ircot_answer, row.rows("answers_objects"))))),
        hops=hops,
        type=row.text_or_empty("type") or kind_name,
    )


def _ircot_answer(row: Row) -> str:
    """Return one accepted answer: its spans together, or a number, or a date."""
    if spans := row.texts("spans"):
        return ", ".join(spans)
    if number := row.text_or_empty("number"):
        return number
    date = row.row("date") if row.has("date") else row
    return " ".join(filter(None, (date.text_or_empty(part) for part in _IRCOT_DATE)))


_CORPUS = "corpus"


def read_hipporag(sources: Sequence[Path]) -> Dataset:
    """Read the corpora named, or else those beside the questions, and the questions."""
    files = [source for source in sources if _CORPUS not in source.name]
    if not files:
        raise BadInputError(
            f"there are no questions among {', '.join(map(str, sources))}: name <name>.json as well as"
            " <name>_corpus.json."
        )
    corpora = [source for source in sources if _CORPUS in source.name] or [_find_corpus_beside(file) for file in files]
    collected = Collected()
    for file in files:
        for number, row in enumerate(read_rows(file), start=1):
            collected.add(row.place, _hipporag_question(row, f"{file.name.split('.')[0]}-{number}"))
    documents = Rereadable(lambda: deduplicate(each for corpus in corpora for each in _read_corpus(corpus)))
    return require_gold(collected.dataset(documents, sources))


def _find_corpus_beside(file: Path) -> Path:
    stem, dot, endings = file.name.partition(".")
    beside = file.with_name(f"{stem}_{_CORPUS}{dot}{endings}")
    if not beside.is_file():
        raise BadInputError(f"the corpus of {file} is neither named nor at {beside}: name it beside the questions.")
    return beside


def _read_corpus(path: Path) -> Iterator[Paragraph]:
    if read_first_character(path) == "{":
        for title, sentences in members(path):
            yield paragraph(title, join_sentences(Row(f"{path}, {title!r}", {}), sentences))
    else:
        for row in read_rows(path):
            yield paragraph(row.text_or_empty("title"), row.text("text", "paragraph_text"))


def _hipporag_question(row: Row, default_id: str) -> Question | LeftOut:
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
