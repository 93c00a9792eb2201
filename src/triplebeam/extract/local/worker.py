"""A process of its own that parses passages: batches come in on stdin as lines of JSON, extractions go out on stdout.

Run as ``python -m triplebeam.extract.local.worker FOLDER`` by ``processes.py``.
"""

import os
import signal
import sys
from pathlib import Path

from triplebeam.extract.local.batches import parsing


def serve(folder: Path) -> None:
    """Answer batches until stdin ends."""
    parse = parsing(folder)
    for line in sys.stdin:
        sys.stdout.write(parse(line) + "\n")
        sys.stdout.flush()


if __name__ == "__main__":
    signal.signal(signal.SIGINT, signal.SIG_IGN)  # Ctrl-C is for the process that started this one, which ends it
    try:
        serve(Path(sys.argv[1]))
    except BrokenPipeError:  # that process is gone
        os._exit(1)
