"""Libraries that come with an extra of the package, asked for when a file needs one."""

from importlib import import_module
from types import ModuleType

from triplebeam.errors import SourceError


def extra_module(module: str, extra: str) -> ModuleType:
    """Import a module, or say which extra brings it."""
    try:
        return import_module(module)
    except ImportError as error:
        raise SourceError(f"this needs the package {module}: run `pip install 'triplebeam[{extra}]'`") from error
