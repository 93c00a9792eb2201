"""IRCoT (Trivedi, Balasubramanian, Khot & Sabharwal, ACL 2023): retrieval interleaved with a chain of thought.

A step: retrieve for the current query, show the model the question, the passages collected so far and its sentences so
far, and take its next sentence. The first query is the question, every later one is the sentence before it. A sentence
that says "So the answer is: ..." ends the loop, as does the last step.

Followed to the letter: the above; only the first sentence of a reply counts and what runs ahead of the evidence is
discarded; at most 15 passages are collected. From the GeAR paper's comparison: 10 passages a step, at most 4 steps
(IRCoT: 2 to 8 passages, 8 steps), an answer read from the 5 best passages.

What differs: the paper collects passages in order of arrival, since its reader sees them all. As a ranking that would
leave the best 10 to the first step whatever the others find, and 10 a step would fill the collection before the third
step is seen. So the collection is the best 15 of the reciprocal rank fusion of all steps' lists. (HippoRAG's IRCoT,
which GeAR compares with, keeps each passage's best score; scores of different queries need not compare, ranks do.) The
prompt has two worked examples for all datasets instead of about fifteen for each, and the reply is JSON. The paper's
reader starts afresh from the passages, and so does ours, the `QuestionAnswerer` that all agents share; where it finds
nothing, the answer of the reasoning stands. Ours beyond the paper, behind ``stop_when_stuck``: a sentence that repeats
an earlier query ends the loop, as it would find nothing new.
"""

import re
from collections.abc import Generator
from dataclasses import dataclass, field
from functools import partial

from pydantic import BaseModel

from triplebeam.answer import Agent, Answer, Step
from triplebeam.generate.language_model import LanguageModel
from triplebeam.generate.prompts import Template, load
from triplebeam.generate.reply_fields import Text
from triplebeam.ingest.sentences import sentence_spans
from triplebeam.methods.shared.accounted_step import taken_steps
from triplebeam.methods.shared.prompt_text import numbered_passages
from triplebeam.methods.shared.question_answering import QuestionAnswerer, conclude
from triplebeam.methods.shared.usable_replies import usable_reply
from triplebeam.passage import Passages
from triplebeam.ranking import Ranking
from triplebeam.retrieve.fuse import reciprocal_rank_fusion
from triplebeam.retrieve.retriever import Retriever, for_question
from triplebeam.triple import entity_key

#: Some models leave the colon out; without it only "So the answer is" concludes, not "the answer is not known".
_CONCLUSION = re.compile(r"(?:\bthe answer is\s*:|\bso the answer is\s)(?P<answer>.*)", re.IGNORECASE | re.DOTALL)
_LABEL = re.compile(r"^\s*(?:next )?sentence\s*:\s*", re.IGNORECASE)

_ANSWERED = "the reasoning came to an answer"
_LAST_STEP = "the last step was reached"
_NO_SENTENCE = "the model gave no further sentence"
_REPEATED = "the next sentence repeats an earlier query"


class _Reply(BaseModel):
    sentence: Text


@dataclass(frozen=True, kw_only=True)
class IRCoT(Agent):
    """The agent over any retriever; the paper's is BM25."""

    retriever: Retriever
    model: LanguageModel
    answerer: QuestionAnswerer
    passages: Passages = field(repr=False)
    max_steps: int = 4
    retrieved: int = 10
    """Passages a step retrieves."""
    collected: int = 15
    """Passages that are kept over all steps: the model reads them, and they are the final ranking."""
    answered_from: int = 5
    stop_when_stuck: bool = True
    template: Template = field(default_factory=partial(load, "ircot"), repr=False)

    def steps(self, question: str) -> Generator[Step, None, Answer]:
        """Retrieve and reason in turn."""
        run = _Run(question, [question], for_question(self.retriever))
        yield from taken_steps(self._step, run)
        return conclude(self.answerer, question, run.steps, run.ending, best=self.answered_from, loop_text=run.answer)

    def _step(self, run: "_Run") -> Step:
        query, number = run.queries[-1], len(run.steps) + 1
        ranking = run.retriever.retrieve(query, self.retrieved)
        run.rankings.append(ranking)
        run.collection = reciprocal_rank_fusion(run.rankings).top(self.collected)
        thought = self._next_sentence(run)
        self._decide(run, thought)
        return Step(number=number, query=query, ranking=ranking, so_far=run.collection, thought=thought)

    def _next_sentence(self, run: "_Run") -> str:
        """One call; nothing where the reply cannot be used."""
        prompt = self.template.fill(
            passages=numbered_passages([self.passages[passage_id] for passage_id in run.collection.ids]),
            question=run.question,
            thoughts=" ".join(run.queries[1:]) or "(none)",  # every query but the first is a sentence of the model's
        )
        reply = usable_reply(self.model, prompt, _Reply)
        if reply is None:
            return ""
        said = _LABEL.sub("", reply.sentence)
        return next((said[start:end] for start, end in sentence_spans(said)), "")

    def _decide(self, run: "_Run", thought: str) -> None:
        """Stop, and say why, or make the sentence the next query."""
        conclusion = _CONCLUSION.search(thought)
        if conclusion:
            run.answer = conclusion["answer"].strip().rstrip(".")
        if run.answer:
            run.ending = _ANSWERED
        elif conclusion or not thought:
            run.ending = _NO_SENTENCE
        elif len(run.rankings) >= self.max_steps:
            run.ending = _LAST_STEP
        elif self.stop_when_stuck and entity_key(thought) in map(entity_key, run.queries):
            run.ending = _REPEATED
        else:
            run.queries.append(thought)


@dataclass(slots=True)
class _Run:
    """What one question has brought so far."""

    question: str
    queries: list[str]
    retriever: Retriever
    rankings: list[Ranking] = field(default_factory=list)
    collection: Ranking = field(default_factory=Ranking)
    steps: list[Step] = field(default_factory=list)
    answer: str = ""
    ending: str = ""
