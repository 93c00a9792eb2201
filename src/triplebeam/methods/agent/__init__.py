"""Our own agent, the default of ``ask``. It began as GeAR's (`methods.gear`) and keeps its SyncGE, gist and fusion.

| file | what it holds |
| --- | --- |
| `agent.py` | `EvidenceAgent`: two calls per step, several searches, evidence first, stopping rules |
| `read.py`, `reason.py` | its two calls: facts with quotations; the verdict with the next queries |
| `single_step.py` | one step of it; and `Auto`: that first, the agent only where it does not answer |

docs/methods/agent.md has a table of what each part adds.
"""

from triplebeam.methods.agent.agent import EvidenceAgent
from triplebeam.methods.agent.single_step import Auto, SingleStep

__all__ = ["Auto", "EvidenceAgent", "SingleStep"]
