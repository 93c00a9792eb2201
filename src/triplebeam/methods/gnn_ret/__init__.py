"""GNN-Ret and RGNN-Ret (Li, Guo, Shao, Song, Bian, Zhang & Wang, NAACL 2025): retrieval over a graph of passages.

| paper | here |
| --- | --- |
| section 3.1, the graph of passages | `triplebeam.index.folder.passage_graph` |
| Eq. 1 messages, Eq. 2 mixing with α | `propagate.py` |
| section 3.2, GNN-Ret as a retriever | `retrieve.py` |
| Eq. 4, mixing of steps with β | `propagate.py`, as a retriever in `retrieve.py` |
| section 3.3, RGNN-Ret's steps and self-critique | `agent.py` |
| Eq. 3, 5, 9-12 and 16-21, appendix B: training | `triplebeam_research.training` |
| ours: the file of trained values | `weights.py` |
"""
