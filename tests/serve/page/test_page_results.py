"""Results in a real browser: code and tables, a graph where it joins something, a failed model, and filters."""

from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

import pytest
from playwright.sync_api import Browser, Page, expect

from planted_secrets import WHERE, build, find_leaks
from scripted_loops import Gone
from serve.asking.served_world import library_over, on_loopback
from serve.page.conftest import Visit
from serve.page.served_page import Complaints, ask, blank_page, fits_its_width
from small_world import TableExtractor, WordEmbedder
from triplebeam.index.build.build import IndexBuilder
from triplebeam.ingest import read_sources
from triplebeam.serve.http.app import make_app
from triplebeam.serve.http.keys import Keys
from triplebeam.serve.library import Library
from triplebeam.testing.hashed_words import HashedWords
from triplebeam.triple import Triple

pytestmark = pytest.mark.slow

PAGE = """# Error codes

The code `ERR_BAD_URL` is thrown for an invalid url, and a lone ` is a rare one.

| Code | Description | How to solve it | Where it was discussed |
|------|-------------|-----------------|------------------------|
| ERR_BAD_URL | The router received an invalid url | Encode the url before it is sent | In the forum, and in `CHANGES` |
"""
LINK = "#index=docs&q=code+of+the+invalid+url&method=bm25"


def build_docs(folder: Path, *, with_facts: bool) -> None:
    """Three files whose title is the same."""
    for name in ("a/errors.md", "b/errors.md", "b/more.md"):
        path = folder / "files" / name
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(PAGE.replace("rare", f"rare {path.stem}"), encoding="utf-8")
    documents = list(read_sources([folder / "files"]))
    facts = [Triple("url", "has", "code")] if with_facts else []
    extractor = TableExtractor({f"{folder / 'files' / name}#0": facts for name in ("a/errors.md", "b/errors.md")})
    IndexBuilder(folder=folder / "docs.index", embedder=WordEmbedder(), extractor=extractor).build(documents)
    assert not with_facts or extractor.asked


@contextmanager
def visit_docs(browser: Browser, folder: Path, width: int) -> Iterator[Page]:
    with on_loopback(make_app(library_over(folder, home=folder), keys=Keys(folder / "keys.json"))) as address:
        page = blank_page(browser, address, Complaints(), viewport={"width": width, "height": 900})
        page.goto(f"/{LINK}")
        expect(page.locator("#passages .card").first).to_be_visible()
        yield page
        page.context.close()


@pytest.mark.parametrize("width", [1280, 390])
def test_code_and_tables_are_shown_as_such(browser: Browser, tmp_path: Path, width: int) -> None:
    build_docs(tmp_path, with_facts=False)
    with visit_docs(browser, tmp_path, width) as page:
        text = page.locator("#passages .card .text").first
        more = page.locator("#passages .card").first.get_by_role("button", name="Show all")
        if more.count():
            more.click()
        expect(text.locator("p code").first).to_have_text("ERR_BAD_")  # and then the mark of a word of the question
        expect(text.locator("p").first).to_contain_text("ERR_BAD_URL is thrown for an invalid url, and a lone ` is")
        expect(text.locator("td code")).to_have_text("CHANGES")
        expect(text.locator("mark", has_text="invalid").first).to_be_visible()
        assert text.locator("tr").first.locator("td").all_inner_texts()[:2] == ["Code", "Description"]
        table = text.locator(".table")
        assert table.evaluate("it => getComputedStyle(it).overflowX") == "auto"
        last = table.locator("td").last
        last.scroll_into_view_if_needed()
        place, room = last.bounding_box(), table.bounding_box()
        assert place
        assert room
        assert place["x"] + place["width"] <= room["x"] + room["width"] + 1, "the last cell can be read"
        assert fits_its_width(page)
        expect(page.locator("#status")).to_contain_text("passages in")
        expect(page.locator("#ask")).to_have_attribute("aria-busy", "false")
        expect(page.locator("#evidence-graph")).to_be_hidden()


