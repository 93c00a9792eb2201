"""Cormack, Clarke & Büttcher (2009): RRFscore(d) = Σ_{r ∈ R} 1 / (k + r(d)), in exact fractions."""

from collections.abc import Sequence
from fractions import Fraction


def rrf_scores(R: Sequence[Sequence[str]], k: int) -> dict[str, Fraction]:
    D = sorted({d for r in R for d in r})
    return {d: sum((Fraction(1, k + r.index(d) + 1) for r in R if d in r), Fraction(0)) for d in D}


def rrf(R: Sequence[Sequence[str]], k: int) -> list[str]:
    score = rrf_scores(R, k)
    return sorted(score, key=lambda d: (-score[d], d))
