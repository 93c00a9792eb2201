"""The numbered folders in which generations are written once, and the files in them, with their sizes and checksums."""

import shutil
import zlib
from pathlib import Path

_CHUNK = 1 << 20


def new_generation(parent: Path) -> Path:
    """A new folder, numbered above every generation there is, published or not."""
    folder = parent / f"{max((int(path.name) for path in _generations(parent)), default=0) + 1:06d}"
    folder.mkdir(parents=True)
    return folder


def remove_generations(parent: Path, keep: str = "") -> None:
    """Remove all generations but one. Where the system refuses (a reader has it open), the next run retries."""
    for path in _generations(parent):
        if path.name != keep:
            shutil.rmtree(path, ignore_errors=True)


def _generations(parent: Path) -> list[Path]:
    return [path for path in parent.glob("*") if path.name.isdigit()]


def file_sizes(generation: Path) -> dict[str, int]:
    """Every file under a generation with its size."""
    files = sorted(path for path in generation.rglob("*") if path.is_file())
    return {path.relative_to(generation).as_posix(): path.stat().st_size for path in files}


def checksums(generation: Path) -> dict[str, int]:
    """Every file under a generation with its CRC-32."""
    return {name: checksum(generation / name) for name in file_sizes(generation)}


def checksum(path: Path) -> int:
    """The CRC-32 of a file."""
    total = 0
    with path.open("rb") as file:
        while chunk := file.read(_CHUNK):
            total = zlib.crc32(chunk, total)
    return total
