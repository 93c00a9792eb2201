"""What a chat is replied: a text with citations in brackets, and the same as data."""

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

from triplebeam.answer import Answer
from triplebeam.explain.conversation import FollowUp
from triplebeam.explain.passages import heading
from triplebeam.explain.verdict import remarks, verdict
from triplebeam.generate.language_model import Usage
from triplebeam.passage import Passages
from triplebeam.serve.answer_shapes import AnswerShape
from triplebeam.serve.shapes import FoundPassageShape, SearchShape

_QUOTED_CHARACTERS = 300
_PASSAGES_QUOTED = 5
#: What Markdown puts around a heading.
_MARKS = "#*_ \t\r"


@dataclass(frozen=True, kw_only=True)
class Reply:
    """A complete message."""

    text: str
    annotations: Sequence[Mapping[str, object]]
    details: Mapping[str, Any]
    """A search's passages, or an answer with its evidence and steps."""
    usage: Usage = field(default_factory=Usage)


def reply_of_search(found: SearchShape, follow_up: FollowUp | None = None) -> Reply:
    """The passages of a search, numbered."""
    passages = found["passages"]
    listed = [f"[{number}] {_head(passage)}{passage['text']}" for number, passage in enumerate(passages, start=1)]
    cited = [
        _citation(number, passage["id"], passage["title"], passage["section"], passage["text"][:_QUOTED_CHARACTERS])
        for number, passage in enumerate(passages, start=1)
    ]
    remarks = [found["remark"]] if "remark" in found else []
    text = "\n\n".join([*_understood(follow_up), *remarks, *(listed or ["No passage matches: try other words."])])
    return Reply(text=text, annotations=cited, details=found, usage=follow_up.usage if follow_up else Usage())


def _head(passage: FoundPassageShape) -> str:
    """The title, unless it is the text's first line, too, as that of a page, in whatever case and Markdown."""
    title, (first, *_) = passage["title"], passage["text"].lstrip().split("\n", 1)
    same = title.strip(_MARKS).casefold() == first.strip(_MARKS).casefold()
    return f"{title}\n" if title and not same else ""


def reply_of_answer(
    answer: Answer, passages: Passages, details: AnswerShape, follow_up: FollowUp | None = None
) -> Reply:
    """An agent's sentence with a numbered citation for each hop, and below it the words cited."""
    quotes = dict.fromkeys((fact.span.passage_id, fact.span.text) for fact in answer.evidence if fact.span)
    if answer.failure and not quotes:
        best = answer.ranking.ids[:_PASSAGES_QUOTED]
        quotes = dict.fromkeys((id_, passages[id_].text[:_QUOTED_CHARACTERS]) for id_ in best)
    numbered = [(number, passages[id_], quote) for number, (id_, quote) in enumerate(quotes, start=1)]
    cited = [_citation(number, each.id, each.title, each.section, quote) for number, each, quote in numbered]
    sources = [f'[{number}] {heading(each)}: "{quote}"' for number, each, quote in numbered]
    marks = "".join(f"[{number}]" for number, _, _ in numbered)
    paragraphs = [*_understood(follow_up), *_said(answer, marks), "\n".join(sources), *_remarks(answer)]
    return Reply(text="\n\n".join(filter(None, paragraphs)), annotations=cited, details=details, usage=answer.usage)


def _said(answer: Answer, marks: str) -> Iterator[str]:
    """The answer with its citations. Where the documents do not say it, that comes first, and what is missing."""
    if answer.outcome == "answered":
        yield f"{answer.sentence or answer.text} {marks}".strip()
        return
    if answer.outcome == "false_premise":
        yield f"{verdict(answer)} {answer.premise} {marks}".strip()
        return
    failed = "The model failed, so there is no answer. " if answer.failure else ""
    yield f"{verdict(answer)} Best guess: {answer.text}." if answer.text else failed + verdict(answer)
    yield "\n".join(dict.fromkeys(filter(None, (answer.sentence, *answer.missing))))
    yield "What was found:" if marks else ""


def _remarks(answer: Answer) -> Iterator[str]:
    """What to know before relying on the answer."""
    yield from remarks(answer)
    if answer.others:
        yield f"Other answers that fit: {'; '.join(answer.others)}."
    if answer.outcome == "answered" and not answer.supported:
        yield f"({verdict(answer)})"
    if known := [str(fact.triple) for fact in answer.evidence if fact.from_memory]:
        yield f"The model's own knowledge, not in your documents: {'; '.join(known)}."


def _understood(follow_up: FollowUp | None) -> list[str]:
    """How a follow-up was understood, for the reply to begin with."""
    if follow_up is None or (follow_up.question == follow_up.asked and not follow_up.problem):
        return []
    if follow_up.problem:
        return [f"(Your message was taken without the conversation before it: {follow_up.problem})"]
    return [f"Understood as: {follow_up.question}"]


def _citation(number: int, passage_id: str, title: str, section: str, quote: str) -> dict[str, object]:
    return {
        "type": "file_citation",
        "index": number,
        "passage_id": passage_id,
        "title": title,
        "section": section,
        "quote": quote,
    }
