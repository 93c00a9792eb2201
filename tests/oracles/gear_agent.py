"""GeAR, Eq. 3 to 9, transcribed: the loop with functions for everything a model or an index does.

Single letters are the paper's. Ours where the project deviates: a fact the gist holds is not added again (compared
as given here).
"""

from collections.abc import Callable, Mapping, Sequence

from oracles.reciprocal_rank_fusion import rrf


def passages_breadth_first(B: Sequence[Sequence[int]], passage_of: Mapping[int, str]) -> list[str]:
    """Eq. 3: every beam's first triple, then every beam's second triple, and so on; a passage where it is first met."""
    C: list[str] = []
    for depth in range(max((len(T) for T in B), default=0)):
        for T in B:
            c = passage_of[T[depth]]
            if c not in C:
                C.append(c)
    return C


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
        stopped.append(rrf([*[passageLink(t) for t in G], *C], 60))  # Eq. 8 and 9, were n the last step
        a, r = reason(G, q)  # Eq. 6
        if a or n == n_max:
            break
        q_n = rewrite(G, q, r)  # Eq. 7
    linked = [passageLink(t) for t in G]  # Eq. 8
    return queries, G, stopped, rrf([*linked, *C], 60)  # Eq. 9
