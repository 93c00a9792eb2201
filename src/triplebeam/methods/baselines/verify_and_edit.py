"""Verify-and-Edit (Zhao, Li, Joty, Qin & Bing, ACL 2023): a chain of thought the model is unsure of is put right.

1. Five paths are sampled at temperature 0.7, and vote (self-consistency). Where a majority agrees, that is the answer.
2. Else each sentence of the winning path is checked: the model writes a question that verifies it,
3. the retriever is asked that question,
4. the model answers it from what was found, and the answer takes the sentence's place.
5. The model answers once more, from the edited reasoning.

Followed to the letter: these steps; majority means half of the paths or more, rounded up; a verifying question is made
from the question and the one sentence, not from what was edited before it. From GE-Reasoning's comparison: six
exemplars, 2 passages a verifying question.

What differs: the paper gathers whole pages and keeps the three sentences of them nearest to the verifying question;
here the passages are shown as they are retrieved. Among the paths of the winning answer the authors' code takes the
most probable one, ours the first, since not every endpoint gives probabilities. Where the passages do not answer a
verifying question the sentence stays as it was; where no verifying question can be had, the sentence itself is
searched for. Replies are JSON. The final ranking is the reciprocal rank fusion of all steps' lists.
"""

import json
from collections.abc import Generator, Sequence
from dataclasses import dataclass, field
from functools import partial

from pydantic import BaseModel

from triplebeam.answer import Agent, Answer, Step
from triplebeam.generate.accounting import Account, account
from triplebeam.generate.language_model import LanguageModel
from triplebeam.generate.prompts import load
from triplebeam.generate.reply_fields import Text
from triplebeam.ingest.sentences import sentence_spans
from triplebeam.methods.shared.accounted_step import accounted_step
from triplebeam.methods.shared.exemplars import Exemplar, load_exemplars
from triplebeam.methods.shared.prompt_text import numbered_passages
from triplebeam.methods.shared.reasoning_paths import (
    NO_ANSWER,
    Path,
    PathReply,
    Vote,
    path_prompt,
    reasoned_answer,
    vote,
)
from triplebeam.methods.shared.usable_replies import usable_reply, usable_samples
from triplebeam.passage import Passages
from triplebeam.ranking import Ranking
from triplebeam.retrieve.fuse import reciprocal_rank_fusion
from triplebeam.retrieve.retriever import Retriever


class _VerifyingQuestion(BaseModel):
    question: Text


class _Edited(BaseModel):
    sentence: Text


class _Final(BaseModel):
    answer: Text


@dataclass(frozen=True, kw_only=True)
class VerifyAndEdit(Agent):
    """Checks its reasoning where its paths disagree. Where they agree nothing is retrieved: there are no steps."""

    retriever: Retriever
    model: LanguageModel
    passages: Passages = field(repr=False)
    paths: int = 5
    temperature: float = 0.7
    retrieved: int = 2
    """Passages a verifying question is answered from."""
    seed: int | None = 0
    exemplars: Sequence[Exemplar] = field(default_factory=load_exemplars, repr=False)

    def steps(self, question: str) -> Generator[Step, None, Answer]:
        """Each sentence that is checked is a step."""
        with account() as spent:
            winner = self._winner(question)
        agreed = f"{winner.votes} of {self.paths} paths agreed"
        sentences = [winner.path.reasoning[start:end] for start, end in sentence_spans(winner.path.reasoning)]
        if not sentences or 2 * winner.votes >= self.paths:
            return reasoned_answer(question, winner.path, [], agreed if winner.votes else NO_ANSWER, spent)
        run = _Run(question, sentences)
        for place in range(len(sentences)):
            step = accounted_step(partial(self._step, run, place))
            run.steps.append(step)
            yield step
        with account() as last:
            answer = self._answer_again(run, winner.path.answer)
        both = Account(usage=spent.usage + last.usage, problems=spent.problems + last.problems)
        path = Path(" ".join(run.sentences), answer)
        return reasoned_answer(question, path, run.steps, f"{agreed}, and the reasoning was checked", both)

    def _winner(self, question: str) -> Vote:
        """Step 1."""
        replies = usable_samples(
            self.model,
            path_prompt(question, None, self.exemplars),
            PathReply,
            count=self.paths,
            temperature=self.temperature,
            seed=self.seed,
        )
        return vote([reply.path() for reply in replies])

    def _step(self, run: "_Run", place: int) -> Step:
        """Steps 2 to 4, for one sentence."""
        sentence = run.sentences[place]
        query = self._verifying_question(run.question, sentence) or sentence
        ranking = self.retriever.retrieve(query, self.retrieved)
        run.rankings.append(ranking)
        run.sentences[place] = self._edited(query, ranking) or sentence
        return Step(
            number=place + 1,
            query=query,
            ranking=ranking,
            so_far=reciprocal_rank_fusion(run.rankings),
            thought=run.sentences[place],
        )

    def _verifying_question(self, question: str, sentence: str) -> str:
        prompt = load("verify_and_edit/verifying_question").fill(question=question, sentence=sentence)
        reply = usable_reply(self.model, prompt, _VerifyingQuestion)
        return reply.question.strip() if reply else ""

    def _edited(self, query: str, ranking: Ranking) -> str:
        shown = numbered_passages([self.passages[passage_id] for passage_id in ranking.ids])
        prompt = load("verify_and_edit/edit").fill(passages=shown, question=query)
        reply = usable_reply(self.model, prompt, _Edited)
        return reply.sentence.strip() if reply else ""

    def _answer_again(self, run: "_Run", before: str) -> str:
        """Step 5; where the model has no answer, the one from before stands."""
        examples = "\n\n".join(
            f"{exemplar.asked(with_passages=False)}\nExample reasoning: {exemplar.reasoning}\nExample reply: "
            + json.dumps({"answer": exemplar.answer}, ensure_ascii=False)
            for exemplar in self.exemplars
        )
        prompt = load("verify_and_edit/answer").fill(
            exemplars=examples, question=run.question, reasoning=" ".join(run.sentences)
        )
        reply = usable_reply(self.model, prompt, _Final)
        return (reply.answer.strip() if reply else "") or before


@dataclass(slots=True)
class _Run:
    """What checking one question's reasoning has brought so far."""

    question: str
    sentences: list[str]
    rankings: list[Ranking] = field(default_factory=list)
    steps: list[Step] = field(default_factory=list)
