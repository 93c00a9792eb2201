"""An answer as JSON, for machines and for `triplebeam verify`, and its evidence read back."""

from collections.abc import Mapping
from dataclasses import asdict
from typing import Protocol

from triplebeam.answer import Answer, Evidence, Span, Step
from triplebeam.errors import BadInputError
from triplebeam.passage import Passage
from triplebeam.triple import Triple

_PARTS = ("subject", "predicate", "object")


class Passages(Protocol):
    """Passages by id: an index's table, or a dictionary."""

    def __getitem__(self, passage_id: str, /) -> Passage:
        """The passage with an id."""
        ...


def to_json(answer: Answer, passages: Passages, *, price: float | None = None) -> dict[str, object]:
    """The whole answer. ``price`` is in US dollars, and is left out where it is not known."""
    ranked = [(hit, passages[hit.passage_id]) for hit in answer.ranking]
    written: dict[str, object] = {
        "question": answer.question,
        "answer": answer.text,
        "sentence": answer.sentence,
        "supported": answer.supported,
        "ending": answer.ending,
        "loop_answer": answer.loop_text,
        "evidence": [_evidence(fact) for fact in answer.evidence],
        "passages": [
            {"id": passage.id, "title": passage.title, "score": hit.score, "text": passage.text}
            for hit, passage in ranked
        ],
        "steps": [step_json(step) for step in answer.steps],
        "usage": asdict(answer.usage),
    }
    return written if price is None else {**written, "price": price}


def evidence_from_json(written: object) -> list[Evidence]:
    """The evidence of an answer that ``to_json`` wrote. Whatever else the answer holds is not looked at."""
    if not isinstance(written, Mapping) or not isinstance(written.get("evidence"), list):
        raise BadInputError(
            'this is no answer: a JSON object with a list under "evidence" is needed,'
            " as `triplebeam ask … --json` prints it."
        )
    return [_read_fact(fact, f"evidence {number}") for number, fact in enumerate(written["evidence"], start=1)]


def _evidence(fact: Evidence) -> dict[str, object]:
    span = fact.span
    place = {"passage_id": span.passage_id, "start": span.start, "end": span.end, "text": span.text} if span else None
    written: dict[str, object] = {"triple": list(fact.triple), "span": place}
    return {**written, "note": fact.note} if fact.note else written


def step_json(step: Step) -> dict[str, object]:
    """A step, as it is told when it is done and as it stands in the answer."""
    written: dict[str, object] = {
        "number": step.number,
        "query": step.query,
        "facts": [list(triple) for triple in step.facts],
        "thought": step.thought,
        "problems": list(step.problems),
        "passages": step.ranking.ids,
        "usage": asdict(step.usage),
        "seconds": step.seconds,
    }
    return {**written, "picture": step.picture} if step.picture else written


def _read_fact(fact: object, place: str) -> Evidence:
    if not isinstance(fact, Mapping):
        raise BadInputError(f'{place} is {fact!r}: an object with "triple" and "span" is needed.')
    triple = fact.get("triple")
    if not isinstance(triple, list) or len(triple) != len(_PARTS) or not all(isinstance(part, str) for part in triple):
        raise BadInputError(f"the triple of {place} is {triple!r}: a list of three strings is needed.")
    note = fact.get("note", "")
    if not isinstance(note, str):
        raise BadInputError(f"the note of {place} is {note!r}: a string is needed, or none at all.")
    return Evidence(triple=Triple(*triple), span=_read_span(fact.get("span"), place), note=note)


def _read_span(span: object, place: str) -> Span | None:
    if span is None:
        return None
    kinds = {"passage_id": str, "start": int, "end": int, "text": str}
    if not isinstance(span, Mapping):
        raise BadInputError(f"the span of {place} is {span!r}: null is needed, or an object with {', '.join(kinds)}.")
    for name, kind in kinds.items():
        value = span.get(name)
        if not isinstance(value, kind) or isinstance(value, bool):
            needed = "a whole number" if kind is int else "a string"
            raise BadInputError(f'"{name}" in the span of {place} is {value!r}: {needed} is needed.')
    return Span(passage_id=span["passage_id"], start=span["start"], end=span["end"], text=span["text"])
