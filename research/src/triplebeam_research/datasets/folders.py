"""Datasets that are folders, under their own ids: our own layout, and BEIR's.

Ours is ``corpus.jsonl`` and ``questions*.jsonl``, read and written as docs/formats.md has them. BEIR's (Thakur et al.,
NeurIPS 2021) is ``corpus.jsonl``, ``queries.jsonl``, ``qrels/<split>.tsv``.
"""

import json
from collections import Counter
from collections.abc import Iterable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path

from triplebeam.errors import BadInputError, SourceError
from triplebeam.evaluate.questions import Question, open_text, read_questions
from triplebeam.ingest.records import read_json_lines
from triplebeam.passage import Document
from triplebeam_research.datasets.dataset import REPEATED, Collected, Dataset, LeftOut, Rereadable, require_gold
from triplebeam_research.datasets.rows import read_rows


def read_own(sources: Sequence[Path]) -> Dataset:
    """Read folders or files, under their own ids; several files are read as one dataset."""
    files = [file for source in sources for file in _files(source)]
    corpora = [file for file in files if file.name.startswith("corpus")]
    question_files = [file for file in files if not file.name.startswith("corpus")]
    if not question_files:
        raise BadInputError(f"there are no questions*.jsonl in {', '.join(map(str, sources))}: name a file of them.")
    collected = Collected()
    for file in question_files:
        for question in read_questions(file):
            if question.unresolved:
                raise BadInputError(
                    f"question {question.id!r} of {file} names its gold by file or phrase, which only an index can look"
                    " up: use the file with `triplebeam bench` as it is."
                )
            collected.add(str(file), question)
        for row in read_rows(file):
            if row.has("duplicate_of"):
                collected.add(row.place, LeftOut(REPEATED))
    return require_gold(collected.dataset(Rereadable(lambda: _documents(corpora)), sources))


def _files(source: Path) -> list[Path]:
    if not source.is_dir():
        return [source]
    return sorted(
        path
        for path in source.iterdir()
        if path.name.startswith(("corpus.", "questions")) and path.name.endswith((".jsonl", ".jsonl.gz"))
    )


def _documents(corpora: Sequence[Path]) -> Iterator[Document]:
    for path in corpora:
        try:
            for number, outcome in read_json_lines(path, path.name):
                if isinstance(outcome, str):
                    raise BadInputError(f"{path}, row {number} is no passage: {outcome}.")
                yield outcome
        except (SourceError, OSError) as error:
            raise BadInputError(f"{path} cannot be read: {error}.") from error


CORPUS = "corpus.jsonl"
QUESTIONS = "questions.jsonl"


@dataclass(frozen=True, kw_only=True)
class Written:
    """What is in the folder now."""

    passages: int
    questions: int
    hops: Mapping[int, int]
    """Questions by their number of hops; those whose hops are not known are left out."""
    left_out: Mapping[str, int]
    to_be_cut: bool
    """Are there documents that are longer than a passage should be?"""


def refuse_to_overwrite(folder: Path) -> None:
    """Refuse to overwrite anything by accident. Called before anything is read."""
    for path in (folder / CORPUS, folder / QUESTIONS):
        if path.exists():
            raise BadInputError(f"{path} already exists: name another folder, or use --force to overwrite it.")


def write_dataset(dataset: Dataset, folder: Path) -> Written:
    """Write both files: whole, or nothing. A dataset without passages has no corpus."""
    counts: Counter[bool] = Counter()

    def passages() -> Iterator[dict[str, object]]:
        for document in dataset.documents:
            counts[document.is_passage] += 1
            yield _passage(document)

    try:
        folder.mkdir(parents=True, exist_ok=True)
        with _drafts(folder) as (corpus, questions):
            _write(corpus, passages())
            _write(questions, map(Question.row, dataset.questions))
            # Once all is read. The old questions go first: they must never be found beside a new corpus.
            (folder / QUESTIONS).unlink(missing_ok=True)
            corpus.replace(folder / CORPUS)
            if not counts:
                (folder / CORPUS).unlink()
            questions.replace(folder / QUESTIONS)
    except OSError as error:
        raise BadInputError(f"{folder} cannot be written to: {error.strerror}.") from error
    hops = Counter(question.hops for question in dataset.questions if question.hops)
    return Written(
        passages=counts.total(),
        questions=len(dataset.questions),
        hops=dict(sorted(hops.items())),
        left_out=dataset.left_out,
        to_be_cut=counts[False] > 0,
    )


