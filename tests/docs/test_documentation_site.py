"""The site builds without a warning, its links lead somewhere, and it fetches nothing from elsewhere."""

import os
import subprocess
import sys
from collections.abc import Iterator
from functools import cache
from pathlib import Path
from urllib.parse import unquote, urlsplit

import pytest
from bs4 import BeautifulSoup

from docs.documentation import ROOT
from triplebeam.serve.cli.app import COMMANDS

pytestmark = [pytest.mark.slow, pytest.mark.xdist_group("site")]


@pytest.fixture(scope="module")
def site(tmp_path_factory: pytest.TempPathFactory) -> Path:
    folder = tmp_path_factory.mktemp("site")
    done = subprocess.run(
        [sys.executable, "-m", "mkdocs", "build", "--strict", "--site-dir", str(folder)],
        cwd=ROOT,
        env={**os.environ, "NO_MKDOCS_2_WARNING": "1"},
        capture_output=True,
        text=True,
        check=False,
    )
    assert done.returncode == 0, done.stderr
    return folder


def test_links_and_pictures_lead_somewhere(site: Path) -> None:
    broken = [
        f"{page.relative_to(site)}: {target}"
        for page in _pages(site)
        for target in _targets(page)
        if not _is_there(page, target)
    ]
    assert not broken


def test_nothing_is_fetched_from_elsewhere(site: Path) -> None:
    for page in _pages(site):
        fetched = [tag.get("src") or tag.get("href") for tag in _soup(page).select("script[src], img[src], link[href]")]
        assert not [target for target in fetched if urlsplit(str(target)).netloc], page


def test_pictures_are_drawn_into_the_page_with_words(site: Path) -> None:
    drawings = _soup(site / "methods" / "gear.html").select("figure.drawing svg")
    assert len(drawings) == 2
    assert all(drawing["aria-label"] for drawing in drawings)


def test_every_command_and_route_is_described(site: Path) -> None:
    commands = _soup(site / "reference" / "command-line.html").get_text()
    assert all(f"triplebeam {name}" in commands for name in COMMANDS)
    routes = _soup(site / "reference" / "http.html").get_text()
    assert all(route in routes for route in ("POST /api/indexes/{name}/ask", "GET /health", "/v1/chat/completions"))


def _pages(site: Path) -> list[Path]:
    """All but that for addresses that do not exist, which may be shown anywhere and names its files from the root."""
    return sorted(page for page in site.rglob("*.html") if page.name != "404.html")


def _targets(page: Path) -> Iterator[str]:
    for tag in _soup(page).select("a[href], img[src], script[src], link[href]"):
        target = str(tag.get("href") or tag.get("src"))
        if target and not urlsplit(target).scheme and not urlsplit(target).netloc:
            yield target


def _is_there(page: Path, target: str) -> bool:
    parts = urlsplit(target)
    file = (page.parent / unquote(parts.path)).resolve() if parts.path else page
    file = file / "index.html" if file.is_dir() else file
    if not file.exists():
        return False
    return not parts.fragment or file.suffix != ".html" or unquote(parts.fragment) in {"", "__comments", *_ids(file)}


@cache
def _ids(page: Path) -> frozenset[str]:
    return frozenset(str(tag["id"]) for tag in _soup(page).select("[id]"))


@cache
def _soup(page: Path) -> BeautifulSoup:
    return BeautifulSoup(page.read_text(encoding="utf-8"), "lxml")
