"""CPU time of commands that people wait for, against importing the libraries that a search needs.

``python benchmarks/start_up.py INDEX [RUNS]`` runs each in a process of its own, alternately, and prints the medians of
user and system time and their ratios. Python writes no bytecode where PYTHONDONTWRITEBYTECODE is set: unset it first.
"""

import resource
import statistics
import subprocess
import sys

TRIPLEBEAM = [sys.executable, "-m", "triplebeam"]
LIBRARIES = "numpy, scipy.sparse, onnxruntime, tokenizers, pydantic"


def measure_cpu(command: list[str]) -> float:
    """Run a command, and return the seconds of CPU time it took."""
    before = resource.getrusage(resource.RUSAGE_CHILDREN)
    subprocess.run(command, check=True, stdout=subprocess.DEVNULL)
    after = resource.getrusage(resource.RUSAGE_CHILDREN)
    return after.ru_utime + after.ru_stime - before.ru_utime - before.ru_stime


def main(index: str, runs: int = 7) -> None:
    """Print a line per command."""
    commands = {
        "libraries": [sys.executable, "-c", f"import {LIBRARIES}"],
        "search": [*TRIPLEBEAM, "search", index, "Who discovered Uranus?"],
        "--help": [*TRIPLEBEAM, "--help"],
    }
    for command in commands.values():
        measure_cpu(command)  # bytecode is written, files are read
    times = [[measure_cpu(command) for command in commands.values()] for _ in range(runs)]
    medians = [statistics.median(column) for column in zip(*times, strict=True)]
    for name, seconds in zip(commands, medians, strict=True):
        print(f"{name:>10}  {seconds:.2f} s  {seconds / medians[0]:.2f} times the libraries")


if __name__ == "__main__":
    main(sys.argv[1], *map(int, sys.argv[2:]))
