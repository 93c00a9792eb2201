"""What the sources hold, before the long work starts: how many files are read, which are skipped, and how to include
them. Names alone are looked at.
"""

from collections import Counter
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from importlib.util import find_spec
from pathlib import Path

from triplebeam.errors import install_command
from triplebeam.ingest.folder_walk import Skipped
from triplebeam.ingest.formats import EXTRAS, find_ending
from triplebeam.ingest.sources import check_exist, files

#: What to do with files of a kind, or why nothing can be done; {it} is one file or several.
_BY_ADVICE = {
    "save {it} as .docx, .pptx or .xlsx": ".doc .ppt .xls .ods .odp .pages .key .numbers",
    "convert {it} to .html or .txt (for instance with pandoc)": ".tex .texi .texinfo .org .wiki .textile .pod .dbk",
    "unpack {it}": ".zip .tar .tgz .xz .bz2 .7z .rar .zst .gz",
    "convert {it} to .pdf or .txt": ".ps .eps .dvi .mobi .azw3 .chm .djvu",
    "images have no text": ".png .jpg .jpeg .gif .tif .tiff .bmp .webp .svg .ico .heic .avif",
    "recordings have no text": ".mp3 .wav .ogg .flac .m4a .mp4 .mov .avi .mkv .webm",
    "programs and fonts have no text": ".so .o .a .dll .dylib .exe .pyc .class .jar .wasm .woff .woff2 .ttf .otf .eot",
}
_ADVICE = {ending: advice for advice, endings in _BY_ADVICE.items() for ending in endings.split()}
_NAME_IT = "name {it} by path to read {it} as plain text"
_MAX_LINES = 8


@dataclass(frozen=True, slots=True)
class Scan:
    """Counts of files, by ending; the empty ending is that of files without one."""

    read: Mapping[str, int]
    skipped: Mapping[str, int]

    def describe_skipped(self) -> list[str]:
        """Return a line for each ending that is skipped, the most frequent first, with how to include such files."""
        ordered = sorted(self.skipped.items(), key=lambda each: (-each[1], each[0]))
        lines = [_line(ending, count) for ending, count in ordered[:_MAX_LINES]]
        if others := dict(ordered[_MAX_LINES:]):
            kinds = ", ".join(ending or "(none)" for ending in others)
            lines.append(f"{sum(others.values()):,} of other kinds: {kinds}")
        return lines

    def describe_missing_extras(self) -> list[str]:
        """Return a line for each extra of the package that files here need and that is not installed."""
        lines = []
        for extra, modules in EXTRAS.items():
            count = sum(self.read.get(ending, 0) for ending, module in modules.items() if find_spec(module) is None)
            if count:
                need = "1 file needs" if count == 1 else f"{count:,} files need"
                lines.append(f"{need} the extra {extra!r}: run {install_command(extra)}")
        return lines


def scan_sources(paths: Sequence[Path], *, follow_links: bool = False) -> Scan:
    """Walk through the sources without opening a file."""
    check_exist(paths)
    read: Counter[str] = Counter()
    skipped: Counter[str] = Counter()
    for source in paths:
        for path in files(source, follow_links):
            if isinstance(path, Path):
                read[find_ending(path) or path.suffix.lower()] += 1
            elif isinstance(path, Skipped) and not path.reason:
                skipped[Path(path.source).suffix.lower()] += 1
    return Scan(dict(read), dict(skipped))


def _line(ending: str, count: int) -> str:
    files_ = "file" if count == 1 else "files"
    kind = f"{count:,} {ending} {files_}" if ending else f"{count:,} {files_} without an ending"
    return f"{kind}: {_ADVICE.get(ending, _NAME_IT).format(it='it' if count == 1 else 'them')}"


def wait_for_changes(look: Callable[[], object], wait: Callable[[], None]) -> Iterator[None]:
    """Yield at once, and then whenever what ``look`` returns has changed and was the same twice.

    So a file that is still being written is left alone until the next look.
    """
    done = before = look()
    yield
    while True:
        wait()
        now = look()
        if now == before and now != done:
            done = now
            yield
        before = now
