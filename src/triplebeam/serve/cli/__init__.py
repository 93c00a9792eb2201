"""The command line. Results go to stdout, everything else to stderr; an error is one line and exit code 2."""

import atexit
import gc
import io
import os
import sys

from triplebeam.errors import TriplebeamError
from triplebeam.text.characters import replace_control_characters

_STOPPED = 130
#: Set by the shell while it completes a command line.
_COMPLETING = "_TRIPLEBEAM_COMPLETE"
#: New objects after which Python looks for garbage. A search imports half of that; the default of 700 costs 7 %.
_OBJECTS_PER_COLLECTION = 200_000

#: Cycles that a thread of OpenBLAS spins for in case there is more to do, as a power of 2: half a millisecond. Its
#: default of 26 costs a twelfth of a search, and takes processors from others.
_LOG2_OF_CYCLES = "20"


def main() -> None:
    """Run ``triplebeam``."""
    end = sys.argv.index("--") if "--" in sys.argv else len(sys.argv)
    debug = "--debug" in sys.argv[:end]
    gc.set_threshold(_OBJECTS_PER_COLLECTION)
    atexit.register(gc.freeze)  # Python would look for garbage once more, in all that was imported: a sixth of a search
    for stream in (sys.stdout, sys.stderr):
        if isinstance(stream, io.TextIOWrapper):  # a console that cannot show a character shows a question mark
            stream.reconfigure(errors="replace")
    try:
        os.environ.setdefault("PYDANTIC_DISABLE_PLUGINS", "__all__")  # they are searched for in every package
        os.environ.setdefault("OPENBLAS_THREAD_TIMEOUT", _LOG2_OF_CYCLES)
        _warn_of_variables()
        from triplebeam.serve.cli.app import app

        app()
    except TriplebeamError as error:
        if debug:
            raise
        sys.stderr.write(f"triplebeam: {replace_control_characters(str(error))}\n")
        sys.exit(2)
    except (KeyboardInterrupt, SystemExit) as leaving:
        sys.exit(_exit_code(leaving))


def _warn_of_variables() -> None:
    """Warn of a misspelt setting, which would be ignored in silence."""
    if _COMPLETING in os.environ or not any(name.startswith("TRIPLEBEAM_") for name in os.environ):
        return
    from triplebeam.settings import unknown_variables

    for line in unknown_variables(os.environ):
        sys.stderr.write(f"triplebeam: {line}\n")


def _exit_code(leaving: KeyboardInterrupt | SystemExit) -> str | int | None:
    """Return the exit code. typer and rich turn Ctrl-C and a broken pipe into an exit."""
    if isinstance(leaving.__context__, BrokenPipeError):
        # The reader of our output has gone, as in `| head`: not an error.
        os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())
        return 0
    code = leaving.code if isinstance(leaving, SystemExit) else _STOPPED
    if code == _STOPPED:
        sys.stderr.write("\ntriplebeam: stopped. What was done so far is kept; run the same command to continue.\n")
    return code
