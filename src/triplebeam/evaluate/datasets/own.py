"""This project's own layout: ``corpus.jsonl`` and ``questions*.jsonl``, as docs/formats.md has them."""

from collections.abc import Iterator, Sequence
from pathlib import Path

from triplebeam.errors import BadInputError, SourceError
from triplebeam.evaluate.datasets.dataset import REPEATED, Collected, Dataset, LeftOut, Rereadable, require_gold
from triplebeam.evaluate.datasets.row import read_rows
from triplebeam.evaluate.questions import read_questions
from triplebeam.ingest.json_lines import read_json_lines
from triplebeam.passage import Document


def read_own(sources: Sequence[Path]) -> Dataset:
    """Folders or files, under their own ids; several files are read as one dataset."""
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
