"""PDF to plain text."""

import re
from collections.abc import Iterable
from pathlib import Path
from typing import TYPE_CHECKING

from triplebeam.errors import SourceError
from triplebeam.ingest.damage import DAMAGE
from triplebeam.ingest.text import Content
from triplebeam.ingest.title import sensible_title

if TYPE_CHECKING:
    from pypdf import PdfReader

_HYPHENATED = re.compile(r"(?<=[^\W\d_])[-\u00ad]\n(?=[a-zà-ÿ])")
_ENDS_SENTENCE = re.compile(r"[.!?:。！？][\"'”’»)\]]*\Z")


def read_pdf(data: bytes) -> Content:
    """Read a PDF's text layer. A file that opens with an empty password is read like any other."""
    from pypdf import PdfReader
    from pypdf.errors import DependencyError, FileNotDecryptedError, PyPdfError

    from io import BytesIO
    try:
        reader = PdfReader(BytesIO(data))
        text = _join(page.extract_text() for page in reader.pages)
        title = _title(reader)
    except (FileNotDecryptedError, DependencyError) as error:
        raise SourceError("the PDF is encrypted; save a copy without a password") from error
    except (PyPdfError, *DAMAGE) as error:
        raise SourceError(f"the PDF is damaged ({type(error).__name__}: {error})") from error
    if not text:
        raise SourceError("the PDF has no text layer; run character recognition (OCR) on it first")
    return Content(text, title)


def _title(reader: "PdfReader") -> str:
    return sensible_title(reader.metadata.title if reader.metadata is not None else None)


def _join(pages: Iterable[str]) -> str:
    """Join pages, so that a sentence which runs over the page's end stays in one paragraph."""
    parts: list[str] = []
    for text in filter(None, (page.strip() for page in pages)):
        if parts:
            parts.append("\n\n" if _ENDS_SENTENCE.search(parts[-1]) else "\n")
        parts.append(text)
    return _HYPHENATED.sub("", "".join(parts)).replace("\u00ad", "")
