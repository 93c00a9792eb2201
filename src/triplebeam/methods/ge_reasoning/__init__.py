"""GE-Reasoning: Graph Elicitation for Guiding Multi-Step Reasoning in Large Language Models.

| paper | here |
| --- | --- |
| section 3.1, the question graph, variable assignment of 3.5 | `question_graph.py` |
| Eq. 1 | `construct.py` |
| Eq. 2, Eq. 3, Confidence of Algorithm 1, section 3.4 structural knowledge refinement | `sub_answer.py` |
| section 3.6, the final answer | `final_answer.py` |
| Algorithm 1 | `agent.py`, with its state in `run.py` |
"""

from triplebeam.methods.ge_reasoning.agent import GEReasoning
from triplebeam.methods.ge_reasoning.question_graph import QuestionGraph, QuestionTriplet, Variable

__all__ = ["GEReasoning", "QuestionGraph", "QuestionTriplet", "Variable"]
