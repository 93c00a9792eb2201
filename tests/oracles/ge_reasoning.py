"""GE-Reasoning, Algorithm 1, transcribed line by line, with functions for everything a model or an index does.

A triplet is three texts, and a variable a text that begins with "#". Where the project deviates:
(a) ten rounds, as the paper's text says; line 21 as printed makes nine;
(b) no open triplet at the start means going straight to line 25;
(c) line 12 keeps the history;
(d) Sample takes the triplet tried least, the first in the graph among those;
(e) an empty answer is never kept.
"""

from collections.abc import Callable, Sequence
from typing import NamedTuple

Triplet = tuple[str, str, str]
History = list[tuple[str, str]]


class Trace(NamedTuple):
    rounds: list[tuple[Triplet, str, str, bool, bool]]
    """t, q, r, was Ret asked, was r kept; one a round."""
    history: History
    graph: list[Triplet]


def ge_reasoning(
    G: Sequence[Triplet],
    k1: float,
    k2: float,
    SubquestionGenerate: Callable[[Triplet], str],
    SubanswerGenerate: Callable[[History, list[str] | None, str, int], tuple[str, float]],
    Ret: Callable[[str], list[str]] | None,
    KnowledgeRefine: Callable[[list[str], str], list[str]],
    N: int = 10,
) -> Trace:
    """Lines 2 to 24; line 1 is given as G, line 25 sees the history."""
    G = list(G)
    tried: dict[Triplet, int] = {}
    kept: History = []
    rounds = []
    Stop = False  # line 2
    j = 1  # line 3
    C = FindTripletswithOneVariable(G)  # line 4
    if not C:  # (b)
        Stop = True
    while Stop is False:  # line 5
        t = min(C, key=lambda c: tried.get(c, 0))  # line 6, (d)
        n = tried.get(t, 0)
        tried[t] = n + 1
        q = SubquestionGenerate(t)  # line 7
        r, confidence = SubanswerGenerate(kept, None, q, n)  # line 8
        asked = False
        if confidence < k1 and Ret is not None:  # line 9
            D = Ret(q)  # line 10
            D = KnowledgeRefine(D, q)  # line 11
            r, confidence = SubanswerGenerate(kept, D, q, n)  # line 12, (c)
            asked = True
        if confidence < k2 or r == "":  # line 14, (e)
            rounds.append((t, q, r, asked, False))  # line 15
        else:
            rounds.append((t, q, r, asked, True))
            kept = [*kept, (q, r)]
            G = VariableAssignment(G, r, t)  # line 17
        j = j + 1  # line 19
        C = FindTripletswithOneVariable(G)  # line 20
        if j > N or not C:  # line 21, (a)
            Stop = True  # line 22
    return Trace(rounds, kept, G)


def FindTripletswithOneVariable(G: Sequence[Triplet]) -> list[Triplet]:
    return [t for t in G if (t[0][0] == "#") != (t[2][0] == "#")]


def VariableAssignment(G: Sequence[Triplet], r: str, t: Triplet) -> list[Triplet]:
    v = t[0] if t[0][0] == "#" else t[2]
    return [(r if h == v else h, p, r if o == v else o) for h, p, o in G]
