"""Documents in and out, indexes and keys, in a real browser."""

import json
import time
from collections.abc import Iterable, Iterator
from pathlib import Path

import pytest
from playwright.sync_api import Page, expect

from serve.page.conftest import Visit
from small_world import TableExtractor
from triplebeam.extract.extractor import Extraction
from triplebeam.passage import Passage
from triplebeam.serve.http.keys import Keys

pytestmark = pytest.mark.slow

TEXT = "The Quokka Bridge was painted violet by Zephyrine Okonkwo."


def opened(page: Page) -> None:
    page.get_by_role("button", name="Documents").click()
    expect(page.get_by_role("heading", name="Documents of toy")).to_be_visible()


def found_first(page: Page, question: str, text: str) -> None:
    page.get_by_label("Method").select_option("bm25")
    page.get_by_label("Your question").fill(question)
    page.get_by_role("button", name="Search").click()
    expect(page.locator("#passages .card").first).to_contain_text(text)


def test_a_file_is_added_found_and_deleted(visit: Visit, tmp_path: Path) -> None:
    page = visit()
    opened(page)
    expect(page.locator(".document-list li")).to_have_count(50)
    page.get_by_role("button", name="Show more").click()
    expect(page.locator(".document-list li")).to_have_count(66)
    (tmp_path / "bridge.txt").write_text(TEXT)
    page.get_by_label("Add files").set_input_files(tmp_path / "bridge.txt")
    expect(page.locator(".job")).to_contain_text("Done: 1 of 1 document new or changed")
    expect(page.get_by_text("67 documents", exact=True)).to_be_visible()
    page.keyboard.press("Escape")
    found_first(page, "Who painted the Quokka Bridge violet?", "Zephyrine")
    opened(page)
    page.get_by_role("button", name="Show more").click()
    page.get_by_role("button", name="Delete bridge.txt").click()
    page.get_by_role("button", name="Really delete bridge.txt?").click()
    expect(page.get_by_text("66 documents", exact=True)).to_be_visible()


def test_files_are_dropped_into_a_new_index(visit: Visit) -> None:
    page = visit()
    opened(page)
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


class Patient(TableExtractor):
    """Takes its time over each passage."""

    def extract(self, passages: Iterable[Passage]) -> Iterator[Extraction]:
        for extraction in super().extract(passages):
            time.sleep(0.2)
            yield extraction


def test_a_long_job_is_cancelled(visit: Visit, tmp_path: Path) -> None:
    page = visit(extractor=Patient({}))
    opened(page)
    lines = [json.dumps({"id": f"n{number}", "text": f"Bridge number {number}."}) for number in range(400)]
    (tmp_path / "many.jsonl").write_text("\n".join(lines))
    page.get_by_label("Add files").set_input_files(tmp_path / "many.jsonl")
    expect(page.locator(".job")).to_contain_text("of 400")
    page.get_by_role("button", name="Cancel many.jsonl").click()
    expect(page.locator(".job")).to_contain_text("Cancelled")
    expect(page.get_by_text("66 documents", exact=True)).to_be_visible()


def test_what_is_refused_says_why(visit: Visit, tmp_path: Path) -> None:
    page = visit()
    opened(page)
    (tmp_path / "program.exe").write_bytes(b"MZ")
    page.get_by_label("Add files").set_input_files(tmp_path / "program.exe")
    expect(page.locator("#documents .problem")).to_contain_text("'program.exe' is refused")


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
    opened(page)
    page.locator(".document-list button").first.click()
    page.locator(".document-list button").first.click()
    expect(page.locator("#documents .problem")).to_contain_text("This key may only read")
