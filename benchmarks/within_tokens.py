"""GNN-Ret's Figure 5 without a model: questions all of whose gold passages are retrieved within 3,500 tokens.

    python benchmarks/within_tokens.py INDEX DATASET QUESTIONS METHOD...

Adds a row per method to results.json: ``all_N``, of the questions with N gold passages those that have them all, and
``of_N``, how many there are.
"""

import sys
from collections import Counter
from datetime import UTC, datetime
from pathlib import Path

from triplebeam.assemble import context_of, open_index
from triplebeam.evaluate.questions import find_gold, read_questions
from triplebeam.index.source import MAX_PASSAGES
from triplebeam.methods.shared.reading import TOKENS, retrieve_within
from triplebeam_research.experiments.output import add_rows

HERE = Path(__file__).parent


def main() -> None:
    index, dataset, questions, methods = Path(sys.argv[1]), sys.argv[2], Path(sys.argv[3]), sys.argv[4:]
    add_rows(HERE / "results.json", [measure(index, dataset, questions, method) for method in methods])


def measure(folder: Path, dataset: str, path: Path, method: str) -> dict[str, object]:
    """Return a row of the results."""
    index = open_index(folder)
    snapshot = context_of(index).snapshot
    questions = find_gold(read_questions(path), snapshot.passages)
    retriever = index.retriever(method)
    asked, found = Counter[int](), Counter[int]()
    for question in questions:
        fitting = retrieve_within(retriever, question.question, snapshot.passages, TOKENS)
        gold = set(question.gold)
        asked[len(gold)] += 1
        found[len(gold)] += gold <= set(fitting.ids)
    bound = snapshot.manifest.keyword_passages
    return {
        "dataset": dataset,
        "method": f"{method} within {TOKENS} tokens",
        "embedder": snapshot.manifest.embedder.name,
        "triples": "gpt-3.5-turbo-1106",
        "questions": len(questions),
        **({"keyword_passages": bound} if bound != MAX_PASSAGES and "gnn_ret" in method else {}),
        **{f"all_{count}": found[count] for count in sorted(asked)},
        **{f"of_{count}": asked[count] for count in sorted(asked)},
        "measured": f"{datetime.now(UTC):%Y-%m-%d}",
    }


if __name__ == "__main__":
    main()
