"""Is a question graph right? GE-Reasoning's Table 5 compares graphs with 2WikiMultiHopQA's evidences; how, it does not
say.

Ours: the evidences are a graph, too. What only ever is a subject is named in the question; every object is to be found
out, and is a variable, the same one if it is the subject of another evidence. A question graph is right if its triplets
and the evidences pair up, so that variables stand for variables, each for one, and names for names that share a word.
Which way a relation is read, and its words, do not count.
"""

import re
from collections.abc import Mapping, Sequence
from dataclasses import replace
from typing import TypeAlias

from triplebeam.evaluate.measures import pair_results
from triplebeam.evaluate.questions import Question
from triplebeam.evaluate.run import QuestionResult
from triplebeam.text.names import entity_key

Triplet: TypeAlias = tuple[str, str, str]
_VARIABLE = re.compile(r"(?:.*:\s*)?#\s*\d+")


def check_graphs(questions: Sequence[Question], results: Sequence[QuestionResult]) -> list[QuestionResult]:
    """Put beside each result whether its question graph is right, where there is one and evidences are known."""
    return [
        replace(result, graph_is_right=float(graph_is_right(result.graph, question.evidences)))
        if result.graph is not None and question.evidences
        else result
        for question, result in pair_results(questions, results)
    ]


def graph_is_right(triplets: Sequence[Triplet], evidences: Sequence[Triplet]) -> bool:
    """Return whether the triplets and the evidences pair up."""
    return len(triplets) == len(evidences) and _pair_up(list(triplets), _gold_edges(evidences), {})


def _gold_edges(evidences: Sequence[Triplet]) -> list[tuple[str, str]]:
    """Return the two ends of each evidence; a variable begins with a number sign."""
    found = {entity_key(object_): f"#{place}" for place, (_, _, object_) in reversed(list(enumerate(evidences)))}
    subjects = {entity_key(subject) for subject, _, _ in evidences}
    return [
        (
            found.get(entity_key(subject), subject),
            found[key] if (key := entity_key(object_)) in subjects else f"#{place}",
        )
        for place, (subject, _, object_) in enumerate(evidences)
    ]


def _pair_up(triplets: list[Triplet], edges: list[tuple[str, str]], stand_for: Mapping[str, str]) -> bool:
    """Return whether there is an edge for each triplet, with each variable standing for one, as far as is known."""
    if not triplets:
        return True
    (head, _, tail), *others = triplets
    for place, (one, two) in enumerate(edges):
        for ends in ((one, two), (two, one)):
            known = _bind_variable(ends[1], tail, _bind_variable(ends[0], head, stand_for))
            if known is not None and _pair_up(others, edges[:place] + edges[place + 1 :], known):
                return True
    return False


def _bind_variable(gold: str, node: str, stand_for: Mapping[str, str] | None) -> Mapping[str, str] | None:
    """Bind variables if this node is that of the evidences; None where it cannot be."""
    if stand_for is None:
        return None
    if not _VARIABLE.fullmatch(node):
        alike = set(entity_key(gold).split()) & set(entity_key(node).split())
        return stand_for if alike and not gold.startswith("#") else None
    number = node.rpartition("#")[2].strip()
    if not gold.startswith("#") or stand_for.get(number, gold) != gold:
        return None
    taken = number not in stand_for and gold in stand_for.values()
    return None if taken else {**stand_for, number: gold}
