"""Files that a power cut does not undo: what the disk has not been asked to write may be gone, whatever its name."""

import os
from pathlib import Path


def flush(path: Path) -> None:
    """Have the disk write a file, or the names in a folder."""
    if path.is_dir() and os.name == "nt":  # Windows cannot open a folder, and need not
        return
    handle = os.open(path, os.O_RDONLY if path.is_dir() else os.O_RDWR)  # Windows flushes only what it may write
    try:
        os.fsync(handle)
    finally:
        os.close(handle)


def flush_tree(folder: Path) -> None:
    """Have the disk write everything in a folder, what is deepest first, and then the folder's own name."""
    for path in sorted(folder.rglob("*"), reverse=True):
        flush(path)
    flush(folder)
    flush(folder.parent)


def make_folder(folder: Path) -> None:
    """Make a folder, with those above it, whose names are on the disk when this returns."""
    new = [each for each in (folder, *folder.parents) if not each.exists()]
    folder.mkdir(parents=True, exist_ok=True)
    for each in reversed(new):
        flush(each.parent)


def replace_file(path: Path, content: str, mode: int = 0o666) -> None:
    """Write a file, or replace it in one step: after a power cut it is the old one or the new one, whole."""
    draft = path.with_name(f"{path.name}.new")
    draft.unlink(missing_ok=True)
    with os.fdopen(os.open(draft, os.O_WRONLY | os.O_CREAT | os.O_EXCL, mode), "w", encoding="utf-8") as file:
        file.write(content)
    flush(draft)
    draft.replace(path)
    flush(path.parent)
