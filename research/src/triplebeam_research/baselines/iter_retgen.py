"""ITER-RETGEN (Shao, Gong, Shen, Huang, Duan & Chen, Findings of EMNLP 2023): what was generated helps to retrieve
again.

A step: retrieve, then let the model reason to an answer over the passages just found. The first query is the question,
every later one is the generation before it followed by the question: a wrong or half answer names what is needed next.

Followed to the letter: the above; a step reads the 5 best passages of its own retrieval and none of earlier ones, for
which the query carries what was learned; every step generates a whole answer, so the last one's is the method's. That
makes the last retrieval the ranking. Ours where the paper leaves a choice: 4 iterations, as many steps as the other
agents have; JSON replies; a short answer read at the end by the `QuestionAnswerer` that all agents share, and where it
finds nothing, and with ``own_answer`` in any case, the last generation's. Behind ``stop_when_stuck``: a generation that
repeats the one before ends the loop, as it would retrieve the same again.
"""

from collections.abc import Generator
from dataclasses import dataclass, field
from functools import partial

from pydantic import BaseModel

from triplebeam.answer import Answer, Step
from triplebeam.generate.parse import Text
from triplebeam.generate.prompts import Template
from triplebeam.methods.shared.loop import LAST_STEP, Loop
from triplebeam.methods.shared.reading import AnsweringAgent
from triplebeam.methods.shared.replies import request_reply
from triplebeam.text.names import entity_key
from triplebeam_research.templates import load

_NOTHING = "the model generated nothing"
_REPEATED = "the generation repeats the one before"


class _Reply(BaseModel):
    reasoning: Text
    answer: Text


@dataclass(frozen=True, kw_only=True)
class IterRetGen(AnsweringAgent):
    """The agent over any retriever."""

    max_steps: int = 4
    """T: how many times it retrieves and generates."""
    retrieved: int = 20
    """Passages in a step's ranking."""
    read: int = 5
    """Passages that a step generates from."""
    own_answer: bool = False
    """Keep the loop's own answer, as in the paper, and read passages only where it has none."""
    stop_when_stuck: bool = True
    template: Template = field(default_factory=partial(load, "iter_retgen/generate"), repr=False)

    def steps(self, question: str) -> Generator[Step, None, Answer]:
        """Retrieve and generate in turn."""
        loop = _Generations(question, self.retriever)
        yield from loop.take_all(partial(self._step, loop))
        return self._conclude(loop, own_answer=self.own_answer)

    def _step(self, loop: "_Generations") -> Step:
        before = loop.reasoning
        query = f"{before} {loop.question}".strip()
        ranking = loop.retrieve(query, self.retrieved)
        passages = self._format_passages(ranking.ids[: self.read])
        reply = request_reply(self.model, self.template.fill(passages=passages, question=loop.question), _Reply)
        loop.reasoning, loop.answer = (reply.reasoning.strip(), reply.answer.strip()) if reply else ("", "")
        if not loop.reasoning:
            loop.ending = _NOTHING
        elif loop.number >= self.max_steps:
            loop.ending = LAST_STEP
        elif self.stop_when_stuck and entity_key(loop.reasoning) == entity_key(before):
            loop.ending = _REPEATED
        return Step(number=loop.number, query=query, ranking=ranking, so_far=ranking, thought=loop.reasoning)


@dataclass
class _Generations(Loop):
    """What one question has brought so far."""

    reasoning: str = ""
