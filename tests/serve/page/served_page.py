"""The page in a real browser: a server over the toy corpus, and what a visit keeps an eye on."""

import os
import shutil
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import pytest
from playwright.sync_api import Browser, ConsoleMessage, Page, expect, sync_playwright

from patience import SECONDS
from scripted_loops import final, reply
from serve.asking.served_world import library_over, on_loopback
from small_world import TableExtractor, WordEmbedder
from triplebeam.extract.extractor import Extractor
from triplebeam.generate.language_model import Completion, LanguageModel
from triplebeam.index.build.build import IndexBuilder
from triplebeam.passage import Document
from triplebeam.serve.http.app import make_app
from triplebeam.serve.http.keys import Keys
from triplebeam.testing.toy import passages, questions
from triplebeam.triple import Triple

QUESTION = "Where was the discoverer of Uranus born?"
BROWSERS = ("chromium", "chromium-browser", "google-chrome")
_FACTS = [["William Herschel", "discovered", "Uranus"], ["William Herschel", "was born in", "Hanover"]]


def one_reading() -> list[Completion]:
    """What `single_step` asks of a model: the facts, then the answer."""
    return [reply(facts=_FACTS), final("Hanover")]


def build_toy(folder: Path) -> None:
    """The toy corpus, with the triples its questions are made of."""
    table: dict[str, list[Triple]] = {}
    for question in questions():
        for passage_id, triple in zip(question.gold, question.chain, strict=False):
            table.setdefault(passage_id, []).append(Triple(*triple))
    documents = [Document(id=each.id, title=each.title, text=each.text, is_passage=True) for each in passages()]
    IndexBuilder(folder=folder, embedder=WordEmbedder(), extractor=TableExtractor(table)).build(documents)


@contextmanager
def serve_toy(
    toy: Path, folder: Path, model: LanguageModel | None = None, extractor: Extractor | None = None
) -> Iterator[str]:
    """A server over a copy of the toy index; its address."""
    shutil.copytree(toy, folder / "data" / "toy.index")
    library = library_over(folder / "data", home=folder, model=model, extractor=extractor or TableExtractor({}))
    with on_loopback(make_app(library, keys=Keys(library.keys_file))) as address:
        yield address


@contextmanager
def browsing() -> Iterator[Browser]:
    """A browser without a window. As root it has no sandbox to stand in."""
    program = next((path for name in BROWSERS if (path := shutil.which(name))), None)
    if program is None:
        pytest.skip(f"no browser is here: none of {', '.join(BROWSERS)} is on the PATH")
    arguments = ["--no-sandbox"] if hasattr(os, "geteuid") and os.geteuid() == 0 else []
    expect.set_options(timeout=1000 * SECONDS)
    with sync_playwright() as playwright:
        browser = playwright.chromium.launch(executable_path=program, args=arguments)
        yield browser
        browser.close()


@dataclass
class Complaints:
    """What the browser finds wrong with a page: errors of scripts, and breaches of the content policy."""

    heard: list[str] = field(default_factory=list)

    def listen(self, page: Page) -> None:
        page.on("pageerror", lambda error: self.heard.append(str(error)))
        page.on("console", self._console)

    def _console(self, message: ConsoleMessage) -> None:
        # That the interface refuses something is noted by the browser, too, and is what some tests are about.
        refused = message.text.startswith("Failed to load resource") and "/api/" in message.location["url"]
        if message.type in ("error", "warning") and not refused:
            self.heard.append(message.text)


def blank_page(browser: Browser, address: str, complaints: Complaints, **context: Any) -> Page:
    """A page that is about to visit the server."""
    page = browser.new_context(base_url=address, **context).new_page()
    page.set_default_timeout(1000 * SECONDS)
    complaints.listen(page)
    return page


def ask(page: Page, question: str = QUESTION, method: str | None = None) -> None:
    if method:
        page.get_by_label("Method").select_option(method)
    page.get_by_label("Your question").fill(question)
    page.locator("#go").click()


def fits_its_width(page: Page) -> bool:
    """Is there nothing to scroll to sideways?"""
    wide, room = page.evaluate("[document.documentElement.scrollWidth, document.documentElement.clientWidth]")
    return bool(wide <= room)


def weak_contrasts(page: Page) -> list[str]:
    """Texts that stand out from their ground by less than WCAG's 4.5 to 1, or 3 to 1 where they are large."""
    found: list[str] = page.evaluate(_WEAK_CONTRASTS)
    return found


_WEAK_CONTRASTS = """() => {
  const canvas = document.createElement("canvas").getContext("2d", { willReadFrequently: true });
  const bytes = (color) => {
    canvas.clearRect(0, 0, 1, 1); canvas.fillStyle = color; canvas.fillRect(0, 0, 1, 1);
    return [...canvas.getImageData(0, 0, 1, 1).data];
  };
  const light = (color) => {
    const parts = bytes(color).slice(0, 3).map((b) => b / 255)
      .map((c) => (c <= 0.04045 ? c / 12.92 : ((c + 0.055) / 1.055) ** 2.4));
    return 0.2126 * parts[0] + 0.7152 * parts[1] + 0.0722 * parts[2];
  };
  const ground = (element) => {
    if (element.matches(".chip-text")) return getComputedStyle(element.parentNode.querySelector(".chip")).fill;
    if (element.matches("svg .label")) return getComputedStyle(element.parentNode.querySelector("rect")).fill;
    for (let at = element; at; at = at.parentElement) {
      const color = getComputedStyle(at).backgroundColor;
      if (bytes(color)[3] === 255) return color;
    }
    return getComputedStyle(document.body).backgroundColor;
  };
  const weak = [];
  for (const element of document.querySelectorAll("body *")) {
    const text = [...element.childNodes].filter((n) => n.nodeType === 3).map((n) => n.data.trim()).join("");
    if (!text || element.closest("title, option:disabled, :disabled") || !element.checkVisibility?.()) continue;
    const style = getComputedStyle(element);
    const color = element.closest("svg") ? style.fill : style.color;
    const [high, low] = [light(color), light(ground(element))].sort((a, b) => b - a);
    const ratio = (high + 0.05) / (low + 0.05);
    const size = parseFloat(style.fontSize);
    const large = size >= 24 || (size >= 18.66 && Number(style.fontWeight) >= 700);
    if (ratio < (large ? 3 : 4.5)) weak.push(`${text.slice(0, 40)}: ${ratio.toFixed(2)}`);
  }
  return weak;
}"""
