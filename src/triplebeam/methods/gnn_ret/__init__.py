"""GNN-Ret and RGNN-Ret (Li, Guo, Shao, Song, Bian, Zhang & Wang, NAACL 2025): retrieval over a graph of passages.

``propagate`` has Eq. 1, 2 and 4, ``retrieve`` the retriever, ``objective`` Eq. 3 and 5 with their derivatives,
``printed`` the gradients of appendix A, ``labels`` and ``training`` appendix B, ``weights`` the file of learned values.
The graph itself is `triplebeam.index.passage_graph`.
"""

from triplebeam.methods.gnn_ret.labels import training_steps
from triplebeam.methods.gnn_ret.propagate import MessagePassing, integrate_steps
from triplebeam.methods.gnn_ret.retrieve import GNNRet
from triplebeam.methods.gnn_ret.training import GNN_RET, RGNN_RET, TrainingResult, TrainingSettings, train
from triplebeam.methods.gnn_ret.weights import TrainedOn, Weights, read_weights, write_weights

__all__ = [
    "GNN_RET",
    "RGNN_RET",
    "GNNRet",
    "MessagePassing",
    "TrainedOn",
    "TrainingResult",
    "TrainingSettings",
    "Weights",
    "integrate_steps",
    "read_weights",
    "train",
    "training_steps",
    "write_weights",
]
