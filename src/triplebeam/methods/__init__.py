"""Methods from papers: one folder per paper, and a file per baseline.

| folder | what it holds |
| --- | --- |
| `gear` | GeAR: NaiveGE, SyncGE and the agent |
| `gnn_ret` | GNN-Ret and RGNN-Ret |
| `ge_reasoning` | GE-Reasoning |
| `hipporag` | HippoRAG and HippoRAG 2 |
| `baselines` | agents that the papers compare with, one file each |
| `auto` | ours: a cheap agent first, an expensive one where it found no answer |
| `shared` | what agents have in common: the loop, prompts' texts, replies, sub-questions, the final answer |
"""
