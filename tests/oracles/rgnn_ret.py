"""RGNN-Ret's answering process, section 3.3, with Eq. 4 in the agent's own loop. Single letters are the paper's.

The model is three functions: the next subquestion, the subanswer to it, and the critique.
"""

from collections.abc import Callable, Sequence
from fractions import Fraction

from oracles.gnn_ret import Neighbours, gnn, smallest


def rgnn_ret(
    q: str,
    d: Callable[[str], Sequence[float]],
    N: Neighbours,
    alpha: Sequence[float],
    beta: float,
    K: int,
    retrieved: int,
    T_max: int,
    subquestion: Callable[[str, list[str]], str],
    subanswer: Callable[[str, list[int]], str],
    critique: Callable[[str, list[str]], bool],
) -> tuple[list[str], list[list[float]], list[list[int]], list[list[int]]]:
    """The subquestions, the integrated distances, the passages of each step, and what stopping there would give."""
    queries: list[str] = []
    answers: list[str] = []
    h_hat: list[list[float]] = []
    passages: list[list[int]] = []
    stopped: list[list[int]] = []
    for t in range(1, T_max + 1):
        q_t = subquestion(q, answers)
        h = gnn(d(q_t), N, alpha, K)[-1].h
        if t == 1:
            h_hat.append(h)
        elif q_t == queries[-1]:  # ours: the same subquestion again is no new step
            h_hat.append(h_hat[-1])
        else:
            h_hat.append([beta * h[i] + (1 - beta) * h_hat[-1][i] for i in range(len(h))])  # Eq. 4
        queries.append(q_t)
        passages.append(smallest(h_hat[-1], retrieved))
        answers.append(subanswer(q_t, passages[-1]))
        stopped.append(_fuse_lists(passages))  # ours: reciprocal rank fusion of all steps
        if critique(q, answers):
            break
    return queries, h_hat, passages, stopped


def _fuse_lists(lists: Sequence[Sequence[int]]) -> list[int]:
    score = {i: sum(Fraction(1, 60 + r.index(i) + 1) for r in lists if i in r) for r in lists for i in r}
    return sorted(score, key=lambda i: (-score[i], i))
