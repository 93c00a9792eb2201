"""GeAR: Graph-enhanced Agent for Retrieval-augmented Generation (Shen et al., ACL Findings 2025).

| paper | here |
| --- | --- |
| Eq. 1 read | `read.py` |
| Eq. 2 tripleLink, Eq. 8, 10, 11 passageLink | `link.py` |
| Algorithm 1, diverse triple beam search | `beam_search.py`, with `score(·, ·)` in `score.py` |
| Eq. 3, NaiveGE, SyncGE | `expand.py` |
"""

from triplebeam.methods.gear.expand import NaiveGE, SyncGE
from triplebeam.methods.gear.read import Reader
from triplebeam.methods.gear.score import Cascade, Exact, Pooled

__all__ = ["Cascade", "Exact", "NaiveGE", "Pooled", "Reader", "SyncGE"]
