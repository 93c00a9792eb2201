"""A browser, and visits to the page that must end without a complaint of it."""

import shutil
from collections.abc import Callable, Iterator
from contextlib import ExitStack
from pathlib import Path
from typing import Any, TypeAlias

import pytest
from playwright.sync_api import Browser, Page, expect, sync_playwright

from serve.page.served_page import BROWSERS, Complaints, build_toy, launched, served
from triplebeam.extract.extractor import Extractor
from triplebeam.generate.language_model import LanguageModel
from triplebeam.support.entailment import reader

Visit: TypeAlias = Callable[..., Page]


@pytest.fixture(scope="session")
def toy(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """An index of the toy corpus; tests use copies of it."""
    folder = tmp_path_factory.mktemp("toy") / "toy.index"
    build_toy(folder)
    return folder


@pytest.fixture(scope="module")
def browser() -> Iterator[Browser]:
    """For one module: while it is open an event loop runs, and tests elsewhere could not run one of their own."""
    program = next((path for name in BROWSERS if (path := shutil.which(name))), None)
    if program is None:
        pytest.skip(f"no browser is here: none of {', '.join(BROWSERS)} is on the PATH")
    with sync_playwright() as playwright:
        browser = launched(playwright, program)
        yield browser
        browser.close()


@pytest.fixture
def visit(browser: Browser, toy: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[Visit]:
    """Opens the page of a new server, with or without a model."""
    for name in ("TRIPLEBEAM_MODEL", "TRIPLEBEAM_EMBEDDER", "TRIPLEBEAM_READING_MODEL", "OPENAI_BASE_URL"):
        monkeypatch.delenv(name, raising=False)
    reader()  # what checks facts is loaded before the page waits for an answer
    complaints = Complaints()
    with ExitStack() as stack:

        def visited(
            model: LanguageModel | None = None, link: str = "", extractor: Extractor | None = None, **context: Any
        ) -> Page:
            address = stack.enter_context(served(toy, tmp_path, model, extractor))
            page = browser.new_context(base_url=address, **context).new_page()
            stack.callback(page.context.close)
            page.set_default_timeout(10_000)
            complaints.listen(page)
            page.goto(f"/{link}")
            expect(page.locator("#index option")).to_have_count(1)
            return page

        yield visited
    assert complaints.heard == []
