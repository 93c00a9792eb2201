"""GE-Reasoning, Eq. 1: a model writes a question as a graph, and what it writes is read and checked.

Followed to the letter: triplets that are malformed or hold no variable are dropped, one by one; variables carry types,
and ``typed=False`` leaves them out (Table 5). Ours: the reply is JSON, it also names the variables that are asked for,
and a graph with nothing to ask about goes back to the model once with its fault. Other faults are noted, and the graph
is used.
"""

import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Annotated, TypeAlias

from pydantic import BaseModel, BeforeValidator, WithJsonSchema, model_validator

from triplebeam.generate.accounting import note_warning
from triplebeam.generate.language_model import LanguageModel
from triplebeam.generate.prompts import load
from triplebeam.methods.ge_reasoning.question_graph import Node, QuestionGraph, QuestionTriplet, Variable
from triplebeam.methods.shared.replies import request_reply

#: ``name: #1``, or ``#1`` alone. Without a colon it is a name, as in "Symphony #5".
_VARIABLE = re.compile(r"[(\[]?\s*(?:(?P<type>[^#:;]*?)\s*:)?\s*#\s*(?P<number>\d{1,6})\s*[)\]]?")
_MENTION = re.compile(r"#\s*(\d{1,6})")

_ROW_SCHEMA = {"type": "array", "items": {"type": "string"}, "minItems": 3, "maxItems": 3}


def _coerce_row(value: object) -> list[str]:
    """Parse a triplet as models write it: a list, an object of three, or the paper's "(head; relation; tail)"."""
    if isinstance(value, str):
        text = value.strip()
        return (text[1:-1] if text.startswith("(") and text.endswith(")") else text).split(";")
    parts = list(value.values()) if isinstance(value, dict) else value
    return [str(part) for part in parts] if isinstance(parts, list) else [str(value)]


def _coerce_texts(value: object) -> list[str]:
    values = value if isinstance(value, list) else [] if value is None else [value]
    # One number without its sign is how some models write a variable.
    return [f"#{part}" if isinstance(part, int) or str(part).isdigit() else str(part) for part in values]


_Row: TypeAlias = Annotated[list[str], BeforeValidator(_coerce_row), WithJsonSchema(_ROW_SCHEMA)]
_Targets: TypeAlias = Annotated[list[str], BeforeValidator(_coerce_texts)]


class _Reply(BaseModel):
    triplets: list[_Row]
    target: _Targets

    @model_validator(mode="after")
    def _can_be_asked_about(self) -> "_Reply":
        fault = fault_of(read_graph(self.triplets, self.target)[0])
        if fault:
            raise ValueError(fault)
        return self


@dataclass(frozen=True, kw_only=True)
class GraphConstruction:
    """ConstructGraph of Algorithm 1."""

    model: LanguageModel
    typed: bool = True

    def construct(self, question: str) -> QuestionGraph | None:
        """Call the model once, and again where the graph cannot be asked about; None, with a note, where that fails."""
        template = load("ge_reasoning/question_graph" if self.typed else "ge_reasoning/question_graph_untyped")
        reply = request_reply(self.model, template.fill(question=question), _Reply)
        if reply is None:
            return None
        graph, remarks = read_graph(reply.triplets, reply.target, typed=self.typed)
        unreachable = ", ".join(map(str, graph.find_unreachable()))
        for words in [*remarks, *([f"nothing leads to {unreachable} in the question graph"] if unreachable else [])]:
            note_warning(words)
        return graph


def read_graph(
    rows: Sequence[Sequence[str]], targets: Sequence[str] = (), *, typed: bool = True
) -> tuple[QuestionGraph, list[str]]:
    """Parse the graph, and describe what of it was skipped."""
    types = _types(rows)
    triplets: dict[QuestionTriplet, None] = {}
    remarks = []
    for row in rows:
        fault = _row_fault(row, types)
        if fault:
            remarks.append(f"a triplet of the question was passed over, since it {fault}: ({'; '.join(row)})")
        else:
            head, tail = (_read_node(part, types if typed else {}) for part in row[::2])
            triplets[QuestionTriplet(head, row[1].strip(), tail)] = None
    graph = QuestionGraph(tuple(triplets))
    asked, unknown = _read_targets(graph, targets)
    remarks += [f"the question graph asks for {text!r}, which none of its triplets holds" for text in unknown]
    return QuestionGraph(graph.triplets, asked), remarks


def fault_of(graph: QuestionGraph) -> str:
    """Explain why nothing can be asked about a graph; empty where something can."""
    if not graph.triplets:
        return "triplets: none of them is a [head, relation, tail] with a variable such as name: #1 at one of its ends"
    if not graph.candidates():
        return "triplets: every one has two variables, so they hang on each other in a circle: begin from a known name"
    return ""


def _types(rows: Sequence[Sequence[str]]) -> dict[int, str]:
    """Return the variables' numbers, each with the first type that it comes with."""
    types: dict[int, str] = {}
    for match in (_VARIABLE.fullmatch(part.strip()) for row in rows for part in row[::2]):
        if match:
            number = int(match["number"])
            types[number] = types.get(number) or (match["type"] or "").strip()
    return types


def _read_node(text: str, types: Mapping[int, str]) -> Node:
    match = _VARIABLE.fullmatch(text.strip())
    return Variable(int(match["number"]), types.get(int(match["number"]), "")) if match else text.strip()


def _row_fault(row: Sequence[str], known: Mapping[int, str]) -> str:
    parts = [part.strip() for part in row]
    if len(parts) != 3 or not all(parts):
        return "is not three texts"
    head, tail = (_read_node(part, known) for part in parts[::2])
    if head == tail:
        return "leads from a thing to itself"
    return "" if isinstance(head, Variable) or isinstance(tail, Variable) else "holds no variable"


def _read_targets(graph: QuestionGraph, targets: Sequence[str]) -> tuple[tuple[Variable, ...], list[str]]:
    """Return the variables of the graph that are asked for, and the texts that name none of them."""
    variables = {variable.number: variable for variable in graph.variables}
    asked: dict[Variable, None] = {}
    unknown = []
    for text in targets:
        numbers = [int(number) for number in _MENTION.findall(text)]
        asked |= dict.fromkeys(variables[number] for number in numbers if number in variables)
        if text.strip() and not (numbers and all(number in variables for number in numbers)):
            unknown.append(text)
    return tuple(asked), unknown
