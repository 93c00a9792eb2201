"""The page by keyboard alone, on a phone, in the dark, and with hostile documents."""

import re

import pytest
from playwright.sync_api import Page, expect

from serve.page.conftest import Visit
from serve.page.served_page import QUESTION, fits_its_width, one_reading, weak_contrasts
from triplebeam.testing.scripted import Scripted

pytestmark = pytest.mark.slow
PHONE = {"width": 360, "height": 740}


def answered(page: Page) -> None:
    page.get_by_label("Method").select_option("single_step")
    page.get_by_label("Your question").fill(QUESTION)
    page.keyboard.press("Enter")
    expect(page.locator(".node").first).to_be_visible()


def focused(page: Page) -> str:
    return str(page.evaluate("document.activeElement.getAttribute('aria-label') ?? document.activeElement.id"))


def test_the_keyboard_is_enough(visit: Visit) -> None:
    page = visit(Scripted(one_reading()))
    order = []
    for _ in range(4):
        page.keyboard.press("Tab")
        order.append(focused(page))
    assert order == ["", "index", "open-documents", "question"]  # first the link that skips to the question
    page.keyboard.type(QUESTION)
    page.keyboard.press("Tab")
    page.keyboard.press("Tab")
    for _ in range(page.locator("#method option").count()):
        if page.get_by_label("Method").input_value() == "single_step":
            break
        page.keyboard.press("ArrowDown")
    expect(page.get_by_label("Method")).to_have_value("single_step")
    page.keyboard.press("Tab")
    assert focused(page) == "go"
    page.keyboard.press("Enter")
    expect(page.locator(".node").first).to_be_visible()
    for _ in range(80):  # the passages come first
        page.keyboard.press("Tab")
        if focused(page).startswith("Passage "):
            break
    first = focused(page)
    assert page.evaluate("getComputedStyle(document.activeElement.querySelector('rect')).strokeWidth") == "3.5px"
    page.keyboard.press("ArrowRight")
    second = focused(page)
    assert second != first
    page.keyboard.press("Enter")
    panel = page.get_by_label("The chosen node")
    expect(panel.get_by_role("heading").first).to_have_text(re.sub("^(Passage|Entity) |, hop .$", "", second))
    page.keyboard.press("Escape")
    expect(panel).to_contain_text("Choose a node")
    assert focused(page) == second


def test_a_phone_needs_no_scrolling_sideways(visit: Visit) -> None:
    page = visit(Scripted(one_reading()), viewport=PHONE)
    assert fits_its_width(page)
    answered(page)
    assert fits_its_width(page)
    page.locator(".node").first.click()
    expect(page.get_by_label("The chosen node")).not_to_contain_text("Looking it up")
    assert fits_its_width(page)
    page.get_by_role("button", name="Documents").click()
    expect(page.locator(".document-list li").first).to_be_visible()
    assert fits_its_width(page)


@pytest.mark.parametrize("scheme", ["light", "dark"])
def test_every_text_can_be_read(visit: Visit, scheme: str) -> None:
    page = visit(Scripted(one_reading()), color_scheme=scheme, reduced_motion="reduce")
    assert weak_contrasts(page) == []
    answered(page)
    page.locator(".node").first.click()
    expect(page.get_by_label("The chosen node")).not_to_contain_text("Looking it up")
    for fold in page.locator("summary").all():
        fold.click()
    assert weak_contrasts(page) == []
    dark = page.evaluate("getComputedStyle(document.body).backgroundColor") == "rgb(20, 23, 26)"
    assert dark == (scheme == "dark")


def test_what_documents_say_never_runs(visit: Visit) -> None:
    page = visit()
    text = '<img src=x onerror="document.title = 1"> 𝛼 <script>document.title = 2</script> quokka'
    added = page.request.post(
        "/api/indexes/toy/documents", data={"documents": [{"id": "<b>id", "title": "<i>title</i>", "text": text}]}
    )
    assert added.ok
    page.get_by_role("button", name="Documents").click()
    expect(page.locator("#documents .note", has_text="67 documents")).to_be_visible()
    page.keyboard.press("Escape")
    page.get_by_label("Your question").fill("<b>quokka</b>")
    page.keyboard.press("Enter")
    expect(page.locator("#passages .card", has_text="<script>document.title = 2</script>").first).to_be_visible()
    expect(page.locator("#passages .card i, #passages .card img")).to_have_count(0)
    assert page.title() == "Triplebeam"
