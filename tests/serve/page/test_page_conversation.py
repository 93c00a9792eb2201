"""Follow-ups, guesses and what is not in the documents, in a real browser."""

from collections.abc import Generator

import pytest
from playwright.sync_api import Page, expect

from scripted_loops import final, reply
from serve.page.conftest import Visit
from serve.page.served_page import QUESTION, ask, fits_its_width, one_reading, weak_contrasts
from triplebeam.answer import Agent, Answer, Evidence, Step
from triplebeam.assemble import IndexReader
from triplebeam.ranking import Ranking
from triplebeam.testing.scripted import Scripted
from triplebeam.triple import Triple

pytestmark = pytest.mark.slow
MESSAGE = "and when did he die?"
REWRITTEN = "When did William Herschel die?"
MISSING = "No document says who taught William Herschel."
KNOWN = Evidence(triple=Triple("Hanover", "is in", "Lower Saxony"), from_memory=True)
UNQUOTED = Evidence(triple=Triple("Hanover", "had", "an orchestra"))


class Fixed(Agent):
    """Comes to the same answer, whatever is asked."""

    def __init__(self, answer: Answer) -> None:
        self.answered = answer

    def steps(self, question: str) -> Generator[Step, None, Answer]:
        yield Step(number=1, query=question, facts=self.answered.evidence)
        return self.answered


def ask_and_wait(page: Page, question: str, method: str | None = None) -> None:
    ask(page, question, method)
    expect(page.get_by_role("button", name="Stop")).to_be_hidden()


def show_answer(visit: Visit, monkeypatch: pytest.MonkeyPatch, answer: Answer, **context: object) -> Page:
    monkeypatch.setattr(IndexReader, "agent", lambda *_: Fixed(answer))
    page = visit(Scripted([]), **context)
    ask_and_wait(page, "Who taught him?")
    expect(page.locator(".sentence")).to_be_visible()
    assert fits_its_width(page)
    assert weak_contrasts(page) == []
    return page


def test_a_follow_up_is_understood_from_the_conversation(visit: Visit) -> None:
    model = Scripted([*one_reading(), reply(question=REWRITTEN), reply(facts=[]), final("1822")])
    page = visit(model)
    ask_and_wait(page, QUESTION, "single_step")
    expect(page.locator(".sentence")).to_have_text("It is Hanover.")
    page.get_by_role("button", name="Ask a follow-up").click()
    expect(page.get_by_label("Your question")).to_be_focused()
    expect(page.get_by_label("Your question")).to_have_value("")
    ask_and_wait(page, MESSAGE)
    expect(page.locator(".sentence")).to_have_text("It is 1822.")
    expect(page.locator("#understood")).to_have_text(f"Understood as: {REWRITTEN}")
    expect(page.get_by_label("Earlier in this conversation")).to_have_text(f"{QUESTION} Hanover")
    expect(page.locator(".cost")).to_contain_text("3 model calls")
    assert f"User: {QUESTION}\nAssistant: It is Hanover." in model.prompts[2].user
    assert "q=When+did+William+Herschel+die%3F" in page.url, "a link needs no conversation"


def test_the_same_question_again_and_a_new_conversation_cost_no_rewriting(visit: Visit) -> None:
    with Scripted([*one_reading(), *one_reading(), *one_reading()]) as model:
        page = visit(model)
        ask_and_wait(page, QUESTION, "single_step")
        expect(page.locator(".sentence")).to_be_visible()
        ask_and_wait(page, QUESTION)
        expect(page.locator(".sentence")).to_be_visible()
        page.get_by_role("button", name="New conversation").click()
        expect(page.locator("#answer")).to_be_hidden()
        expect(page.get_by_role("button", name="New conversation")).to_be_hidden()
        ask_and_wait(page, QUESTION)
        expect(page.locator(".sentence")).to_be_visible()


def test_a_follow_up_that_cannot_be_rewritten_is_asked_as_it_is(visit: Visit) -> None:
    page = visit(Scripted([*one_reading(), "no", "no", reply(facts=[]), final("1822")]))
    ask_and_wait(page, QUESTION, "single_step")
    expect(page.locator(".sentence")).to_be_visible()
    ask_and_wait(page, MESSAGE)
    expect(page.locator("#understood")).to_contain_text("taken without the conversation before it: The model's reply")
    expect(page.locator(".sentence")).to_have_text("It is 1822.")


@pytest.mark.parametrize("scheme", ["light", "dark"])
def test_a_guess_is_marked(visit: Visit, monkeypatch: pytest.MonkeyPatch, scheme: str) -> None:
    guess = Answer(
        question="Who taught him?",
        text="His father",
        others=("Jakob", "Anna"),
        outcome="guess",
        missing=(MISSING,),
        evidence=(UNQUOTED, KNOWN),
    )
    page = show_answer(visit, monkeypatch, guess, color_scheme=scheme)
    expect(page.locator(".others")).to_have_text("Other answers that fit: Jakob; Anna")
    expect(page.locator(".badge.guess")).to_have_text("A guess")
    expect(page.locator(".support")).to_have_text("This is a guess: your documents do not say it.")
    expect(page.locator(".missing")).to_have_text(MISSING)
    expect(page.get_by_role("heading", name="What was found")).to_be_visible()
    assert page.locator(".because .memory").all_inner_texts() == [
        "no passage was found that says it",
        "the model's own knowledge: no document says it",
    ]
    page.get_by_role("heading", name="Steps").click()
    expect(page.locator(".step-list .memory")).to_have_count(1)


def test_not_in_the_documents_is_a_result_of_its_own(visit: Visit, monkeypatch: pytest.MonkeyPatch) -> None:
    ranking = Ranking.from_scores({"uranus": 0.5})
    none = Answer(question="Who taught him?", text="", sentence=MISSING, missing=(MISSING,), ranking=ranking)
    page = show_answer(visit, monkeypatch, none, viewport={"width": 360, "height": 740})
    expect(page.locator(".sentence")).to_have_text("Not in your documents.")
    expect(page.locator("#answer").get_by_text(MISSING)).to_have_count(1)
    expect(page.locator(".support, .badge.guess")).to_have_count(0)
    expect(page.locator("#passages .card").first).to_be_visible()
