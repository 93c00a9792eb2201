"""Libraries that not everybody needs, and what to say where one is missing."""

from triplebeam.errors import TriplebeamError


class ExtraMissingError(TriplebeamError, ImportError):
    """A library that is installed on request only is not there. It is an `ImportError` too: `try: import` works."""

    def __init__(self, extra: str) -> None:
        super().__init__(f"this needs libraries that are not installed: run pip install 'triplebeam[{extra}]'.")
