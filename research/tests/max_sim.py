"""ColBERT's MaxSim, Eq. 3 of Khattab & Zaharia (2020), with loops. Single letters are the paper's."""

from collections.abc import Sequence

Vector = Sequence[float]


def max_sim(E_q: Sequence[Vector], E_d: Sequence[Vector]) -> float:
    S = 0.0
    for i in E_q:
        S += max(sum(a * b for a, b in zip(i, j, strict=True)) for j in E_d)
    return S
