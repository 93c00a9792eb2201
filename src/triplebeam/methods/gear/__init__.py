"""GeAR: Graph-enhanced Agent for Retrieval-augmented Generation (Shen et al., ACL Findings 2025).

| paper | here |
| --- | --- |
| Eq. 1, 4 read, Eq. 5 gist memory, Eq. 6 reason, Eq. 7 rewrite | `reason.py` |
| Eq. 2 tripleLink, Eq. 3, NaiveGE, SyncGE, Eq. 8, 10, 11 passageLink | `expand.py` |
| Algorithm 1, diverse triple beam search, and score(·, ·) | `beam_search.py` |
| section 5, Eq. 9, the agent | `agent.py` |
"""

from triplebeam.exports import read_exports

__getattr__, __dir__, __all__ = read_exports(globals())
