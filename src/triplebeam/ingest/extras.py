"""Libraries that come with an extra of the package, asked for when a file needs one."""

from collections.abc import Mapping
from importlib import import_module
from types import ModuleType

from triplebeam.errors import SourceError

#: Which extra brings the module that files of an ending need.
EXTRAS: Mapping[str, Mapping[str, str]] = {
    "office": {".pptx": "pptx", ".xlsx": "openpyxl", ".rtf": "striprtf"},
    "rst": {".rst": "docutils"},
}


def import_extra(module: str, extra: str) -> ModuleType:
    """Import a module, or say which extra brings it."""
    try:
        return import_module(module)
    except ImportError as error:
        raise SourceError(f"this needs the package {module}: install the extra triplebeam[{extra}]") from error
