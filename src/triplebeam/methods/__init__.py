"""Methods: one folder per paper, as published, a file per baseline, and our own agents.

| folder | what it holds |
| --- | --- |
| `gear` | GeAR: NaiveGE, SyncGE and the agent |
| `gnn_ret` | GNN-Ret and RGNN-Ret |
| `ge_reasoning` | GE-Reasoning |
| `hipporag` | HippoRAG and HippoRAG 2 |
| `agent` | ours, the default of ``ask``: evidence first, few calls, several searches per step |
| `grounded_reasoning` | ours: GE-Reasoning's question graph, filled in from documents alone |
| `shared` | what agents have in common: the loop, prompts' texts, replies, sub-questions, the final answer |
"""

from triplebeam.exports import read_exports

__getattr__, __dir__, __all__ = read_exports(globals())
