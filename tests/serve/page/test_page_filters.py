"""Filters in a real browser: fields with few values as check boxes, any other filter as text, both in the link."""

import os
from pathlib import Path

import pytest
from playwright.sync_api import Browser, Page, expect

from planted_secrets import WHERE, build, leaked
from serve.asking.served_world import on_loopback
from serve.page.served_page import Complaints, blank_page
from triplebeam.serve.http.app import make_app
from triplebeam.serve.http.keys import Keys
from triplebeam.serve.library import Library
from triplebeam.settings import Settings
from triplebeam.testing.hashed_words import HashedWords

pytestmark = pytest.mark.slow


@pytest.fixture(scope="module")
def data(tmp_path_factory: pytest.TempPathFactory) -> Path:
    folder = tmp_path_factory.mktemp("filters")
    build(folder / "papers.index")
    return folder


def opened(browser: Browser, address: str, link: str = "", **context: object) -> tuple[Page, Complaints]:
    complaints = Complaints()
    page = blank_page(browser, address, complaints, **context)
    page.goto(f"/{link}")
    return page, complaints


def library(data: Path) -> Library:
    return Library([data], Settings(home=data / "home", offline=True, model=None), embedder=HashedWords())


def search(page: Page) -> None:
    page.get_by_label("Your question").fill("Mill Harbour")
    page.locator("#go").click()
    expect(page.locator("#ask")).to_have_attribute("aria-busy", "false")
    expect(page.locator("#status")).to_contain_text("passages in")


def test_boxes_and_text_filter_and_are_in_the_link(browser: Browser, data: Path) -> None:
    with on_loopback(make_app(library(data), keys=Keys(data / "none.json"))) as address:
        page, complaints = opened(browser, address)
        page.locator("#filters summary").click()
        group = page.get_by_role("group", name="group")
        expect(group.get_by_role("checkbox")).to_have_count(2)
        expect(group).to_contain_text("open 4")
        search(page)
        assert leaked(page.locator("#passages").inner_html())
        group.get_by_label("open").check()
        page.get_by_label("Only passages where").fill('title != "Bath"')
        expect(page.locator("#filters-used")).to_have_text("(2 in use)")
        search(page)
        assert not leaked(*(page.locator(f"#{part}").inner_html() for part in ("passages", "evidence-graph")))
        expect(page.locator("#passages .card").first).to_be_visible()
        if shots := os.environ.get("TRIPLEBEAM_SCREENSHOTS"):
            for scheme in ("light", "dark"):
                page.emulate_media(color_scheme=scheme)  # type: ignore[arg-type]
                page.screenshot(path=f"{shots}/filters-{scheme}.png", full_page=True)
        link = page.url.partition("#")[2]
        assert "only=group%3Dopen" in link
        again, _ = opened(browser, address, f"#{link}")
        expect(again.get_by_role("group", name="group").get_by_label("open")).to_be_checked()
        expect(again.get_by_label("Only passages where")).to_have_value('title != "Bath"')
        again.locator("#go").click()
        expect(again.locator("#status")).to_contain_text("3 passages in")
        again.get_by_label("Only passages where").fill("yeer > 3")
        again.locator("#go").click()
        expect(again.locator("#problem")).to_contain_text(
            "No passage has the field 'yeer' (did you mean 'year'?), at character"
        )
        assert complaints.heard == []


def test_facets_count_what_the_key_sees(browser: Browser, data: Path) -> None:
    keys = Keys(data / "bound.json")
    key = keys.create("read", where=WHERE)
    with on_loopback(make_app(library(data), keys=keys)) as address:
        page, _ = opened(browser, address)
        page.locator("#key").fill(key)
        page.get_by_role("button", name="Use this key").click()
        page.locator("#filters summary").click()
        expect(page.get_by_role("group", name="kind").get_by_role("checkbox")).to_have_count(2)
        expect(page.get_by_role("group", name="group")).to_have_count(0)
        search(page)
        page.locator("#open-documents").click()
        expect(page.locator("#documents")).to_contain_text("mill.md")
        assert not leaked(page.content())
