"""The package's front door: light to open, and every name behind it is there. What other packages add, what is said
where the research package is not installed, and what other systems lack.
"""

import importlib
import importlib.metadata
import json
import os
import re
import subprocess
import sys
import tomllib
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from pathlib import Path
from types import FrameType
from typing import Any

import pytest
from packaging.version import Version
from typer.testing import CliRunner

import triplebeam
from patience import SECONDS
from triplebeam.assemble import Method
from triplebeam.assemble.models import make_extractor
from triplebeam.assemble.table import RESEARCH_METHODS, all_methods, list_agents, list_retrievers
from triplebeam.embed import load_embedder
from triplebeam.errors import BadInputError, ExtraMissingError
from triplebeam.plugins import find_plugin
from triplebeam.serve.cli.app import app
from triplebeam.settings import Settings
from triplebeam.testing.hashed_words import HashedWords

ROOT = Path(__file__).parents[1]
SOURCE = str(Path(triplebeam.__file__).parents[1])
#: Installed on request only.
EXTRAS = ("mcp", "langchain_core", "llama_index", "haystack", "fastapi", "uvicorn")
MODELS = ("scipy", "onnxruntime", "spacy", "openai", "faiss")
HEAVY = (*MODELS, "numpy", "pydantic", "typer", "rich", "tantivy", "pytest")


#: The package's modules that opening an index may import, and that adding a sentence and searching it may call.
MAX_IMPORTED_BY_OPEN, MAX_ENTERED_BY_ADD, MAX_ENTERED_BY_SEARCH = 85, 44, 32


def run_python(*arguments: str, **options: Any) -> str:
    command = [sys.executable, *arguments]
    return subprocess.run(command, capture_output=True, text=True, check=True, timeout=5 * SECONDS, **options).stdout


def modules_after(statement: str) -> list[str]:
    shown = run_python("-c", f"{statement}\nimport json, sys\nprint(json.dumps(sorted(sys.modules)))")
    return list(json.loads(shown.splitlines()[-1]))


def test_naming_open_imports_what_opening_needs_and_little_else() -> None:
    found = [name for name in modules_after("import triplebeam; triplebeam.open") if name.startswith("triplebeam")]
    assert len(found) <= MAX_IMPORTED_BY_OPEN, found
    assert not [name for name in found if name.startswith(("triplebeam.methods.", "triplebeam.assemble.indexing"))]


def test_a_sentence_and_a_question_pass_through_few_modules(tmp_path: Path) -> None:
    (tmp_path / "a.md").write_text("The lake is deep.", encoding="utf-8")
    for name in ("first", "second"):  # the first imports; what is called then is not counted
        index = triplebeam.Index(tmp_path / name, embedder=HashedWords())
        with entered_modules() as entered:
            index.add(tmp_path / "a.md", extractor="none")
        with entered_modules() as searched:
            index.search("lake")
    assert len(entered) <= MAX_ENTERED_BY_ADD, sorted(entered)
    assert len(searched) <= MAX_ENTERED_BY_SEARCH, sorted(searched)


def test_a_search_imports_nothing_that_only_builds_and_agents_need(tmp_path: Path) -> None:
    (tmp_path / "a.md").write_text("The lake is deep.", encoding="utf-8")
    triplebeam.Index(tmp_path / "index", embedder=HashedWords()).add(tmp_path / "a.md", extractor="none")
    search = f"triplebeam.open({str(tmp_path / 'index')!r}, embedder=HashedWords()).search('lake')[0].snippet"
    loaded = modules_after(f"import triplebeam\nfrom triplebeam.testing.hashed_words import HashedWords\n{search}")
    assert "triplebeam.retrieve.blend.blend" in loaded
    own = ("index.build", "index.store.store", "ingest.split", "methods.gear", "methods.shared", "support.find")
    assert not {"filelock", "tomllib", *(f"triplebeam.{name}" for name in own)} & set(loaded)


