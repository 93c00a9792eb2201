"""A process of its own that parses passages: batches come in on stdin as lines of JSON, extractions go out on stdout.

Run as ``python -m triplebeam.extract.local.worker FOLDER`` by ``processes.py``.
"""

import json
import os
import signal
import sys
from pathlib import Path

from triplebeam.extract.local.facts import extract_passages, load_parser
from triplebeam.passage import Passage


def serve(folder: Path) -> None:
    """Answer batches until stdin ends."""
    nlp = load_parser(folder)
    for line in sys.stdin:
        passages = [Passage(id=passage_id, text=text, title=title) for passage_id, text, title in json.loads(line)]
        rows = [
            (found.passage_id, found.triples, found.entities, found.failure, found.unread_language)
            for found in extract_passages(nlp, passages)
        ]
        sys.stdout.write(json.dumps(rows) + "\n")
        sys.stdout.flush()


if __name__ == "__main__":
    signal.signal(signal.SIGINT, signal.SIG_IGN)  # Ctrl-C is for the process that started this one, which ends it
    try:
        serve(Path(sys.argv[1]))
    except BrokenPipeError:  # that process is gone
        os._exit(1)
