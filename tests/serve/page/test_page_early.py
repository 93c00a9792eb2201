"""A question put before the page knows the server's indexes, or before its scripts are there, in a real browser."""

from collections.abc import Callable

import pytest
from playwright.sync_api import Page, Route, expect

from serve.asking.served_world import wait_until
from serve.page.conftest import Visit
from serve.page.served_page import QUESTION, one_reading
from triplebeam.testing.scripted import Scripted

pytestmark = pytest.mark.slow


def by_button(page: Page) -> None:
    page.locator("#go").click()


def by_enter(page: Page) -> None:
    page.keyboard.press("Enter")


def held_at(page: Page, path: str, link: str = "") -> Route:
    """Visit the page, with one request of its kept waiting."""
    held: list[Route] = []
    page.route(path, lambda route: held.append(route), times=1)
    page.goto(f"/{link}", wait_until="commit")
    expect(page.locator("#question")).to_be_visible()
    wait_until(lambda: held or page.wait_for_timeout(10), f"nothing asks for {path}")
    return held[0]


def put_early(page: Page, submit: Callable[[Page], None], link: str = "") -> Route:
    held = held_at(page, "**/api/indexes", link)
    page.get_by_label("Your question").fill(QUESTION)
    submit(page)
    expect(page.locator("#status")).to_have_text("Waiting for the list of indexes …")
    return held


def test_only_the_last_one_is_put_and_words_of_the_link_do_not_replace_it(new_page: Visit) -> None:
    with Scripted(one_reading()) as model:
        page = new_page(model)
        held = put_early(page, by_enter, "#index=toy&q=Who+wrote+the+link%3F&method=single_step")
        page.get_by_label("Your question").fill(f"{QUESTION} ")
        by_enter(page)
        held.continue_()
        expect(page.locator(".sentence")).to_have_text("It is Hanover.")
        expect(page.get_by_label("Your question")).to_have_value(f"{QUESTION} ")
        assert page.url.endswith("#index=toy&q=Where+was+the+discoverer+of+Uranus+born%3F&method=single_step")


def test_words_typed_meanwhile_stay_and_are_not_put(new_page: Visit) -> None:
    with Scripted([]) as model:
        page = new_page(model)
        held = held_at(page, "**/api/indexes", "#index=toy&q=Who+wrote+the+link%3F&method=single_step")
        page.get_by_label("Your question").fill(QUESTION)
        held.continue_()
        expect(page.get_by_label("Method")).to_have_value("single_step")
        expect(page.get_by_label("Your question")).to_have_value(QUESTION)
        expect(page.get_by_label("Your question")).to_be_focused()
        expect(page.locator("#status")).to_have_text("")


def test_where_the_indexes_cannot_be_had_it_says_so_and_the_next_try_is_put(new_page: Visit) -> None:
    page = new_page()
    put_early(page, by_button).abort()
    expect(page.locator("#problem")).to_contain_text("The server cannot be reached")
    expect(page.locator("#status")).to_have_text("")
    expect(page.get_by_label("Your question")).to_have_value(QUESTION)
    page.locator("#go").click()
    expect(page.locator("#status")).to_contain_text("10 passages in")
    expect(page.locator("#problem")).to_have_text("")


def test_it_can_be_stopped(new_page: Visit) -> None:
    page = new_page()
    held = put_early(page, by_enter)
    page.get_by_role("button", name="Stop").click()
    expect(page.locator("#status")).to_have_text("Stopped. The question is still there.")
    held.continue_()
    assert_not_put(page)
    by_enter(page)
    expect(page.locator("#status")).to_contain_text("10 passages in")


@pytest.mark.parametrize("words", ["", "Another question"])
def test_it_is_not_put_when_the_box_no_longer_holds_it(new_page: Visit, words: str) -> None:
    page = new_page()
    held = put_early(page, by_button)
    page.get_by_label("Your question").fill(words)
    held.continue_()
    assert_not_put(page)
    expect(page.get_by_label("Your question")).to_have_value(words)


def assert_not_put(page: Page) -> None:
    expect(page.locator("#stop")).to_be_hidden()
    expect(page.locator("#index option")).to_have_count(1)
    expect(page.locator("#status")).to_have_text("")
    expect(page.locator("#welcome")).to_be_visible()
    assert "q=" not in page.url


def test_documents_wait_for_the_methods_too_and_only_the_newest_question_is_put(new_page: Visit) -> None:
    page = new_page()
    held = held_at(page, "**/api/methods")
    page.get_by_label("Your question").fill("Who came first?")
    by_button(page)
    page.locator("#open-documents").click()
    page.keyboard.press("Escape")
    page.get_by_label("Your question").fill(QUESTION)
    by_button(page)
    held.continue_()
    expect(page.locator("#status")).to_contain_text("10 passages in")
    assert page.url.endswith("#index=toy&q=Where+was+the+discoverer+of+Uranus+born%3F")


def test_documents_load_what_could_not_be_loaded_at_first(new_page: Visit) -> None:
    page = new_page()
    held_at(page, "**/api/methods").abort()
    expect(page.locator("#problem")).to_contain_text("The server cannot be reached")
    page.locator("#open-documents").click()
    expect(page.locator(".document-list li").first).to_be_visible()
    expect(page.locator("#problem")).to_have_text("")
    expect(page.locator("#version")).to_contain_text("Triplebeam ")
    assert page.locator("#method option").count() > 1


def test_before_the_scripts_are_there_nothing_is_lost(new_page: Visit) -> None:
    page = new_page()
    held = held_at(page, "**/assets/form.js")
    page.get_by_label("Your question").fill(QUESTION)
    page.keyboard.press("Enter")
    expect(page.locator("#go")).to_be_disabled()
    page.locator("#go").click(force=True)
    held.continue_()
    page.locator("#go").click()
    expect(page.locator("#status")).to_contain_text("10 passages in")
    expect(page.get_by_label("Your question")).to_have_value(f"{QUESTION}\n")
