"""GeAR's Algorithm 1, line by line and slow: what the fast search must agree with.

Single letters are the paper's. Where the paper leaves a choice open, the project's decision is noted at the line.
"""

import math
from collections.abc import Callable, Sequence

Sequence_ = tuple[int, ...]


def diverse_triple_beam_search(
    t_1_to_n: Sequence[int],
    b: int,
    l: int,
    gamma: float,
    score: Callable[[Sequence_], float],
    get_neighbours: Callable[[int], Sequence[int]],
) -> list[tuple[float, Sequence_]]:
    def top(B: list[tuple[float, Sequence_]], b: int) -> list[tuple[float, Sequence_]]:
        return sorted(B, key=lambda entry: -entry[0])[:b]  # sorted() is stable: found first stays in front

    def exists(t: int, B: list[tuple[float, Sequence_]]) -> bool:
        return any(t in T for _, T in B)

    B_0: list[tuple[float, Sequence_]] = []  # 1
    for t in t_1_to_n:  # 2
        s = score((t,))  # 3
        B_0.append((s, (t,)))  # 4
    B_0 = top(B_0, b)  # 5
    B_i = B_0
    for _i in range(1, l):  # 6
        B_previous = B_i
        B: list[tuple[float, Sequence_]] = []  # 7
        for s, T in B_previous:  # 8
            V: list[tuple[float, Sequence_]] = []  # 9
            for t in get_neighbours(T[-1]):  # 10
                if exists(t, B_previous):  # 11
                    continue  # 12
                s_ = s + score((*T, t))  # 13
                V.append((s_, (*T, t)))  # 14
            V.sort(key=lambda entry: -entry[0])  # 15
            for n in range(len(V)):  # 16
                s_, T_t = V[n]  # 17
                s_ = s_ * math.exp(-min(n, gamma) / gamma)  # 18
                B.append((s_, T_t))  # 19
        B_i = top(B, b)  # 20
        if not B_i:  # ours: at a dead end of all beams the last beams are kept
            return B_previous
    return B_i  # 21
