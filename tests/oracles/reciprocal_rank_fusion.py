"""Cormack, Clarke & Büttcher (2009): RRFscore(d) = Σ_{r ∈ R} 1 / (k + r(d)), in exact fractions."""

from collections.abc import Sequence
from fractions import Fraction


def rrf(R: Sequence[Sequence[str]], k: int) -> list[str]:
    D = sorted({d for r in R for d in r})
    score = {d: sum((Fraction(1, k + r.index(d) + 1) for r in R if d in r), Fraction(0)) for d in D}
    return sorted(D, key=lambda d: (-score[d], d))
