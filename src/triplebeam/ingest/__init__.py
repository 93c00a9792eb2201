"""Documents to passages: read what the user names, and cut it at sections, paragraphs and sentences."""

from triplebeam.exports import read_exports

__getattr__, __dir__, __all__ = read_exports(globals())
