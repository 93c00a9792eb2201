"""Training GNN-Ret and RGNN-Ret (Li, Guo, Shao, Song, Bian, Zhang & Wang, NAACL 2025).

| paper | here |
| --- | --- |
| Eq. 3 and 5, hinge losses and their derivatives | `objective.py` |
| Eq. 9-12 and 16-21, the printed gradients of appendix A | `printed.py` |
| appendix B, labels and gradient descent | `objective.py`, `descent.py` |
| ours: training on the questions of an index, cross-validation, the file of trained values | `trainer.py` |
"""
