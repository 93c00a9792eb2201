"""BEIR folders (Thakur et al., NeurIPS 2021): ``corpus.jsonl``, ``queries.jsonl``, ``qrels/<split>.tsv``."""

from collections.abc import Iterator, Sequence
from pathlib import Path

from triplebeam.errors import BadInputError
from triplebeam.evaluate.questions import Question, open_text
from triplebeam.passage import Document
from triplebeam_research.datasets.dataset import Collected, Dataset, LeftOut, Rereadable, require_gold
from triplebeam_research.datasets.rows import read_rows

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
    for row in read_rows(_file(folder, "queries.jsonl")):
        query_id = row.text("_id", "id")
        gold = tuple(relevant.pop(query_id, ()))
        known = Question(id=query_id, question=row.text("text"), gold=gold) if gold else _NOT_JUDGED
        collected.add(row.place, known)
    for query_id in relevant:
        raise BadInputError(f"{qrels} judges the query {query_id!r}, which is not in {folder / 'queries.jsonl'}.")
    corpus = _file(folder, "corpus.jsonl")
    return require_gold(collected.dataset(Rereadable(lambda: _documents(corpus)), sources))


def _file(folder: Path, name: str) -> Path:
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


def _documents(path: Path) -> Iterator[Document]:
    """Yield the documents. Rows of a title alone have it as their text; rows of neither are nothing to search."""
    for row in read_rows(path):
        title = row.text_or_empty("title")
        if text := row.text_or_empty("text") or title:
            yield Document(id=row.text("_id", "id"), title=title, text=text, is_passage=True)
