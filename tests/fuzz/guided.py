"""The tests with inputs that a fuzzer chooses by the code they reach: `make fuzz-guided TEST=test_replies_of_models`.

It needs atheris, which has wheels for Linux alone. What it finds is written to ``crash-…``; the same command followed
by that file's name runs it again.
"""

import sys
from pathlib import Path

import atheris

sys.path.insert(0, str(Path(__file__).parents[1]))
with atheris.instrument_imports(include=["triplebeam"]):
    from fuzz import test_fuzz

test = getattr(test_fuzz, sys.argv.pop(1))
atheris.Setup(sys.argv, test.hypothesis.fuzz_one_input)
atheris.Fuzz()
