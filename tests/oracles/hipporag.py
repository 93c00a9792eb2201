"""HippoRAG and HippoRAG 2, transcribed with dictionaries and loops."""

from collections.abc import Sequence

Weights = dict[tuple[str, str], float]


def join_entities(triples: Sequence[tuple[str, str, str]], synonyms: dict[frozenset[str], float]) -> Weights:
    """The undirected graph of entities: (passage, subject, object) triples count, synonyms weigh their cosine."""
    w: Weights = {}
    for _, s, o in triples:
        if s != o:
            for edge in ((s, o), (o, s)):
                w[edge] = w.get(edge, 0) + 1
    for pair, cosine in synonyms.items():
        a, b = sorted(pair)
        for edge in ((a, b), (b, a)):
            w[edge] = w.get(edge, 0) + cosine
    return w


def pagerank(nodes: Sequence[str], w: Weights, reset: dict[str, float], d: float, n: int = 30) -> dict[str, float]:
    """n steps of a walker who follows an edge with probability d, and goes back otherwise."""
    total = sum(reset.values())
    r = {v: reset.get(v, 0) / total for v in nodes}
    out = {v: sum(weight for (a, _), weight in w.items() if a == v) for v in nodes}
    p = dict(r)
    for _ in range(n):
        after = {v: (1 - d) * r[v] for v in nodes}
        for (a, b), weight in w.items():
            after[b] += d * p[a] * weight / out[a]
        for a in nodes:
            if out[a] == 0:
                for v in nodes:
                    after[v] += d * p[a] * r[v]
        p = after
    return p


def passages_with(entity: str, triples: Sequence[tuple[str, str, str]]) -> int:
    return len({passage for passage, s, o in triples if entity in (s, o)})


def hipporag(
    triples: Sequence[tuple[str, str, str]],
    synonyms: dict[frozenset[str], float],
    linked: Sequence[str],
    d: float,
    specificity: bool,
) -> dict[str, float]:
    """A score for each passage that has triples."""
    entities = sorted({e for _, s, o in triples for e in (s, o)})
    reset = {e: 1 / passages_with(e, triples) if specificity else 1.0 for e in linked}
    p = pagerank(entities, join_entities(triples, synonyms), reset, d)
    score: dict[str, float] = {}
    for passage, s, o in triples:
        score[passage] = score.get(passage, 0) + p[s] + p[o]
    return score


def hipporag2(
    passages: Sequence[str],
    triples: Sequence[tuple[str, str, str]],
    synonyms: dict[frozenset[str], float],
    seeds: dict[int, float],
    dense: dict[str, float],
    d: float,
    passage_weight: float,
) -> dict[str, float]:
    """A score for each passage, from seed triples with their similarity and each passage's dense score."""
    entities = sorted({e for _, s, o in triples for e in (s, o)})
    w = join_entities(triples, synonyms)
    for passage, s, o in triples:
        for e in (s, o):
            w[("passage " + passage, e)] = w[(e, "passage " + passage)] = 1
    similarities: dict[str, list[float]] = {}
    for t, similarity in seeds.items():
        for e in triples[t][1:]:
            similarities.setdefault(e, []).append(similarity)
    reset = {e: sum(all_) / len(all_) / passages_with(e, triples) for e, all_ in similarities.items()}
    low, high = min(dense.values()), max(dense.values())
    for passage in passages:
        scaled = (dense[passage] - low) / (high - low) if high > low else 0.0
        reset["passage " + passage] = passage_weight * scaled
    p = pagerank([*entities, *("passage " + passage for passage in passages)], w, reset, d)
    return {passage: p["passage " + passage] for passage in passages}
