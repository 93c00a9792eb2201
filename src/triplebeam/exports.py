"""Public names of a package, written once in its stub and imported when they are first used.

The stub, ``__init__.pyi``, has a line ``from MODULE import NAME as NAME`` for each, and ``NAME = OTHER`` for one that
has another name in its module. Type checkers read it, and so does the package when it runs: see SPEC 1 of Scientific
Python.
"""

import ast
from collections.abc import Callable
from pathlib import Path
from pkgutil import resolve_name
from typing import Any


def read_exports(package: dict[str, Any]) -> tuple[Callable[[str], object], Callable[[], list[str]], list[str]]:
    """Return ``__getattr__``, ``__dir__`` and ``__all__`` of the package whose ``globals()`` are given."""
    places: dict[str, str] = {}
    for line in ast.parse(Path(package["__file__"]).with_name("__init__.pyi").read_text(encoding="utf-8")).body:
        match line:
            case ast.ImportFrom(module=module, names=imported):
                places |= {each.name: f"{module}:{each.name}" for each in imported}
            case ast.Assign(targets=[ast.Name(id=name)], value=ast.Name(id=other)):
                places[name] = places.pop(other)
    names = sorted(places)

    def load(name: str) -> object:
        if name not in places:
            raise AttributeError(f"package {package['__name__'].rpartition('.')[2]!r} has no attribute {name!r}")
        return package.setdefault(name, resolve_name(places[name]))  # the next time Python finds it by itself

    return load, lambda: names, names
