"""GNN-Ret and RGNN-Ret, transcribed equation by equation, slow. Single letters are the paper's.

Where the paper leaves a choice open, the project's decision is noted at the line.
"""

from collections.abc import Callable, Mapping, Sequence, Set
from statistics import fmean
from typing import NamedTuple

Neighbours = Mapping[int, Set[int]]


class Layer(NamedTuple):
    T_K: list[int]
    S_K: set[int]
    m: dict[int, float]
    sender: dict[int, int]
    h: list[float]


def smallest(d: Sequence[float], k: int) -> list[int]:
    return sorted(range(len(d)), key=lambda i: (d[i], i))[:k]  # ours: ties by row


def gnn(
    d: Sequence[float], N: Neighbours, alpha: Sequence[float], K: int, message: Callable[[list[float]], float] = min
) -> list[Layer]:
    """The layers 0 (the distances themselves) to L."""
    layers = [Layer([], set(), {}, {}, list(d))]
    for alpha_l in alpha:
        h = layers[-1].h
        T_K = smallest(h, K)
        S_K = {i for j in T_K for i in N[j]}
        m = {i: message([h[j] for j in T_K if j in N[i]]) for i in S_K}  # Eq. 1
        sender = {i: next(j for j in T_K if j in N[i]) for i in S_K}
        h_l = [alpha_l * h[i] + (1 - alpha_l) * m[i] if i in S_K else h[i] for i in range(len(h))]  # Eq. 2
        layers.append(Layer(T_K, S_K, m, sender, h_l))
    return layers


def rgnn(h: Sequence[Sequence[float]], beta: float) -> list[list[float]]:
    """Eq. 4, from h^{L,t} of every step."""
    h_hat = [list(h[0])]
    for h_t in h[1:]:
        h_hat.append([beta * x + (1 - beta) * before for x, before in zip(h_t, h_hat[-1], strict=True)])
    return h_hat


def hinge(h: Sequence[float], Y: Set[int], S_O: Set[int], r: float) -> float:
    """Eq. 3 (and 6 to 8); with the step's targets a summand of Eq. 5 (and 13 to 15)."""
    if not Y or not S_O - Y:  # ours: nothing to compare
        return 0.0
    d_Y = fmean(h[j] for j in Y)
    d_O_Y = fmean(h[o] for o in S_O - Y)
    return max(0.0, r + d_Y - d_O_Y)


def rgnn_loss(
    d: Sequence[Sequence[float]],
    N: Neighbours,
    Y: Sequence[Set[int]],
    alpha: Sequence[float],
    beta: float,
    K: int,
    O: int,
    r: float,
    message: Callable[[list[float]], float] = min,
) -> float:
    """Eq. 5; with one step Eq. 3. "The O smallest semantic distances" are, in ours, the integrated ones."""
    h_hat = rgnn([gnn(d_t, N, alpha, K, message)[-1].h for d_t in d], beta)
    T = len(d)
    S_O = [set(smallest(x, O)) for x in h_hat]
    return sum(hinge(h_hat[t], Y[t], S_O[t], r) for t in range(T)) / T


def printed_gradient(
    d: Sequence[Sequence[float]],
    N: Neighbours,
    Y: Sequence[Set[int]],
    alpha: Sequence[float],
    beta: float,
    K: int,
    O: int,
    r: float,
) -> list[float]:
    """Appendix A as printed, for minimum messages: by each α, then by β."""
    T, L, V = len(d), len(alpha), range(len(d[0]))
    layers = [gnn(d_t, N, alpha, K) for d_t in d]
    h_hat = rgnn([of_t[-1].h for of_t in layers], beta)
    S_O = [set(smallest(x, O)) for x in h_hat]
    by_alpha, by_beta = [0.0] * L, 0.0
    by_h_hat = [0.0 for _ in V]
    for t in reversed(range(T)):
        S_R = S_O[t] & layers[t][L].S_K  # Eq. 9, 16
        active = hinge(h_hat[t], Y[t], S_O[t], r) > 0
        own = [(1.0 if i in Y[t] else -1.0) if active and i in S_R else 0.0 for i in V]  # Eq. 10, 17
        by_h_hat = [own[i] + by_h_hat[i] * (1 - beta) for i in V]  # Eq. 18, 19
        if t > 0:  # ours: there is no step 0
            by_beta += sum(by_h_hat[j] * (layers[t][L].h[j] - h_hat[t - 1][j]) for j in V) / len(V) / T  # Eq. 20
        # Eq. 21; one step is GNN-Ret's case
        by_h = {i: (beta if T > 1 else 1.0) * by_h_hat[i] for i in S_R}
        for l in range(L, 0, -1):
            here, below = layers[t][l], layers[t][l - 1]
            received = S_R if l == L else here.S_K
            by_alpha[l - 1] += sum(by_h.get(i, 0.0) * (below.h[i] - here.m[i]) for i in received)  # Eq. 11
            by_h = {  # Eq. 12
                i: sum(-alpha[l - 1] * by_h.get(j, 0.0) for j in here.S_K if here.sender[j] == i)
                + (alpha[l - 1] * by_h.get(i, 0.0) if i in here.S_K else 0.0)
                for i in V
            }
    return [*by_alpha, by_beta]


def labels(d: Sequence[Sequence[float]], S_Y: Set[int]) -> list[int | None]:
    """Appendix B: the nearest of the supporting passages that are left, for each sub-question."""
    left, chosen = set(S_Y), []
    for d_t in d:
        y = min(left, key=lambda j: (d_t[j], j)) if left else None
        chosen.append(y)
        left -= {y}
    return chosen
