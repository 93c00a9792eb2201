"""What other packages add, and what is said where the research package is not installed.

What other systems lack: nothing of the package needs it to be imported, as far as that can be tried on this one.
"""

import subprocess
import sys
from importlib import metadata

import pytest
from typer.testing import CliRunner

from triplebeam.assemble import Method
from triplebeam.assemble.models import make_extractor
from triplebeam.assemble.table import RESEARCH_METHODS, all_methods, list_agents, list_retrievers
from triplebeam.embed import load_embedder
from triplebeam.errors import BadInputError
from triplebeam.plugins import find_plugin
from triplebeam.serve.cli.app import app
from triplebeam.settings import Settings


@pytest.fixture
def alone(monkeypatch: pytest.MonkeyPatch) -> None:
    """Triplebeam without any other package."""
    monkeypatch.setattr(metadata, "entry_points", lambda **_: [])
    all_methods.cache_clear()
    monkeypatch.setattr("triplebeam.assemble.table.load_plugins", lambda group: [])
    yield
    all_methods.cache_clear()


@pytest.mark.parametrize("name", RESEARCH_METHODS)
@pytest.mark.usefixtures("alone")
def test_a_research_method_says_what_to_install(name: str) -> None:
    for written in (name, f"{name}[x=1]", f"{name}:hybrid"):
        with pytest.raises(BadInputError) as refused:
            Method.parse(written)
        assert str(refused.value) == (f'"{name}" is a method of the research package: pip install triplebeam-research')
    assert name not in {**list_retrievers(), **list_agents()}


@pytest.mark.parametrize("name", ["experiment", "dataset", "questions", "train"])
def test_a_command_that_moved_says_where_it_is(name: str) -> None:
    refused = CliRunner().invoke(app, [name]).exception
    assert isinstance(refused, BadInputError)
    assert str(refused) == f"there is no command {name}: use `triplebeam research {name}`."


@pytest.mark.usefixtures("alone")
def test_research_commands_extractors_and_embedders_say_what_to_install() -> None:
    settings = Settings(model="small")
    for call in (
        lambda: CliRunner().invoke(app, ["research", "experiment", "x.toml"], catch_exceptions=False),
        lambda: make_extractor("llm-two-step", None, settings),
        lambda: make_extractor("llm", None, settings, keywords=True),
        lambda: load_embedder("dpr:a,b", settings.home),
    ):
        with pytest.raises(BadInputError, match="of the research package: pip install triplebeam-research"):
            call()


def test_a_method_of_the_product_looks_at_no_entry_point(monkeypatch: pytest.MonkeyPatch) -> None:
    def refuse(group: str) -> None:
        raise AssertionError(group)

    all_methods.cache_clear()
    monkeypatch.setattr("triplebeam.assemble.table.load_plugins", refuse)
    for name in ("blend", "hybrid+naive_ge[scorer=exact]", "gear:hybrid", "auto", "read:hybrid", "bm25@triples"):
        assert Method.parse(name).text == name


def test_a_name_that_nobody_knows_is_none() -> None:
    assert find_plugin("methods", "no such name") is None


#: Modules of the standard library that Windows does not have.
LACKING = ("fcntl", "grp", "posix", "pty", "pwd", "resource", "syslog", "termios", "tty")
CODE = f"""
import builtins, importlib, pkgutil, sys
import triplebeam

found = builtins.__import__

def without(name, globals=None, *rest, **options):
    if name in {LACKING!r} and (globals or {{}}).get("__name__", "").startswith("triplebeam"):
        raise ModuleNotFoundError(f"No module named {{name!r}}: {{globals['__name__']}} imports it")
    return found(name, globals, *rest, **options)

builtins.__import__ = without
for module in pkgutil.walk_packages(triplebeam.__path__, "triplebeam."):
    if not module.name.endswith("__main__"):
        importlib.import_module(module.name)
        print(module.name)
"""


@pytest.mark.slow
def test_every_module_is_imported_without_what_windows_lacks() -> None:
    done = subprocess.run([sys.executable, "-c", CODE], capture_output=True, text=True, check=False, timeout=300)
    assert done.returncode == 0, done.stderr[-2000:]
    assert len(done.stdout.splitlines()) > 250
