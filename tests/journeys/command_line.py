"""The command line as a user runs it."""

import contextlib
import os
import subprocess
import sys
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import TypeAlias
from unittest.mock import patch

from typer.testing import CliRunner

from triplebeam.errors import TriplebeamError
from triplebeam.serve.cli.app import app

#: Runs `triplebeam` in a process of its own and checks its exit code, which is 0 unless ``code`` says otherwise.
Run: TypeAlias = Callable[..., subprocess.CompletedProcess[str]]
#: Runs it in this process, which is quicker: the exit code, stdout, and stderr with the error a user would be told.
Quick: TypeAlias = Callable[..., tuple[int, str, str]]


def triplebeam(*arguments: object) -> list[str]:
    """What a shell would run."""
    return [sys.executable, "-m", "triplebeam", *map(str, arguments)]


def environment(home: Path) -> dict[str, str]:
    """Where the models are; no colours, and room to draw."""
    return {
        **os.environ,
        "TRIPLEBEAM_HOME": str(home),
        "TRIPLEBEAM_RESULTS": "results",
        "COLUMNS": "200",
        "NO_COLOR": "1",
        "PYTHONUTF8": "1",
    }


def runner(folder: Path, home: Path) -> Run:
    """Runs commands in a folder."""

    def run(*arguments: object, code: int = 0) -> subprocess.CompletedProcess[str]:
        done = subprocess.run(
            triplebeam(*arguments),
            capture_output=True,
            encoding="utf-8",
            cwd=folder,
            env=environment(home),
            timeout=300,
            check=False,
        )
        assert done.returncode == code, done.stderr
        return done

    return run


def invoke(*arguments: object, variables: dict[str, str] | None = None) -> tuple[int, str, str]:
    """Run a command in this process: its exit code, stdout, and stderr with the error a user would be told."""
    result = CliRunner().invoke(app, [str(argument) for argument in arguments], env=variables)
    if isinstance(result.exception, TriplebeamError):
        return 2, result.stdout, f"{result.stderr}{result.exception}"
    if result.exception and not isinstance(result.exception, SystemExit):
        raise result.exception
    return result.exit_code, result.stdout, result.stderr


@contextlib.contextmanager
def killed_before_publishing() -> Iterator[None]:
    """What a command changes is in the store, and not published."""
    publish = "triplebeam.index.folder.publish.FolderPublisher.publish"
    with patch(publish, side_effect=KeyboardInterrupt):
        yield


def run_here(folder: Path, home: Path) -> Run:
    """Runs commands in a folder, without a process of their own."""

    def run(*arguments: object, code: int = 0) -> subprocess.CompletedProcess[str]:
        with contextlib.chdir(folder):
            found, stdout, stderr = invoke(*arguments, variables=environment(home))
        assert found == code, stderr
        return subprocess.CompletedProcess([*map(str, arguments)], found, stdout, stderr)

    return run
