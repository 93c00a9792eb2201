"""Passages for training: their sentences, and where these mention the entities of the triples extracted from them.

usage: python bank.py DATA BANK.jsonl.gz

DATA has the folders of the datasets (see docs/research/datasets.md). Passages that the evaluation of the check uses are
left out, and so is every other passage with the title of one of them.
"""

import gzip
import json
import sys
from collections.abc import Iterator
from pathlib import Path
from random import Random
from typing import Any

from triplebeam.support.names import is_title, mentions
from triplebeam.support.page import Page

DATASETS = ("musique", "2wikimultihopqa", "hotpotqa", "musique_train")
FIXTURES = Path(__file__).parents[2] / "tests" / "data"


def rows(path: Path) -> Iterator[dict[str, Any]]:
    with gzip.open(path, "rt", encoding="utf-8") as lines:
        yield from map(json.loads, lines)


def evaluated(data: Path) -> set[str]:
    """List the ids of all passages in the fixtures, of their questions' gold ones, and of test_support.py's samples."""
    lines = (FIXTURES / "quoted_facts.jsonl").read_text(encoding="utf-8").splitlines()
    ids = {json.loads(line)["passage_id"] for line in lines}
    asked = set()
    for row in (row for draw in (FIXTURES / "careful_reader").glob("*.jsonl.gz") for row in rows(draw)):
        asked.add(row["id"])
        ids.update(id_ for found in (*row["searches"].values(), *row["walks"].values()) for id_ in found)
    for name in DATASETS[:3]:
        questions = list(rows(data / name / "questions.dev.jsonl.gz"))
        ids.update(each for row in questions if row["id"] in asked for each in row["gold"])
        ids.update(Random(0).sample(sorted({each for row in questions for each in row["gold"]}), 100))
    return ids


def entry(title: str, text: str, triples: list[list[str]]) -> dict[str, Any]:
    """Read a passage: sentences as spans of its text, mentions as (sentence, start, end) for each entity's number."""
    page = Page(text, title)
    words, sentences = page.words, page.sentences
    entities = sorted({end for subject, _, object_ in triples for end in (subject, object_)})
    number = {entity: place for place, entity in enumerate(entities)}
    mentioned = [
        [
            (place, words[found.start].start, words[found.stop - 1].end)
            for place, sentence in enumerate(sentences)
            for found in mentions(entity, page, sentence)
        ]
        for entity in entities
    ]
    ends = [words[each.stop].start if each.stop < len(words) else len(text) for each in sentences]
    return {
        "title": title,
        "text": text,
        "sentences": [(words[each.start].start, end) for each, end in zip(sentences, ends, strict=True)],
        "entities": entities,
        "mentions": mentioned,
        "titles": [number[entity] for entity in entities if is_title(entity, page)],
        "triples": [(number[subject], predicate, number[object_]) for subject, predicate, object_ in triples],
    }


def main(data: Path, bank: Path) -> None:
    corpora = {name: list(rows(data / name / "corpus.jsonl.gz")) for name in DATASETS}
    left_out = evaluated(data)
    titles = {row["title"] for corpus in corpora.values() for row in corpus if row["id"] in left_out}
    seen: set[tuple[str, str]] = set()
    with gzip.open(bank, "wt", encoding="utf-8") as out:
        for name, corpus in corpora.items():
            triples = {
                row["passage_id"]: [each for each in row["triples"] if len(each) == 3 and all(map(str.strip, each))]
                for row in rows(data / name / "triples.gpt-3.5-turbo-1106.jsonl.gz")
            }
            for row in corpus:
                key = row["title"], row["text"]
                if row["title"] in titles or key in seen or not triples.get(row["id"]):
                    continue
                seen.add(key)
                out.write(json.dumps(entry(*key, triples[row["id"]]), ensure_ascii=False) + "\n")


if __name__ == "__main__":
    main(Path(sys.argv[1]), Path(sys.argv[2]))
