"""Self-Ask (Press, Zhang, Min, Schmidt, Smith & Lewis, Findings of EMNLP 2023): follow-up questions until none is
needed.

A step: the model's follow-up question is the query, and an intermediate answer to it is read from what is found. Then
the model, shown the question and all follow-ups with their answers, asks the next one or says the final answer.

Followed to the letter: follow-ups are asked one at a time with the answers so far in view; the model itself decides in
the same breath whether another is needed. As in the GNN-Ret paper's comparison, the intermediate answer is read from
retrieved passages, where Press et al. take a search engine's answer. Without a retriever the model answers its
follow-ups itself, and its final answer stands: "Self-ask" of GE-Reasoning's Table 4.

What differs: at most 4 follow-ups; the reply is JSON instead of a continued text; a reply with both a follow-up and an
answer is a follow-up, since its answer runs ahead of the evidence. A question the model would answer at once is
searched for as it stands, once, so that there is something to read. The ranking is that of `sub_questions`, of all
steps together, and the answer is read from its best passages by the `QuestionAnswerer` that all agents share; where
that finds nothing, and with ``own_answer`` in any case, Self-Ask's own final answer stands. Behind ``stop_when_stuck``:
a follow-up that was asked before ends the loop. Without a retriever a follow-up is a prompt of its own, where Press et
al. let the model write on; where the loop comes to no answer, the question is put to the model as it stands.
"""

from collections.abc import Generator
from dataclasses import dataclass, field
from functools import partial

from pydantic import BaseModel

from triplebeam.answer import Agent, Answer, Step
from triplebeam.errors import BadInputError
from triplebeam.generate.language_model import LanguageModel
from triplebeam.generate.prompts import Template, load
from triplebeam.generate.reply_fields import Text
from triplebeam.methods.shared.accounted_step import taken_steps
from triplebeam.methods.shared.question_answering import Answerer, ReadAnswer, conclude
from triplebeam.methods.shared.sub_questions import Exchange, SubAnswerer, asked_before, fused, numbered_exchanges
from triplebeam.methods.shared.usable_replies import usable_reply
from triplebeam.ranking import Ranking
from triplebeam.retrieve.retriever import Retriever, for_question

_ANSWERED = "no follow-up question is needed"
_LAST_STEP = "the last step was reached"
_NO_FOLLOW_UP = "the model gave neither a follow-up question nor an answer"
_REPEATED = "the next follow-up question was asked before"


class _Reply(BaseModel):
    follow_up: Text
    answer: Text


@dataclass(frozen=True, kw_only=True)
class SelfAsk(Agent):
    """The agent over any retriever, or over none."""

    model: LanguageModel
    answerer: Answerer
    """Answers the question where the loop's own answer does not stand; without a retriever, the follow-ups too."""
    retriever: Retriever | None = None
    sub_answerer: SubAnswerer | None = None
    """Reads what the retriever finds; given with it, or neither is."""
    max_steps: int = 4
    retrieved: int = 10
    """Passages a step retrieves and reads."""
    answered_from: int = 5
    own_answer: bool = False
    """Let the loop's own answer stand, as in the paper, and read passages only where it has none."""
    stop_when_stuck: bool = True
    template: Template = field(default_factory=partial(load, "self_ask/follow_up"), repr=False)

    def __post_init__(self) -> None:
        if (self.retriever is None) != (self.sub_answerer is None):
            raise BadInputError("Self-Ask reads what its retriever finds: give it both retriever and sub_answerer.")

    def steps(self, question: str) -> Generator[Step, None, Answer]:
        """One follow-up question a step."""
        run = _Run(question, for_question(self.retriever) if self.retriever else None)
        yield from taken_steps(self._step, run)
        return conclude(
            self.answerer,
            question,
            run.steps,
            run.ending,
            best=self.answered_from,
            loop_text=run.answer,
            settled=ReadAnswer(run.answer) if run.answer and (self.own_answer or not self.retriever) else None,
        )

    def _step(self, run: "_Run") -> Step:
        if not run.steps:
            self._ask(run)
        query = run.follow_up or run.question
        ranking = run.retriever.retrieve(query, self.retrieved) if run.retriever else Ranking()
        run.rankings.append(ranking)
        exchange = Exchange(query)
        if not run.answer:
            exchange = self._sub_answer(query, ranking)
            run.exchanges.append(exchange)
            self._ask(run)
        self._decide(run)
        so_far = fused(run.rankings, run.exchanges)
        return Step(number=len(run.rankings), query=query, ranking=ranking, so_far=so_far, thought=exchange.answer)

    def _sub_answer(self, query: str, ranking: Ranking) -> Exchange:
        if self.sub_answerer:
            return self.sub_answerer.answer(query, ranking.ids)
        known = self.answerer.answer(query, [])
        # Where the model does not know, its sentence says what it would have to find out.
        return Exchange(query, known.sentence or known.text)

    def _ask(self, run: "_Run") -> None:
        """Is a follow-up question needed, and which; or what is the final answer?"""
        prompt = self.template.fill(question=run.question, exchanges=numbered_exchanges(run.exchanges))
        run.follow_up = ""
        reply = usable_reply(self.model, prompt, _Reply)
        if reply is None:
            return
        run.follow_up = reply.follow_up.strip()
        run.answer = "" if run.follow_up else reply.answer.strip()

    def _decide(self, run: "_Run") -> None:
        """Stop, and say why, or go on with the follow-up."""
        if run.answer:
            run.ending = _ANSWERED
        elif not run.follow_up:
            run.ending = _NO_FOLLOW_UP
        elif len(run.rankings) >= self.max_steps:
            run.ending = _LAST_STEP
        elif self.stop_when_stuck and asked_before(run.follow_up, run.exchanges):
            run.ending = _REPEATED


@dataclass(slots=True)
class _Run:
    """What one question has brought so far."""

    question: str
    retriever: Retriever | None
    follow_up: str = ""
    exchanges: list[Exchange] = field(default_factory=list)
    rankings: list[Ranking] = field(default_factory=list)
    steps: list[Step] = field(default_factory=list)
    answer: str = ""
    ending: str = ""
