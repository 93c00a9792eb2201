"""HippoRAG (NeurIPS 2024) and HippoRAG 2 (ICML 2025): PageRank over the entities of triples.

| paper | here |
| --- | --- |
| HippoRAG: the walk from a query's entities; ours: the triples that led to a passage | `hipporag.py` |
| the entities of a query, as a model says | `query_entities.py` |
| HippoRAG 2: the walk from triples and passages | `hipporag2.py` |
| HippoRAG 2's filter, recognition memory | `LLMTripleFilter` in `methods/shared/replies.py` |
"""
