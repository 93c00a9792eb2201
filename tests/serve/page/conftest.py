"""A browser, and visits to the page that must end without a complaint of it."""

from collections.abc import Callable, Iterator
from contextlib import ExitStack
from pathlib import Path
from typing import Any, TypeAlias

import pytest
from playwright.sync_api import Browser, Page, expect

from serve.page.served_page import Complaints, blank_page, browsing, build_toy, serve_toy
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
    with browsing() as browser:
        yield browser


@pytest.fixture
def new_page(browser: Browser, toy: Path, tmp_path: Path) -> Iterator[Visit]:
    """A page that is about to visit a new server, with or without a model."""
    reader()  # what checks facts is loaded before the page waits for an answer
    complaints = Complaints()
    with ExitStack() as stack:

        def opened(model: LanguageModel | None = None, extractor: Extractor | None = None, **context: Any) -> Page:
            address = stack.enter_context(serve_toy(toy, tmp_path, model, extractor))
            page = blank_page(browser, address, complaints, **context)
            stack.callback(page.context.close)
            return page

        yield opened
    assert complaints.heard == []


@pytest.fixture
def visit(new_page: Visit) -> Visit:
    """Opens the page of a new server, and waits until it knows the index."""

    def visited(model: LanguageModel | None = None, link: str = "", **context: Any) -> Page:
        page = new_page(model, **context)
        page.goto(f"/{link}")
        expect(page.locator("#index option")).to_have_count(1)
        return page

    return visited
