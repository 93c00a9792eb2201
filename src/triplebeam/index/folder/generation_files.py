"""The numbered folders in which generations are written once."""

import shutil
from pathlib import Path


def create_generation(parent: Path) -> Path:
    """Create a new folder, numbered above every generation there is, published or not."""
    folder = parent / f"{max((int(path.name) for path in _list_generations(parent)), default=0) + 1:06d}"
    folder.mkdir(parents=True)
    return folder


def remove_generations(parent: Path, keep: str = "") -> None:
    """Remove all generations but one. Where the system refuses (a reader has it open), the next run retries."""
    for path in _list_generations(parent):
        if path.name != keep:
            shutil.rmtree(path, ignore_errors=True)


def _list_generations(parent: Path) -> list[Path]:
    return [path for path in parent.glob("*") if path.name.isdigit()]
