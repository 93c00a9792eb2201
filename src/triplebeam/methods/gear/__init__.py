"""GeAR: Graph-enhanced Agent for Retrieval-augmented Generation (Shen et al., ACL Findings 2025).

| paper | here |
| --- | --- |
| Eq. 1, 4 read, Eq. 5 gist memory | `read.py` |
| Eq. 2 tripleLink, Eq. 8, 10, 11 passageLink | `link.py` |
| Algorithm 1, diverse triple beam search | `beam_search.py`, with `score(·, ·)` in `score.py` |
| Eq. 3, NaiveGE, SyncGE | `expand.py` |
| Eq. 6 reason, Eq. 7 rewrite | `reason.py` |
| section 5, Eq. 9, the agent | `agent.py` |
"""

from triplebeam.methods.gear.agent import GeAR
from triplebeam.methods.gear.expand import NaiveGE, SyncGE
from triplebeam.methods.gear.link import PassageLink
from triplebeam.methods.gear.read import LLMReader, Reader
from triplebeam.methods.gear.reason import Reasoner
from triplebeam.methods.gear.score import Cascade, Exact, Pooled

__all__ = [
    "Cascade",
    "Exact",
    "GeAR",
    "LLMReader",
    "NaiveGE",
    "PassageLink",
    "Pooled",
    "Reader",
    "Reasoner",
    "SyncGE",
]