def test_a_graph_comes_after_the_hits_and_tells_its_nodes_apart(browser: Browser, tmp_path: Path) -> None:
    build_docs(tmp_path, with_facts=True)
    with visit_docs(browser, tmp_path, 1280) as page:
        expect(page.locator("#evidence-graph .edge").first).to_be_visible()
        labels = page.locator(".node.passage title").all_text_contents()
        assert len(set(labels)) == 3
        assert any(label.startswith("more.md: Error codes") for label in labels)
        assert page.evaluate(
            "document.querySelector('#passages').getBoundingClientRect().bottom"
            " <= document.querySelector('#evidence-graph').getBoundingClientRect().top"
        )


def test_a_model_that_failed_is_named_above_the_passages(visit: Visit) -> None:
    page = visit(Gone())
    ask(page, method="read")
    answer = page.locator("#answer")
    expect(answer.locator(".sentence")).to_have_text("The model failed, so there is no answer.")
    expect(answer.locator(".failure")).to_contain_text("the endpoint does not answer")
    expect(answer).not_to_contain_text("documents")
    expect(page.locator("#passages .card").first).to_be_visible()
    expect(page.locator("#conversation")).to_be_hidden()


def test_a_link_searches_in_a_new_tab_and_in_an_open_one(visit: Visit) -> None:
    page = visit(link="#index=toy&q=Uranus&method=bm25")
    expect(page.locator("#passages h4").first).to_have_text("Uranus")
    page.evaluate("location.hash = '#index=toy&q=Titan&method=bm25'")
    expect(page.locator("#passages h4").first).to_have_text("Titan")
    expect(page.get_by_label("Your question")).to_have_value("Titan")


@pytest.fixture(scope="module")
def data(tmp_path_factory: pytest.TempPathFactory) -> Path:
    folder = tmp_path_factory.mktemp("filters")
    build(folder / "papers.index")
    return folder


def open_page(browser: Browser, address: str, link: str = "", **context: object) -> tuple[Page, Complaints]:
    complaints = Complaints()
    page = blank_page(browser, address, complaints, **context)
    page.goto(f"/{link}")
    return page, complaints


def library(data: Path) -> Library:
    return library_over(data, home=data / "home", embedder=HashedWords())


def search(page: Page) -> None:
    page.get_by_label("Your question").fill("Mill Harbour")
    page.locator("#go").click()
    expect(page.locator("#ask")).to_have_attribute("aria-busy", "false")
    expect(page.locator("#status")).to_contain_text("passages in")


def test_boxes_and_text_filter_and_are_in_the_link(browser: Browser, data: Path) -> None:
    with on_loopback(make_app(library(data), keys=Keys(data / "none.json"))) as address:
        page, complaints = open_page(browser, address)
        page.locator("#filters summary").click()
        group = page.get_by_role("group", name="group")
        expect(group.get_by_role("checkbox")).to_have_count(2)
        expect(group).to_contain_text("open 4")
        search(page)
        assert find_leaks(page.locator("#passages").inner_html())
        group.get_by_label("open").check()
        page.get_by_label("Only passages where").fill('title != "Bath"')
        expect(page.locator("#filters-used")).to_have_text("(2 in use)")
        search(page)
        assert not find_leaks(*(page.locator(f"#{part}").inner_html() for part in ("passages", "evidence-graph")))
        expect(page.locator("#passages .card").first).to_be_visible()
        link = page.url.partition("#")[2]
        assert "only=group%3Dopen" in link
        again, _ = open_page(browser, address, f"#{link}")
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
        page, _ = open_page(browser, address)
        page.locator("#key").fill(key)
        page.get_by_role("button", name="Use this key").click()
        page.locator("#filters summary").click()
        expect(page.get_by_role("group", name="kind").get_by_role("checkbox")).to_have_count(2)
        expect(page.get_by_role("group", name="group")).to_have_count(0)
        search(page)
        page.locator("#open-documents").click()
        expect(page.locator("#documents")).to_contain_text("mill.md")
        assert not find_leaks(page.content())
