"""A disk of its own for a test, which can be filled to the last kilobyte."""

import os
import subprocess
import sys
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path

import pytest

_KILOBYTE = 1024


@dataclass(frozen=True)
class SmallDisk:
    """A file system in memory."""

    folder: Path

    def fill(self, left: int) -> None:
        free = os.statvfs(self.folder).f_bavail * os.statvfs(self.folder).f_frsize
        (self.folder / "ballast").write_bytes(b"\0" * max(0, free - left * _KILOBYTE))

    def free(self) -> None:
        (self.folder / "ballast").unlink(missing_ok=True)

    def read_only(self, yes: bool) -> None:
        how = f"remount,{'ro' if yes else 'rw'}"
        subprocess.run(["mount", "-o", how, self.folder], check=True)


@contextmanager
def small_disk(place: Path) -> Iterator[SmallDisk]:
    """A disk mounted at a new folder; the test is skipped where that is not possible."""
    if sys.platform != "linux" or os.geteuid() != 0:
        pytest.skip("only root mounts a small disk, on Linux")
    place.mkdir()
    done = subprocess.run(["mount", "-t", "tmpfs", "-o", "size=20m", "tmpfs", place], capture_output=True, check=False)
    if done.returncode:
        pytest.skip(f"nothing can be mounted here: {done.stderr!r}")
    try:
        yield SmallDisk(place)
    finally:
        subprocess.run(["umount", "--lazy", place], check=True)
