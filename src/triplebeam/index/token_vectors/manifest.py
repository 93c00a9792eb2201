"""What ``INDEX/late_interaction/`` says of itself, and whether it belongs to the index beside it.

The folder holds ``manifest.json``, the numbered folder of files that it names, and ``unfinished/`` while a build is
under way. Publishing is one atomic rename of the manifest.
"""

import hashlib
import json
import os
from collections.abc import Iterable, Iterator
from pathlib import Path

from pydantic import BaseModel, ConfigDict, ValidationError

from triplebeam.embed.token_encoder import TokenEncoder
from triplebeam.errors import EmbedderMismatchError, IndexDamagedError, IndexFormatError, IndexMissingError
from triplebeam.index.manifest import MANIFEST
from triplebeam.index.passages import PassageTable
from triplebeam.index.snapshot import Snapshot

FORMAT = 1
HASH_BYTES = 16


class TokenManifest(BaseModel):
    """What ``manifest.json`` holds."""

    model_config = ConfigDict(frozen=True)

    format: int = FORMAT
    triplebeam: str
    created: str
    files_in: str
    """The folder of the files, beside the manifest."""
    encoder: str
    label: str
    fingerprint: str
    dimension: int
    nbits: int
    counts: dict[str, int]
    trained_on: int
    """Passages the collection had when the centroids were found."""
    index: str
    """The generation of the index it was made from."""
    passages: str
    """A hash of every passage's id and text, in order. The texts' own hashes are in ``text_hashes.npy``."""
    files: dict[str, int]
    """Each file with its size in bytes."""

    @property
    def bytes(self) -> int:
        """Size of all files."""
        return sum(self.files.values())

    def publish(self, path: Path) -> None:
        """Make this the manifest that readers see, in one step."""
        draft = path.with_suffix(".new")
        with draft.open("w", encoding="utf-8") as file:
            file.write(self.model_dump_json(indent=2) + "\n")
            file.flush()
            os.fsync(file.fileno())
        draft.replace(path)

    def check_encoder(self, folder: Path, encoder: TokenEncoder) -> None:
        """Raise where a query's vectors would be of another space than these."""
        if (self.fingerprint, self.dimension) != (encoder.fingerprint, encoder.dimension):
            raise EmbedderMismatchError(
                f"the token vectors in {home(folder)} are of the encoder {self.encoder!r}, not of {encoder.name!r}"
                f" ({encoder.dimension} dimensions, fingerprint {encoder.fingerprint[:12]}): use that encoder, or run"
                f" `triplebeam late-index {folder} --encoder {encoder.name}`."
            )

    def check_passages(self, index: Snapshot) -> None:
        """Raise where the index has other passages now. One look at the manifest where it was not published anew."""
        if self.index != generation_of(index) and self.passages != digest(index.passages):
            raise IndexMissingError(
                f"the passages of {index.folder} have changed since their token vectors were made:"
                f" run `triplebeam late-index {index.folder}`, which encodes what is new."
            )


def home(folder: Path) -> Path:
    """Where the token vectors of an index are."""
    return folder / "late_interaction"


def generation_of(index: Snapshot) -> str:
    """The generation of an open index, by a name no other has."""
    return f"{index.manifest.generation} of {index.manifest.created}"


def text_hashes(passages: PassageTable) -> Iterator[bytes]:
    """A hash of every passage's text, in the order of their rows."""
    for row in range(len(passages)):
        text = passages.at(row).searchable.encode("utf-8", "surrogatepass")
        yield hashlib.blake2b(text, digest_size=HASH_BYTES).digest()


def digest(passages: PassageTable, hashes: Iterable[bytes] | None = None) -> str:
    """One hash of all ids and texts, in order."""
    total = hashlib.blake2b(digest_size=32)
    ids = passages.ids(range(len(passages)))
    for id_, text_hash in zip(ids, hashes or text_hashes(passages), strict=True):
        total.update(hashlib.blake2b(id_.encode("utf-8", "surrogatepass"), digest_size=HASH_BYTES).digest())
        total.update(text_hash)
    return total.hexdigest()


def published_tokens(folder: Path) -> TokenManifest | None:
    """What is published now; what cannot be read counts as nothing, since it can be made again."""
    try:
        return read_token_manifest(folder)
    except (IndexMissingError, IndexDamagedError, IndexFormatError):
        return None


def read_token_manifest(folder: Path) -> TokenManifest:
    """Read and check the manifest of an index's token vectors, and that the files it names are there."""
    path = home(folder) / MANIFEST
    command = f"`triplebeam late-index {folder}`"
    try:
        content = json.loads(path.read_text(encoding="utf-8"))
        if content["format"] > FORMAT:
            raise IndexFormatError(
                f"{path} has format {content['format']}, this Triplebeam reads formats up to {FORMAT}: upgrade"
                f" Triplebeam, or remove {home(folder)} and run {command}."
            )
        manifest = TokenManifest.model_validate(content)
    except (FileNotFoundError, NotADirectoryError):
        raise IndexMissingError(f"{folder} has no token vectors: make them with {command}.") from None
    except (OSError, UnicodeDecodeError, json.JSONDecodeError, KeyError, TypeError, ValidationError) as error:
        raise IndexDamagedError(f"{path} cannot be read ({type(error).__name__}): run {command}.") from error
    for name, size in manifest.files.items():
        file = home(folder) / manifest.files_in / name
        if not file.is_file() or file.stat().st_size != size:
            raise IndexDamagedError(f"{file} is missing or is not of {size} bytes as written: run {command}.")
    return manifest