def test_walks_need_no_part_of_numpy_that_a_search_postpones(tmp_path: Path) -> None:
    (tmp_path / "triples.jsonl").write_text(
        '{"passage_id": "a", "triples": [["Ann", "owns", "the mill"]]}\n'
        '{"passage_id": "b", "triples": [["the mill", "stands in", "Ely"]]}\n',
        encoding="utf-8",
    )
    rows = [{"id": "a", "text": "Ann owns the mill."}, {"id": "b", "text": "The mill stands in Ely."}]
    index = triplebeam.Index(tmp_path / "index", embedder=HashedWords())
    index.add_documents(rows, triples=tmp_path / "triples.jsonl")
    loaded = modules_after(
        "from triplebeam.serve.cli.app import load_command\nload_command('search')\n"
        "import triplebeam\nfrom triplebeam.testing.hashed_words import HashedWords\n"
        f"triplebeam.open({str(tmp_path / 'index')!r}, embedder=HashedWords()).search('Ann')[1].snippet"
    )
    assert "triplebeam.methods.hipporag.hipporag2" in loaded
    assert not {"numpy.ma.core", "triplebeam.generate.prompts"} & set(loaded)


@contextmanager
def entered_modules() -> Iterator[set[str]]:
    """The modules of the package, by their files, whose functions are called."""
    entered, package = set[str](), str(Path(triplebeam.__file__).parent)

    def note(frame: FrameType, event: str, argument: object) -> None:
        if event == "call" and frame.f_code.co_filename.startswith(package):
            entered.add(frame.f_code.co_filename)

    before = sys.getprofile()
    sys.setprofile(note)
    try:
        yield entered
    finally:
        sys.setprofile(before)


SHOW_HELP = """
import sys
from triplebeam.serve.cli import main
for command in ("search", "ask", "sync", "remove", "bench"):
    sys.argv = ["triplebeam", command, "--help"]
    try:
        main()
    except SystemExit:
        pass
"""
COMPLETE_METHOD = """
from triplebeam.assemble import table
table.load_plugins = lambda group: []
from triplebeam.serve.cli.options import complete_search_method
assert "hybrid" in complete_search_method("hyb")
"""


@pytest.mark.parametrize(
    ("statement", "unwanted"),
    [
        ("import triplebeam.serve.cli", HEAVY),
        ("import triplebeam.serve.cli.app", (*MODELS, "tantivy", "numpy", *EXTRAS)),
        ("import triplebeam.assemble, triplebeam.adapters.retriever", EXTRAS),
        ("import triplebeam.testing.contracts", ["pytest"]),
        (SHOW_HELP, [*MODELS, "triplebeam.assemble.index", "triplebeam.index.folder.snapshot"]),
        (COMPLETE_METHOD, ["triplebeam.assemble.retrievers", "scipy"]),
    ],
)
def test_nothing_heavy_is_loaded(statement: str, unwanted: Sequence[str]) -> None:
    assert not set(modules_after(statement)) & set(unwanted)


def test_the_public_names_are_few() -> None:
    assert triplebeam.__all__ == [
        *("Answer", "Document", "Evidence", "Index", "Passage", "SearchResult", "SearchResults", "Settings", "Step"),
        *("Triple", "TriplebeamError", "open"),
    ]
    assert [name for name in dir(triplebeam.Index) if not name.startswith("_")] == [
        *("add", "add_documents", "add_texts", "agent", "ask", "ask_stream", "correct", "expand"),
        *("filter", "passages", "purge", "remove", "retriever", "search", "status", "sync"),
    ]


def test_what_follows_a_question_is_named(tmp_path: Path) -> None:
    with pytest.raises(TypeError, match="takes 2 positional arguments but 3 were given"):
        triplebeam.Index(tmp_path).search("Which lake?", 5)  # type: ignore[misc]


@pytest.mark.parametrize("package", sorted((ROOT / "src/triplebeam").rglob("__init__.pyi"), key=str))
def test_every_name_of_a_stub_can_be_imported(package: Path) -> None:
    module = importlib.import_module(".".join(package.parent.relative_to(ROOT / "src").parts))
    modules = {each.stem for each in package.parent.iterdir()}
    assert not modules & set(module.__all__), "a module that is imported would take the place of the name"
    assert all(getattr(module, name) is not None and name in dir(module) for name in module.__all__)


