"""Where a method is good: questions grouped by what is known of them, and a run followed step by step.

GeAR's analyses: recall by the number of triples of the gold passages (Table A11), recall and tokens over the steps of
an agent (Figures 2 and 4), recall by kinds of hops (Figure 3), steps by the number of hops of a question (Figure 5).
GNN-Ret's Figure 5: how often all gold passages are found, by how many there are.

A grouping is a mapping of a label to positions in the list of questions, in the order they are to be shown; a group
without questions is left out, and what is not known of a question puts it into a group of its own, the last.
"""

import re
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import replace
from itertools import pairwise

import numpy as np

from triplebeam.evaluate.measures import pair_results, values
from triplebeam.evaluate.questions import Question
from triplebeam.evaluate.run import QuestionResult, Run, StepResult
from triplebeam.methods.shared.loop import LAST_STEP

NOT_KNOWN = "not known"
_HOPS = re.compile(r"\d+hop\d*")
MUSIQUE_EDGES = (9, 11, 13)
"""The bounds of Table A11."""


def group_by_hops(questions: Sequence[Question]) -> dict[str, list[int]]:
    """Group by the number of hops, ascending."""
    hops = sorted({question.hops for question in questions if question.hops is not None})
    return _group_questions(
        questions, [_hops_label(each) for each in hops], lambda question: _hops_label(question.hops)
    )


def group_by_type(questions: Sequence[Question]) -> dict[str, list[int]]:
    """Group by the dataset's own types, in the order of their names."""
    types = sorted({question.type for question in questions if question.type})
    return _group_questions(questions, types, lambda question: question.type or NOT_KNOWN)


def group_by_kind_of_hops(questions: Sequence[Question]) -> dict[str, list[int]]:
    """Group by MuSiQue's types, how the hops are connected (``3hop1``, ``3hop2``), else by the number of hops."""
    typed = all(_HOPS.fullmatch(question.type) for question in questions)
    return group_by_type(questions) if typed else group_by_hops(questions)


def group_by_gold_passages(questions: Sequence[Question]) -> dict[str, list[int]]:
    """Group by the number of parts that gold passages hold, ascending."""
    sizes = sorted({parts_of(question) for question in questions if question.gold})
    label = "{} gold passages".format
    return _group_questions(
        questions, map(label, sizes), lambda each: label(parts_of(each)) if each.gold else NOT_KNOWN
    )


def parts_of(question: Question) -> int:
    """Return how many passages have to be found."""
    return len(question.groups or question.gold)


def is_all_found(question: Question, result: QuestionResult) -> bool:
    """Return whether everything was retrieved, in however many passages (GNN-Ret's Figure 5)."""
    found = {*result.passage_ids, *result.further_ids}
    return all(found.intersection(group) for group in question.groups or [(each,) for each in question.gold])


def group_by_triple_density(
    questions: Sequence[Question], triples_of_gold: Mapping[str, float]
) -> dict[str, list[int]]:
    """Group by the mean number of triples of the gold passages, which ``triples_of_gold`` gives for a question's id.

    A density on an edge belongs to the group above it.
    """
    between = [f"{low} to {high}" for low, high in pairwise(MUSIQUE_EDGES)]
    labels = [f"under {MUSIQUE_EDGES[0]}", *between, f"{MUSIQUE_EDGES[-1]} and more"]

    def label(question: Question) -> str:
        density = triples_of_gold.get(question.id)
        return NOT_KNOWN if density is None else labels[int(np.searchsorted(MUSIQUE_EDGES, density, side="right"))]

    return _group_questions(questions, labels, label)


def recall_by_step(questions: Sequence[Question], run: Run, k: int, steps: int) -> list[float]:
    """Compute Figure 2: mean recall had the agent stopped after 1, 2, ... steps; one that did stop keeps its last
    value.

    A method without steps is one step. Some question must have gold passages.
    """
    stopped = ([_truncate_steps(number, result) for result in run.results] for number in range(steps))
    return [float(np.nanmean(values(f"R@{k}", questions, results))) for results in stopped]


def tokens_by_step(run: Run, steps: int) -> list[int]:
    """Compute Figure 4: tokens read and written for all questions together, up to and with step 1, 2, ...

    Tokens from a cache count as if they had been paid for. Reading the answer after the last step is no step; a method
    without steps is one step, with all that it used.
    """
    each = np.zeros(steps, dtype=np.int64)
    for result in run.results:
        for number, step in enumerate(_steps_of(result)[:steps]):
            each[number] += step.usage.all_tokens
    return [int(total) for total in np.cumsum(each)]


def steps_by_hops(questions: Sequence[Question], run: Run) -> dict[str, list[int]]:
    """Compute Figure 5: how many steps each question took, by its hops; one more if it ended undecided."""
    taken = [len(_steps_of(result)) + is_undecided(result) for _, result in pair_results(questions, run.results)]
    return {label: [taken[position] for position in positions] for label, positions in group_by_hops(questions).items()}


def is_undecided(result: QuestionResult) -> bool:
    """Return whether the agent took all its steps without knowing that they were enough: "4+" of Figure 5."""
    return result.ending.startswith(LAST_STEP)


def _group_questions(
    questions: Sequence[Question], labels: Iterable[str], label: Callable[[Question], str]
) -> dict[str, list[int]]:
    groups: dict[str, list[int]] = {each: [] for each in (*labels, NOT_KNOWN)}
    for position, question in enumerate(questions):
        groups[label(question)].append(position)
    return {each: positions for each, positions in groups.items() if positions}


def _hops_label(hops: int | None) -> str:
    if hops is None:
        return NOT_KNOWN
    return f"{hops} hop" if hops == 1 else f"{hops} hops"


def _steps_of(result: QuestionResult) -> tuple[StepResult, ...]:
    return result.steps or (StepResult(passage_ids=result.passage_ids, usage=result.usage),)


def _truncate_steps(number: int, result: QuestionResult) -> QuestionResult:
    """Return the result had the agent stopped after the step of that number, counted from 0."""
    taken = _steps_of(result)
    return replace(result, passage_ids=taken[min(number, len(taken) - 1)].passage_ids)
