"""The command line. Results go to stdout, everything else to stderr; an error is one line and exit code 2."""

import os
import sys

from triplebeam.errors import TriplebeamError


def main() -> None:
    """Run ``triplebeam``."""
    from triplebeam.serve.cli.app import app

    debug = "--debug" in sys.argv
    if debug:
        sys.argv.remove("--debug")
    try:
        app()
    except TriplebeamError as error:
        if debug:
            raise
        sys.stderr.write(f"triplebeam: {error}\n")
        sys.exit(2)
    except KeyboardInterrupt:
        sys.stderr.write("\ntriplebeam: stopped. What was done so far is kept; run the same command to go on.\n")
        sys.exit(130)
    except BrokenPipeError:
        # Whoever read our output has gone, as in `| head`: not an error, and nothing more to say.
        os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())
        sys.exit(0)
