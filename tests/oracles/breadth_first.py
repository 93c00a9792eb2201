"""GeAR, Eq. 3: the passages of the beams, breadth first. Single letters are the paper's."""

from collections.abc import Mapping, Sequence


def passages_breadth_first(B: Sequence[Sequence[int]], passage_of: Mapping[int, str]) -> list[str]:
    """Every beam's first triple, then every beam's second triple, and so on; a passage where it is first met."""
    C: list[str] = []
    for depth in range(max((len(T) for T in B), default=0)):
        for T in B:
            c = passage_of[T[depth]]
            if c not in C:
                C.append(c)
    return C
