"""What is said in a chat: a text with citations in brackets, and the same structured beside it."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

from triplebeam.answer import Answer
from triplebeam.generate.language_model import Usage
from triplebeam.passage import Passages

_QUOTED_CHARACTERS = 300


@dataclass(frozen=True, kw_only=True)
class Reply:
    """A message, whole."""

    text: str
    annotations: Sequence[Mapping[str, object]]
    details: Mapping[str, Any]
    """All there is to know: a search's passages, or an answer with its evidence and steps."""
    usage: Usage = field(default_factory=Usage)


def reply_of_search(found: Mapping[str, Any]) -> Reply:
    """The passages of a search, numbered."""
    passages = found["passages"]
    listed = [f"[{number}] {_head(passage)}{passage['text']}" for number, passage in enumerate(passages, start=1)]
    cited = [
        _citation(number, passage["id"], passage["title"], passage["text"][:_QUOTED_CHARACTERS])
        for number, passage in enumerate(passages, start=1)
    ]
    text = "\n\n".join(listed) or "No passage matches: try other words."
    return Reply(text=text, annotations=cited, details=found)


def reply_of_answer(answer: Answer, passages: Passages, details: Mapping[str, Any]) -> Reply:
    """An agent's sentence, the passages it rests on in brackets behind it, and below what they say."""
    quotes: dict[str, str] = {}  # the first of a passage stands for it
    for fact in answer.evidence:
        if fact.span:
            quotes.setdefault(fact.span.passage_id, fact.span.text)
    titles = {id_: passages[id_].title for id_ in quotes}
    cited = [_citation(number, id_, titles[id_], quote) for number, (id_, quote) in enumerate(quotes.items(), start=1)]
    said = answer.sentence or answer.text or "No answer was found."
    marks = "".join(f"[{number}]" for number in range(1, len(cited) + 1))
    sources = [f'[{number}] {titles[id_] or id_}: "{quote}"' for number, (id_, quote) in enumerate(quotes.items(), 1)]
    text = "\n\n".join([f"{said} {marks}".strip(), *(["\n".join(sources)] if sources else [])])
    return Reply(text=text, annotations=cited, details=details, usage=answer.usage)


def _head(passage: Mapping[str, str]) -> str:
    return f"{passage['title']}\n" if passage["title"] else ""


def _citation(number: int, passage_id: str, title: str, quote: str) -> dict[str, object]:
    return {"type": "file_citation", "index": number, "passage_id": passage_id, "title": title, "quote": quote}
