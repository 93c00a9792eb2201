"""Documents, indexes and keys in a real browser; by keyboard alone, on a phone, in the dark, with hostile documents."""

import json
import re
from pathlib import Path

import pytest
from playwright.sync_api import Page, expect

from serve.http.small_server import Held
from serve.page.conftest import Visit
from serve.page.served_page import QUESTION, ask, fits_its_width, one_reading, weak_contrasts
from triplebeam.serve.http.keys import Keys
from triplebeam.testing.scripted import Scripted

pytestmark = pytest.mark.slow

TEXT = "The Quokka Bridge was painted violet by Zephyrine Okonkwo."


def open_documents(page: Page) -> None:
    page.get_by_role("button", name="Documents").click()
    expect(page.get_by_role("heading", name="Documents of toy")).to_be_visible()


def found_first(page: Page, question: str, text: str) -> None:
    ask(page, question, "bm25")
    expect(page.locator("#passages .card").first).to_contain_text(text)


def test_a_file_is_added_found_and_deleted(visit: Visit, tmp_path: Path) -> None:
    page = visit()
    open_documents(page)
    expect(page.locator(".document-list li")).to_have_count(50)
    page.get_by_role("button", name="Show more").click()
    expect(page.locator(".document-list li")).to_have_count(66)
    (tmp_path / "bridge.txt").write_text(TEXT)
    page.get_by_label("Add files").set_input_files(tmp_path / "bridge.txt")
    expect(page.locator(".job")).to_contain_text("Done: 1 of 1 document new or changed")
    expect(page.get_by_text("67 documents", exact=True)).to_be_visible()
    page.keyboard.press("Escape")
    found_first(page, "Who painted the Quokka Bridge violet?", "Zephyrine")
    open_documents(page)
    expect(page.locator(".document-list li")).to_have_count(50)
    page.get_by_role("button", name="Show more").click()
    page.get_by_role("button", name="Delete bridge.txt").click()
    page.get_by_role("button", name="Really delete bridge.txt?").click()
    expect(page.get_by_text("66 documents", exact=True)).to_be_visible()
    (tmp_path / "program.exe").write_bytes(b"MZ")
    page.get_by_label("Add files").set_input_files(tmp_path / "program.exe")
    expect(page.locator("#documents .problem")).to_contain_text("'program.exe' is refused")


def test_files_are_dropped_into_a_new_index(visit: Visit) -> None:
    page = visit()
    open_documents(page)
    page.get_by_label("New index").fill("bridges")
    page.get_by_role("button", name="Create").click()
    expect(page.get_by_role("heading", name="Documents of bridges")).to_be_visible()
    page.keyboard.press("Escape")
    page.evaluate(
        """(text) => {
          const carried = new DataTransfer();
          carried.items.add(new File([text], "dropped.md"));
          window.dispatchEvent(new DragEvent("drop", { dataTransfer: carried, bubbles: true, cancelable: true }));
        }""",
        TEXT,
    )
    expect(page.locator(".job")).to_contain_text("Done")
    expect(page.locator("#index option:checked")).to_have_text("bridges (1 document)")
    page.keyboard.press("Escape")
    found_first(page, "Who painted it?", "Zephyrine")


def test_a_long_job_is_cancelled(visit: Visit, tmp_path: Path) -> None:
    page = visit(extractor=(held := Held()))
    open_documents(page)
    lines = [json.dumps({"id": f"n{number}", "text": f"Bridge number {number}."}) for number in range(400)]
    (tmp_path / "many.jsonl").write_text("\n".join(lines))
    page.get_by_label("Add files").set_input_files(tmp_path / "many.jsonl")
    expect(page.locator(".job")).to_contain_text("of 400")
    page.get_by_role("button", name="Cancel many.jsonl").click()
    held.free.set()
    expect(page.locator(".job")).to_contain_text("Cancelled")
    expect(page.get_by_text("66 documents", exact=True)).to_be_visible()


def test_a_key_is_asked_for_and_stays_in_the_tab(visit: Visit, tmp_path: Path) -> None:
    page = visit()
    key = Keys(tmp_path / "data" / "keys.json").create("read")
    page.reload()
    expect(page.get_by_role("heading", name="This server needs a key")).to_be_visible()
    page.get_by_label("Key", exact=True).fill("tb-wrong")
    page.keyboard.press("Enter")
    expect(page.locator("#key-why")).to_contain_text("The key is unknown")
    page.get_by_label("Key", exact=True).fill(key)
    page.keyboard.press("Enter")
    expect(page.locator("#index option")).to_have_count(1)
    assert key not in page.url
    assert page.evaluate("JSON.stringify(localStorage) + document.cookie") == "{}"
    open_documents(page)
    page.locator(".document-list button").first.click()
    page.locator(".document-list button").first.click()
    expect(page.locator("#documents .problem")).to_contain_text("This key may only read")


LAPTOP, PHONE = {"width": 1280, "height": 800}, {"width": 360, "height": 740}


def show_answer(page: Page) -> None:
    ask(page, method="single_step")
    expect(page.locator(".node").first).to_be_visible()


def read_focus(page: Page) -> str:
    return str(page.evaluate("document.activeElement.getAttribute('aria-label') ?? document.activeElement.id"))


def test_the_keyboard_is_enough(visit: Visit) -> None:
    page = visit(Scripted(one_reading()))
    order = []
    for _ in range(4):
        page.keyboard.press("Tab")
        order.append(read_focus(page))
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
    assert read_focus(page) == "go"
    page.keyboard.press("Enter")
    expect(page.locator(".node").first).to_be_visible()
    for _ in range(80):  # the passages come first
        page.keyboard.press("Tab")
        if read_focus(page).startswith("Passage "):
            break
    first = read_focus(page)
    assert page.evaluate("getComputedStyle(document.activeElement.querySelector('rect')).strokeWidth") == "3.5px"
    page.keyboard.press("ArrowRight")
    second = read_focus(page)
    assert second != first
    page.keyboard.press("Enter")
    panel = page.get_by_label("The chosen node")
    expect(panel.get_by_role("heading").first).to_have_text(re.sub("^(Passage|Entity) |, hop .$", "", second))
    page.keyboard.press("Escape")
    expect(panel).to_contain_text("Choose a node")
    assert read_focus(page) == second


@pytest.mark.parametrize(("scheme", "size"), [("light", LAPTOP), ("dark", PHONE)])
def test_every_text_can_be_read_without_scrolling_sideways(visit: Visit, scheme: str, size: dict[str, int]) -> None:
    page = visit(Scripted(one_reading()), color_scheme=scheme, viewport=size, reduced_motion="reduce")

    def check() -> None:
        assert weak_contrasts(page) == []
        assert fits_its_width(page)

    check()
    show_answer(page)
    check()
    page.locator(".node").first.click()
    expect(page.get_by_label("The chosen node")).not_to_contain_text("Looking it up")
    for fold in page.locator("summary").all():
        fold.click()
    check()
    dark = page.evaluate("getComputedStyle(document.body).backgroundColor") == "rgb(20, 23, 26)"
    assert dark == (scheme == "dark")
    page.get_by_role("button", name="Documents").click()
    expect(page.locator(".document-list li").first).to_be_visible()
    check()


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
