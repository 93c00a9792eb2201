"""GE-Reasoning, section 3.1: a question as triplets whose ends may be variables with a type, such as ``name: #1``.

A graph never changes: assigning a value to a variable (section 3.5) gives a new one, in which the variable is filled
wherever it occurs. A triplet with exactly one open variable can be asked about; one with two has to wait.

Ours: a variable may also be mentioned inside a name or a relation, since a question can tie three things together ("the
year Mozart came to city: #1"). Such a triplet waits for that variable and is never asked about it.
"""

import re
from collections.abc import Mapping
from dataclasses import dataclass, field, replace
from typing import NamedTuple, TypeAlias

from triplebeam.triple import Triple

#: A variable inside a relation: ``#1``, with a type of one word perhaps.
_MENTION = re.compile(r"(?:\w+:\s*)?#\s*(\d{1,6})\b")
#: A variable inside a name, where a number without a type is a part of the name: "Symphony #5".
_TYPED_MENTION = re.compile(r"\w+:\s*#\s*(\d{1,6})\b")


class Variable(NamedTuple):
    """Something to find out. Its number distinguishes it from others; in one graph it has one type."""

    number: int
    type: str = ""

    def __str__(self) -> str:
        return f"{self.type}: #{self.number}" if self.type else f"#{self.number}"

    @property
    def named(self) -> str:
        """For a person: the number first, and what kind of thing it is."""
        return f"#{self.number} ({self.type})" if self.type else f"#{self.number}"


#: An end of a triplet: a name, or a variable.
Node: TypeAlias = str | Variable


class QuestionTriplet(NamedTuple):
    """(head; relation; tail), of which one or both ends may be variables."""

    head: Node
    relation: str
    tail: Node

    def __str__(self) -> str:
        return f"({self.head}; {self.relation}; {self.tail})"

    @property
    def variables(self) -> tuple[Variable, ...]:
        """The variables at its ends, the head's first."""
        return tuple(node for node in (self.head, self.tail) if isinstance(node, Variable))

    @property
    def mentioned(self) -> list[int]:
        """The numbers of the variables inside its names and its relation."""
        names = [node for node in (self.head, self.tail) if isinstance(node, str)]
        numbers = [number for name in names for number in _TYPED_MENTION.findall(name)]
        return [int(number) for number in [*numbers, *_MENTION.findall(self.relation)]]

    @property
    def words(self) -> str:
        """The triplet as a search: names and relation, and a variable's type in its place."""
        nodes = [node.type if isinstance(node, Variable) else node for node in (self.head, self.tail)]
        return " ".join(filter(None, [nodes[0], self.relation, nodes[1]]))

    def fill_value(self, value: str) -> Triple:
        """Return the triplet as a fact, with the value in the place of its open variable."""
        head, tail = (value if isinstance(node, Variable) else node for node in (self.head, self.tail))
        return Triple(head, self.relation, tail)

    def make_open_fact(self) -> Triple:
        """Return the triplet as a fact that nobody has found, with the variables as they are written."""
        return Triple(str(self.head), self.relation, str(self.tail))


@dataclass(frozen=True, slots=True)
class QuestionGraph:
    """The triplets of a question, the variables it asks for, and the values found so far, by a variable's number."""

    triplets: tuple[QuestionTriplet, ...]
    targets: tuple[Variable, ...] = ()
    """One for most questions, several for a comparison; none where the model did not say."""
    values: Mapping[int, str] = field(default_factory=dict)

    @property
    def variables(self) -> tuple[Variable, ...]:
        """Every variable once, in the order of the triplets."""
        return tuple(dict.fromkeys(variable for triplet in self.triplets for variable in triplet.variables))

    @property
    def open(self) -> tuple[Variable, ...]:
        """The variables without a value."""
        return tuple(variable for variable in self.variables if variable.number not in self.values)

    @property
    def filled(self) -> tuple[QuestionTriplet, ...]:
        """The triplets with the values that are known in the place of their variables."""
        return tuple(
            QuestionTriplet(self._value(head), self._with_values(_MENTION, relation), self._value(tail))
            for head, relation, tail in self.triplets
        )

    def candidates(self) -> list[QuestionTriplet]:
        """Apply FindTripletswithOneVariable: the filled triplets with exactly one open variable."""
        waiting = {variable.number for variable in self.open}
        return [
            filled
            for triplet, filled in zip(self.triplets, self.filled, strict=True)
            if len(filled.variables) == 1 and not waiting.intersection(triplet.mentioned)
        ]

    def assign(self, variable: Variable, value: str) -> "QuestionGraph":
        """Apply VariableAssignment: the graph with the value everywhere that the variable occurs."""
        return replace(self, values={**self.values, variable.number: value})

    def find_unreachable(self) -> tuple[Variable, ...]:
        """Return the open variables that no order of sub-questions reaches: they depend on each other alone."""
        graph = self
        while candidates := graph.candidates():
            [variable] = candidates[0].variables
            graph = graph.assign(variable, "")
        return graph.open

    def __str__(self) -> str:
        """Format one triplet per line, with the values found so far."""
        return "\n".join(
            f"({self._format_node(triplet.head)}; {triplet.relation}; {self._format_node(triplet.tail)})"
            for triplet in self.triplets
        )

    def mermaid(self) -> str:
        """Render the graph as a Mermaid flowchart, for any renderer of those."""
        nodes = dict.fromkeys(node for triplet in self.triplets for node in (triplet.head, triplet.tail))
        texts = [node for node in nodes if isinstance(node, str)]
        names = {node: f"v{node.number}" if isinstance(node, Variable) else f"n{texts.index(node)}" for node in nodes}
        lines = ["flowchart LR"]
        for node, name in names.items():
            text = self._format_node(node).replace('"', "#quot;")
            lines.append(f'    {name}(["{text}"])' if isinstance(node, Variable) else f'    {name}["{text}"]')
        for head, relation, tail in self.triplets:
            text = relation.replace('"', "#quot;")
            lines.append(f'    {names[head]} -- "{text}" --> {names[tail]}')
        return "\n".join(lines)

    def _value(self, node: Node) -> Node:
        return (
            self.values.get(node.number, node)
            if isinstance(node, Variable)
            else self._with_values(_TYPED_MENTION, node)
        )

    def _with_values(self, mentions: re.Pattern[str], text: str) -> str:
        return mentions.sub(lambda mention: self.values.get(int(mention[1]), mention[0]), text)

    def _format_node(self, node: Node) -> str:
        value = self._value(node)
        return f"{node} = {value}" if isinstance(node, Variable) and value != node else str(value)
