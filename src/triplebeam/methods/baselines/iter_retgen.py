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

from collections.abc import Generator, Sequence
from dataclasses import dataclass, field
from functools import partial

from pydantic import BaseModel

from triplebeam.answer import Agent, Answer, Step
from triplebeam.generate.language_model import LanguageModel
from triplebeam.generate.prompts import Template, load
from triplebeam.generate.reply_fields import Text
from triplebeam.methods.shared.accounted_step import taken_steps
from triplebeam.methods.shared.prompt_text import numbered_passages
from triplebeam.methods.shared.question_answering import QuestionAnswerer, ReadAnswer, conclude
from triplebeam.methods.shared.usable_replies import usable_reply
from triplebeam.passage import Passages
from triplebeam.retrieve.retriever import Retriever, for_question
from triplebeam.triple import entity_key

_LAST_STEP = "the last step was reached"
_NOTHING = "the model generated nothing"
_REPEATED = "the generation repeats the one before"


class _Reply(BaseModel):
    reasoning: Text
    answer: Text


@dataclass(frozen=True, kw_only=True)
class IterRetGen(Agent):
    """The agent over any retriever."""

    retriever: Retriever
    model: LanguageModel
    answerer: QuestionAnswerer
    passages: Passages = field(repr=False)
    max_steps: int = 4
    """T: how many times it retrieves and generates."""
    retrieved: int = 20
    """Passages in a step's ranking."""
    read: int = 5
    """Passages a step generates from."""
    answered_from: int = 5
    own_answer: bool = False
    """Let the loop's own answer stand, as in the paper, and read passages only where it has none."""
    stop_when_stuck: bool = True
    template: Template = field(default_factory=partial(load, "iter_retgen/generate"), repr=False)

    def steps(self, question: str) -> Generator[Step, None, Answer]:
        """Retrieve and generate in turn."""
        run = _Run(question, for_question(self.retriever))
        yield from taken_steps(self._step, run)
        return conclude(
            self.answerer,
            question,
            run.steps,
            run.ending,
            best=self.answered_from,
            loop_text=run.answer,
            settled=ReadAnswer(run.answer) if self.own_answer and run.answer else None,
        )

    def _step(self, run: "_Run") -> Step:
        before, number = run.reasoning, len(run.steps) + 1
        query = f"{before} {run.question}".strip()
        ranking = run.retriever.retrieve(query, self.retrieved)
        run.reasoning, run.answer = self._generate(run.question, ranking.ids[: self.read])
        if not run.reasoning:
            run.ending = _NOTHING
        elif number >= self.max_steps:
            run.ending = _LAST_STEP
        elif self.stop_when_stuck and entity_key(run.reasoning) == entity_key(before):
            run.ending = _REPEATED
        return Step(number=number, query=query, ranking=ranking, so_far=ranking, thought=run.reasoning)

    def _generate(self, question: str, passage_ids: Sequence[str]) -> tuple[str, str]:
        """The reasoning and the answer it comes to; one call, nothing where the reply cannot be used."""
        shown = numbered_passages([self.passages[passage_id] for passage_id in passage_ids])
        reply = usable_reply(self.model, self.template.fill(passages=shown, question=question), _Reply)
        if reply is None:
            return "", ""
        return reply.reasoning.strip(), reply.answer.strip()


@dataclass(slots=True)
class _Run:
    """What one question has brought so far."""

    question: str
    retriever: Retriever
    steps: list[Step] = field(default_factory=list)
    reasoning: str = ""
    answer: str = ""
    ending: str = ""
