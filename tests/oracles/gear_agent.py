"""GeAR, Eq. 4 to 9, transcribed: the loop with functions for everything a model or an index does.

Ours where the project deviates: a fact the gist holds is not added again (compared as given here).
"""

from collections.abc import Callable, Sequence
from fractions import Fraction


def gear(
    q: str,
    n_max: int,
    retrieve: Callable[[str], list[str]],
    read: Callable[[list[str], str, list[str]], list[str]],
    reason: Callable[[list[str], str], tuple[bool, str]],
    rewrite: Callable[[list[str], str, str], str],
    passageLink: Callable[[str], list[str]],
    gist_reads: int,
) -> tuple[list[str], list[str], list[list[str]], list[str]]:
    """The queries asked, the final gist, what stopping at each step would have given, and C_q^(n)."""
    G: list[str] = []
    C: list[list[str]] = []
    q_n, queries, stopped = q, [], []
    for n in range(1, n_max + 1):
        queries.append(q_n)
        C_n = retrieve(q_n)
        T = read(C_n[:gist_reads], q, G)  # Eq. 4
        G = G + [t for i, t in enumerate(T) if t not in G and t not in T[:i]]  # Eq. 5
        C.append(C_n)
        stopped.append(rrf([*[passageLink(t) for t in G], *C]))  # Eq. 8 and 9, were n the last step
        a, r = reason(G, q)  # Eq. 6
        if a or n == n_max:
            break
        q_n = rewrite(G, q, r)  # Eq. 7
    linked = [passageLink(t) for t in G]  # Eq. 8
    return queries, G, stopped, rrf([*linked, *C])  # Eq. 9


def rrf(lists: Sequence[Sequence[str]], k: int = 60) -> list[str]:
    D = sorted({d for r in lists for d in r})
    score = {d: sum((Fraction(1, k + r.index(d) + 1) for r in lists if d in r), Fraction(0)) for d in D}
    return sorted(D, key=lambda d: (-score[d], d))
