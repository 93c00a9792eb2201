"""A process of its own that parses passages: batches come in on stdin as lines of JSON, extractions go out on stdout.

Run as ``python -m triplebeam.extract.local.worker FOLDER`` by ``processes.py``.
"""

import json
import sys
from pathlib import Path

from triplebeam.extract.local.draw import draw, load_parser
from triplebeam.passage import Passage


def serve(folder: Path) -> None:
    """Answer batches until stdin ends."""
    nlp = load_parser(folder)
    for line in sys.stdin:
        passages = [Passage(id=passage_id, text=text, title=title) for passage_id, text, title in json.loads(line)]
        rows = [(drawn.passage_id, drawn.triples, drawn.entities, drawn.failure) for drawn in draw(nlp, passages)]
        sys.stdout.write(json.dumps(rows) + "\n")
        sys.stdout.flush()


if __name__ == "__main__":
    serve(Path(sys.argv[1]))
