"""Read what the bridge reader is trained on: corpora with questions, and manuals without.

| kind | from | licence |
| --- | --- | --- |
| wiki | MuSiQue, 2WikiMultiHopQA, HotpotQA (dev and train) | CC BY 4.0, Apache-2.0, CC BY-SA 4.0 |
| news | MultiHop-RAG | ODC-BY |
| chats | LiHua-World | MIT |
| novels | GraphRAG-Bench (novel) | MIT, books in the public domain |
| manuals | Node.js API, CMake help (no questions); Borg (questions of ``benchmarks/technical-docs``) | MIT, BSD, BSD |
"""

import gzip
import json
import re
import zlib
from collections.abc import Iterator
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from triplebeam.passage import Passage

KINDS = ("wiki", "news", "chats", "novels", "manuals")
DATASETS = {
    "musique": "wiki",
    "2wikimultihopqa": "wiki",
    "hotpotqa": "wiki",
    "musique_train": "wiki",
    "hotpotqa_train": "wiki",
    "beyond/multihoprag": "news",
    "beyond/lihuaworld": "chats",
    "beyond/graphragbench_novel": "novels",
}
FOLDS = 5
TRIPLES = "triples.gpt-3.5-turbo-1106.jsonl.gz"
_WORDS_PER_PASSAGE = 120
_HEADING = re.compile(r"^(?:#+ (?P<marked>.+)|(?P<underlined>\S.*)\n[=\-~^]{3,})\s*$", re.MULTILINE)
_NOISE = re.compile(
    r"<!--.*?-->|^```.*?^```|^\.\. (?:_|versionadded|contents|only|toctree).*?$", re.DOTALL | re.MULTILINE
)


@dataclass
class Example:
    """A question with the rows of its gold passages; ``fold`` is -1 for one that was made from the text."""

    id: str
    question: str
    gold: list[int]
    fold: int


@dataclass
class Corpus:
    """Passages and questions about them."""

    name: str
    kind: str
    passages: list[Passage]
    questions: list[Example] = field(default_factory=list)
    triples: list[list[list[str]]] = field(default_factory=list)
    """Of each passage, where a file has them."""


def read_rows(path: Path) -> list[dict[str, Any]]:
    """Read a file of JSON lines, gzipped or not."""
    with gzip.open(path, "rt", encoding="utf-8") if path.suffix == ".gz" else path.open(encoding="utf-8") as lines:
        return [json.loads(line) for line in lines]


def choose_fold(question_id: str) -> int:
    """Choose a question's fold by its id alone."""
    return zlib.crc32(question_id.encode()) % FOLDS


def read_dataset(data: Path, name: str) -> Corpus:
    """Read a dataset; a question that repeats another is left out."""
    folder = data / name
    rows = read_rows(folder / "corpus.jsonl.gz")
    passages = [
        Passage(
            id=row["id"],
            title=row.get("title", ""),
            text=row["text"],
            metadata={key: row[key] for key in ("source", "published_at") if key in row},
        )
        for row in rows
    ]
    places = {passage.id: row for row, passage in enumerate(passages)}
    questions = [
        Example(row["id"], row["question"], [places[gold] for gold in row["gold"]], choose_fold(row["id"]))
        for row in read_rows(next(iter(sorted(folder.glob("questions*.jsonl.gz")))))
        if not row.get("duplicate_of")
    ]
    corpus = Corpus(Path(name).name, DATASETS[name], passages, questions)
    if (folder / TRIPLES).is_file():
        found = {row["passage_id"]: row["triples"] for row in read_rows(folder / TRIPLES)}
        corpus.triples = [found.get(passage.id, []) for passage in passages]
    return corpus


def read_manual(name: str, folder: Path, pattern: str, questions: Path | None = None) -> Corpus:
    """Read the text files of a manual, cut at headings and after about 120 words."""
    passages = [passage for file in sorted(folder.rglob(pattern)) for passage in _cut(file, folder)]
    corpus = Corpus(name, "manuals", passages)
    for row in read_rows(questions) if questions else []:
        golds = [_find_phrases(passages, gold.get("any", [gold])) for gold in row["gold"]]
        if all(golds):
            found = [rows[0] for rows in golds]
            corpus.questions.append(Example(row["id"], row["question"], found, choose_fold(row["id"])))
    return corpus


def _find_phrases(passages: list[Passage], golds: list[dict[str, str]]) -> list[int]:
    phrases = [" ".join(re.sub(r"[`*]", "", gold["phrase"]).split()).lower() for gold in golds]
    texts = (re.sub(r"[`*]", "", passage.text).lower() for passage in passages)
    return [row for row, text in enumerate(texts) if any(phrase in text for phrase in phrases)]


def _cut(file: Path, folder: Path) -> Iterator[Passage]:
    text = _NOISE.sub("", file.read_text(encoding="utf-8", errors="replace"))
    page = str(file.relative_to(folder).with_suffix(""))
    headings = [(0, 0, page), *((m.start(), m.end(), m["marked"] or m["underlined"]) for m in _HEADING.finditer(text))]
    for number, (_, begin, heading) in enumerate(headings):
        end = headings[number + 1][0] if number + 1 < len(headings) else len(text)
        words = text[begin:end].split()
        title = heading if heading == page else f"{page}: {heading}"
        for start in range(0, len(words), _WORDS_PER_PASSAGE):
            part = words[start : start + _WORDS_PER_PASSAGE]
            if len(part) >= 12:
                yield Passage(id=f"{title}#{start}", title=title, text=" ".join(part))
