"""Whether an answer is right as a model sees it, and whether a question graph is right.

Accuracy as a model sees it: an answer says the same as an accepted one, in whatever words. GNN-Ret (and Iter-RetGen
before it) count an answer as right when a language model says that it matches the gold answer. The paper does not give
its prompt; this one is ours. The verdict is another model's opinion: name the model beside it.

Question graphs: GE-Reasoning's Table 5 compares them with 2WikiMultiHopQA's evidences; how, it does not say. Ours: the
evidences are a graph, too. What only ever is a subject is named in the question; every object is to be found out, and
is a variable, the same one if it is the subject of another evidence. A question graph is right if its triplets and the
evidences pair up, so that variables stand for variables, each for one, and names for names that share a word. Which way
a relation is read, and its words, do not count.
"""

import re
from collections.abc import Mapping, Sequence
from dataclasses import replace
from typing import TypeAlias

from pydantic import BaseModel

from triplebeam.evaluate.measures import pair_results
from triplebeam.evaluate.questions import Question
from triplebeam.evaluate.run import QuestionResult
from triplebeam.generate.accounting import note_warning
from triplebeam.generate.ask import Failed, Reply, ask_many
from triplebeam.generate.language_model import LanguageModel, Prompt
from triplebeam.generate.prompts import Template
from triplebeam.generate.provenance import UNKNOWN_ORIGIN, follow_run
from triplebeam.system.progress import Progress, ignore_progress
from triplebeam.text.names import entity_key
from triplebeam_research.templates import load

_BATCH_QUESTIONS = 16


class _Reply(BaseModel):
    correct: bool


def judge(
    model: LanguageModel,
    questions: Sequence[Question],
    results: Sequence[QuestionResult],
    progress: Progress = ignore_progress,
) -> list[float | None]:
    """Return 1 or 0 per question, in order. An empty answer is wrong without a call.

    None where there is nothing to judge (no accepted answers, or the method does not answer) and where the model's
    reply could not be used even after a correction; the latter is remarked on the open account, and a caller finds
    them as the None of a question with answers and an answer. An endpoint that is gone raises EndpointError.
    """
    template, pairs = load("judge"), list(pair_results(questions, results))
    verdicts = [0.0 if question.answers and result.answer is not None else None for question, result in pairs]
    asked = [position for position, (_, result) in enumerate(pairs) if verdicts[position] == 0 and _says(result)]
    for start in range(0, len(asked), _BATCH_QUESTIONS):
        batch = asked[start : start + _BATCH_QUESTIONS]
        with follow_run({UNKNOWN_ORIGIN}):  # answers come from documents, and do not say from which
            replies = ask_many(model, [_prompt(template, *pairs[position]) for position in batch], _Reply)
        for position, reply in zip(batch, replies, strict=True):
            verdicts[position] = _verdict(questions[position], reply)
        progress("judge", start + len(batch), len(asked))
    return verdicts


def _says(result: QuestionResult) -> str:
    """Return the answer in one line, empty where there is none."""
    return _one_line(result.answer or "")


def _prompt(template: Template, question: Question, result: QuestionResult) -> Prompt:
    return template.fill(
        question=_one_line(question.question),
        accepted="\n".join(f"- {_one_line(answer)}" for answer in question.answers),
        answer=_says(result),
    )


def _one_line(text: str) -> str:
    """Put an answer on one line: several lines could pass for a part of the prompt."""
    return " ".join(text.split())


def _verdict(question: Question, reply: Reply[_Reply]) -> float | None:
    if isinstance(reply, Failed):
        if reply.endpoint_gone:
            raise reply.error
        note_warning(f"question {question.id!r} was not judged: {reply.error}")
        return None
    return float(reply.value.correct)


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
