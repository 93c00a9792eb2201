"""Makes ``index-N.tar.xz``, the index of a few documents in the format that this version writes.

Run it once when the format of the index or of its store changes, and keep the file with those of older formats:

    python tests/data/formats/make.py

`tests/index/test_formats.py` opens each of them.
"""

import tarfile
from collections.abc import Iterable, Iterator
from pathlib import Path
from tempfile import TemporaryDirectory

from triplebeam.extract.extractor import Extraction
from triplebeam.index.build import IndexBuilder
from triplebeam.index.manifest import FORMAT
from triplebeam.passage import Document, Passage
from triplebeam.testing.hashed_words import HashedWords
from triplebeam.triple import Triple

DOCUMENTS = [
    Document(id="herschel", title="William Herschel", text="William Herschel | discovered | Uranus"),
    Document(id="uranus", title="Uranus", text="Uranus | is the seventh planet from | the Sun"),
    Document(id="bath", title="Bath", text="William Herschel | played the organ in | Bath"),
]


class Written:
    """Reads the fact that a passage has written down."""

    name = "local:written"

    def extract(self, passages: Iterable[Passage]) -> Iterator[Extraction]:
        for passage in passages:
            yield Extraction(passage_id=passage.id, triples=(Triple(*passage.text.split(" | ")),))


def main() -> None:
    """Write the file beside this one."""
    target = Path(__file__).parent / f"index-{FORMAT}.tar.xz"
    with TemporaryDirectory() as folder, tarfile.open(target, "w:xz") as packed:
        index = Path(folder) / "index"
        IndexBuilder(folder=index, embedder=HashedWords(), extractor=Written()).build(DOCUMENTS)
        for path in sorted(path for path in index.rglob("*") if path.is_file() and path.name != "write.lock"):
            packed.add(path, path.relative_to(index).as_posix(), filter=_anonymous)
    print(f"{target.name}: {target.stat().st_size:,} bytes")


def _anonymous(entry: tarfile.TarInfo) -> tarfile.TarInfo:
    entry.uid = entry.gid = entry.mtime = 0
    entry.uname = entry.gname = ""
    return entry


if __name__ == "__main__":
    main()