def test_a_name_that_is_not_there_is_an_attribute_error() -> None:
    with pytest.raises(AttributeError, match="'NaiveGR'"):
        triplebeam.NaiveGR  # noqa: B018
    with pytest.raises(ImportError):
        importlib.import_module("triplebeam.nothing")


def test_the_version_is_the_installed_one_and_costs_nothing_until_it_is_asked_for() -> None:
    assert triplebeam.__version__ == importlib.metadata.version("triplebeam")
    show, environment = "import sys, triplebeam; print(*sys.modules)", {**os.environ, "PYTHONPATH": SOURCE}
    assert "importlib.metadata" not in run_python("-S", "-c", show, env=environment).split()


@pytest.mark.parametrize(
    ("receipt", "command"),
    [
        ("pyvenv.cfg", "pip install"),
        ("pipx_metadata.json", "pipx install --force"),
        ("uv-receipt.toml", "uv tool install"),
    ],
)
@pytest.mark.parametrize(
    ("origin", "what"),
    [
        (None, " 'triplebeam[server]'"),
        ('{"archive_info": {}, "url": "file:///tmp/triplebeam-0.2.0-py3-none-any.whl"}', " 'triplebeam[server]'"),
        ('{"dir_info": {}, "url": "file:///home/me/my%20clone"}', " '/home/me/my clone[server]'"),
        ('{"dir_info": {"editable": true}, "url": "file:///home/me/it"}', " -e '/home/me/it[server]'"),
        ("[]", " 'triplebeam[server]'"),
        ('{"dir_info": "no object", "url": 1}', " 'triplebeam[server]'"),
        ("no JSON", " 'triplebeam[server]'"),
    ],
)
def test_an_extra_is_installed_by_what_installed_the_program(
    receipt: str, command: str, origin: str | None, what: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    (tmp_path / receipt).touch()
    monkeypatch.setattr(importlib.metadata.PathDistribution, "read_text", lambda *_: origin)
    monkeypatch.setattr(sys, "prefix", str(tmp_path))
    assert str(ExtraMissingError("server")).endswith(f": run {command}{what}.")


def test_an_extra_is_named_where_the_program_is_not_installed(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(importlib.metadata.Distribution, "discover", lambda **_: iter(()))
    assert "'triplebeam[server]'" in str(ExtraMissingError("server"))


def test_every_extra_is_documented_and_all_has_all_but_ray() -> None:
    project = tomllib.loads((ROOT / "pyproject.toml").read_text(encoding="utf-8"))["project"]
    extras = set(project["optional-dependencies"]) - {"docs", "dev"}
    rows = re.findall(r"^\| (`.*?) \|", (ROOT / "docs/installation.md").read_text(encoding="utf-8"), re.MULTILINE)
    assert {name for row in rows for name in re.findall("`(.+?)`", row)} == extras
    (all_,) = project["optional-dependencies"]["all"]
    assert set(all_.removeprefix("triplebeam[").removesuffix("]").split(",")) == extras - {"all", "ray"}


@pytest.mark.parametrize("setting", ["COMPLETIONS", "STATE"])
def test_the_image_keeps_what_it_writes_in_its_volume(setting: str) -> None:
    assert f" TRIPLEBEAM_{setting}=/data/" in (ROOT / "Dockerfile").read_text(), "the home is read-only"


def test_a_release_has_its_notes_and_what_follows_it_has_another_version() -> None:
    version = tomllib.loads((ROOT / "pyproject.toml").read_text(encoding="utf-8"))["project"]["version"]
    newest, *older = re.findall(r"^## (.+)$", (ROOT / "CHANGELOG.md").read_text(encoding="utf-8"), re.MULTILINE)
    if newest == "Unreleased":
        assert Version(version).is_prerelease
        assert Version(version) > Version(older[0])
    else:
        assert version == newest


def test_python_m_runs_the_command_line(tmp_path: Path) -> None:
    assert run_python("-m", "triplebeam", "--version", cwd=tmp_path).startswith("triplebeam ")


@pytest.fixture
def alone(monkeypatch: pytest.MonkeyPatch) -> None:
    """Triplebeam without any other package."""
    monkeypatch.setattr(importlib.metadata, "entry_points", lambda **_: [])
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
    assert len(run_python("-c", CODE).splitlines()) > 250
