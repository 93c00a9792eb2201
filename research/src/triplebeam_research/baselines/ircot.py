"""IRCoT (Trivedi, Balasubramanian, Khot & Sabharwal, ACL 2023): retrieval interleaved with a chain of thought.

A step: retrieve for the current query, show the model the question, the passages collected so far and its sentences so
far, and take its next sentence. The first query is the question, every later one is the sentence before it. A sentence
that says "So the answer is: ..." ends the loop, as does the last step.

Followed to the letter: the above; only the first sentence of a reply counts and what runs ahead of the evidence is
discarded; at most 15 passages are collected. From the GeAR paper's comparison: 10 passages per step, at most 4 steps
(IRCoT: 2 to 8 passages, 8 steps), an answer read from the 5 best passages.

What differs: the paper collects passages in order of arrival, since its reader sees them all. As a ranking that would
leave the best 10 to the first step whatever the others find, and 10 per step would fill the collection before the third
step is seen. So the collection is the best 15 of the reciprocal rank fusion of all steps' lists. (HippoRAG's IRCoT,
which GeAR compares with, keeps each passage's best score; scores of different queries need not compare, ranks do.) The
prompt has two worked examples for all datasets instead of about fifteen for each, and the reply is JSON. The paper's
reader starts again from the passages, and so does ours, the `QuestionAnswerer` that all agents share; where it finds
nothing, the answer of the reasoning is kept.
"""

import re
from collections.abc import Generator
from dataclasses import dataclass, field
from functools import partial

from triplebeam.answer import Answer, Step
from triplebeam.methods.shared.loop import LAST_STEP, Loop
from triplebeam.methods.shared.reading import AnsweringAgent
from triplebeam.methods.shared.replies import request_text
from triplebeam.ranking import Ranking
from triplebeam.text.sentences import sentence_spans
from triplebeam_research.templates import load

#: Some models leave the colon out; without it only "So the answer is" concludes, not "the answer is not known".
_CONCLUSION = re.compile(r"(?:\bthe answer is\s*:|\bso the answer is\s)(?P<answer>.*)", re.IGNORECASE | re.DOTALL)
_LABEL = re.compile(r"^\s*(?:next )?sentence\s*:\s*", re.IGNORECASE)

_ANSWERED = "the reasoning came to an answer"
_NO_SENTENCE = "the model gave no further sentence"


@dataclass(frozen=True, kw_only=True)
class IRCoT(AnsweringAgent):
    """The agent over any retriever; the paper's is BM25."""

    max_steps: int = 4
    retrieved: int = 10
    """Passages that a step retrieves."""
    collected: int = 15
    """Passages that are kept over all steps: the model reads them, and they are the final ranking."""

    def steps(self, question: str) -> Generator[Step, None, Answer]:
        """Retrieve and reason in turn."""
        loop = _Thoughts(question, self.retriever, queries=[question])
        yield from loop.take_all(partial(self._step, loop))
        return self._conclude(loop)

    def _step(self, loop: "_Thoughts") -> Step:
        query = loop.queries[-1]
        ranking = loop.retrieve(query, self.retrieved)
        collection = loop.fuse_rankings().top(self.collected)
        thought = self._write_sentence(loop, collection)
        self._decide(loop, thought)
        return Step(number=loop.number, query=query, ranking=ranking, so_far=collection, thought=thought)

    def _write_sentence(self, loop: "_Thoughts", collection: Ranking) -> str:
        """Call the model once; nothing where the reply cannot be used."""
        prompt = load("published/ircot").fill(
            passages=self._format_passages(collection.ids),
            question=loop.question,
            thoughts=" ".join(loop.queries[1:]) or "(none)",  # every query but the first is a sentence of the model's
            last="",
        )
        return _take_first_sentence(request_text(self.model, prompt, "sentence"))

    def _decide(self, loop: "_Thoughts", thought: str) -> None:
        """Stop, and say why, or make the sentence the next query."""
        conclusion = _CONCLUSION.search(thought)
        if conclusion:
            loop.answer = conclusion["answer"].strip().rstrip(".")
        if loop.answer:
            loop.ending = _ANSWERED
        elif conclusion or not thought:
            loop.ending = _NO_SENTENCE
        elif loop.number >= self.max_steps:
            loop.ending = LAST_STEP
        else:
            loop.queries.append(thought)


def _take_first_sentence(reply: str) -> str:
    said = _LABEL.sub("", reply.strip())
    return next((said[start:end] for start, end in sentence_spans(said)), "")


@dataclass
class _Thoughts(Loop):
    """What one question has brought so far."""

    queries: list[str] = field(default_factory=list)