@contextmanager
def _drafts(folder: Path) -> Iterator[tuple[Path, Path]]:
    """Open two files to write to, which are removed in the end whatever happens."""
    drafts = folder / f"{CORPUS}.new", folder / f"{QUESTIONS}.new"
    try:
        yield drafts
    finally:
        for draft in drafts:
            draft.unlink(missing_ok=True)


def _write(path: Path, rows: Iterable[Mapping[str, object]]) -> None:
    with path.open("w", encoding="utf-8", newline="\n") as file:
        for row in rows:
            file.write(json.dumps(row, ensure_ascii=False) + "\n")


def _passage(document: Document) -> dict[str, object]:
    row: dict[str, object] = {"id": document.id, "title": document.title, "text": document.text}
    return row | ({"metadata": dict(document.metadata)} if document.metadata else {})


_HEADER = ["query-id", "corpus-id", "score"]
_NOT_JUDGED = LeftOut("without a relevant passage in the split")


def read_beir(sources: Sequence[Path]) -> Dataset:
    """Read the corpus under its own ids, and the queries of one split: the folder's only one, or the file named."""
    if len(sources) != 1:
        raise BadInputError(
            f"a BEIR dataset is one folder, or one file of its qrels; {len(sources)} sources are named."
        )
    qrels = _find_only_split(sources[0]) if sources[0].is_dir() else sources[0]
    folder = qrels.parent.parent
    relevant = _read_relevant(qrels)
    collected = Collected()
    for row in read_rows(_find_beir_file(folder, "queries.jsonl")):
        query_id = row.text("_id", "id")
        gold = tuple(relevant.pop(query_id, ()))
        known = Question(id=query_id, question=row.text("text"), gold=gold) if gold else _NOT_JUDGED
        collected.add(row.place, known)
    for query_id in relevant:
        raise BadInputError(f"{qrels} judges the query {query_id!r}, which is not in {folder / 'queries.jsonl'}.")
    corpus = _find_beir_file(folder, "corpus.jsonl")
    return require_gold(collected.dataset(Rereadable(lambda: _read_beir_corpus(corpus)), sources))


def _find_beir_file(folder: Path, name: str) -> Path:
    for path in (folder / name, folder / f"{name}.gz"):
        if path.is_file():
            return path
    raise BadInputError(f"{folder} is no BEIR folder: it has no {name}.")


def _find_only_split(folder: Path) -> Path:
    splits = sorted(path for path in (folder / "qrels").glob("*.tsv*") if path.name.endswith((".tsv", ".tsv.gz")))
    if not splits:
        raise BadInputError(f"{folder} is no BEIR folder: it has no qrels/<split>.tsv.")
    if len(splits) > 1:
        raise BadInputError(f"{folder} has several splits: name one of {', '.join(map(str, splits))} instead.")
    return splits[0]


def _read_relevant(path: Path) -> dict[str, list[str]]:
    """Read passage ids by query; only a score above 0 makes a passage relevant."""
    relevant: dict[str, list[str]] = {}
    with open_text(path) as file:
        for number, line in enumerate(file, start=1):
            cells = line.rstrip("\r\n").split("\t")
            if number == 1 and cells != _HEADER:
                raise BadInputError(f"{path}, row 1 is not the header {', '.join(_HEADER)}, separated by tabs.")
            if number > 1 and line.strip() and _score(path, number, cells) > 0:
                relevant.setdefault(cells[0], []).append(cells[1])
    if not relevant:
        raise BadInputError(f"{path} names no relevant passage: is it a file of qrels?")
    return relevant


def _score(path: Path, number: int, cells: list[str]) -> float:
    try:
        _, _, score = cells
        return float(score)
    except ValueError:
        raise BadInputError(
            f"{path}, row {number} is not query-id, corpus-id and a score, separated by tabs."
        ) from None


def _read_beir_corpus(path: Path) -> Iterator[Document]:
    """Yield the documents. Rows of a title alone have it as their text; rows of neither are nothing to search."""
    for row in read_rows(path):
        title = row.text_or_empty("title")
        if text := row.text_or_empty("text") or title:
            yield Document(id=row.text("_id", "id"), title=title, text=text, is_passage=True)
