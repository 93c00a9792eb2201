"""Chain of thought, with and without one retrieval, zero-plus-few-shot, and self-consistency: one idea, four rows.

- **Chain of thought** (Wei, Wang, Schuurmans, Bosma, Ichter, Xia, Chi, Le & Zhou, NeurIPS 2022): worked examples with
  their reasoning, then the question; the model reasons before it answers. "Chain-of-Thoughts" and "No retrieval" of
  GE-Reasoning's Tables 1 and 4.
- **One retrieval**: the same with the passages found for the question itself, before the question.
- **Zero-plus-few-shot** (Kojima, Gu, Reid, Matsuo & Iwasawa, NeurIPS 2022): the same with "Let's think step by step."
  before the reasoning: ``step_by_step``.
- **Self-consistency** (Wang, Wei, Schuurmans, Le, Chi, Narang, Chowdhery & Zhou, ICLR 2023): several paths sampled at a
  temperature above 0, and the answer that most of them come to: ``paths=5, temperature=0.7`` are GE-Reasoning's
  (Wang et al.: 40 paths). Closed-book in its Table 4; over a retriever all paths read the same passages.

Followed to the letter: the above, six exemplars, 2 passages, greedy decoding for a single path, an unweighted vote.

What differs: the exemplars are our own, one set for all datasets. The reply is JSON with the reasoning first, so
Kojima's cue comes after the question, in the exemplars too, not at the head of the reply, and their second prompt,
which extracts the answer, is not needed. Answers are equal by a normal form (case, punctuation, articles); ties go to
the answer that was given first, and a path without an answer has no vote. The model may have no answer at all; where
an ``answerer`` is given, as in the papers' experiments, that one answers then.
"""

from collections.abc import Generator, Sequence
from dataclasses import dataclass, field
from functools import partial

from triplebeam.answer import Answer, Step
from triplebeam.generate.language_model import Prompt
from triplebeam.methods.shared.loop import Loop
from triplebeam.methods.shared.question_answering import ReadAnswer
from triplebeam.methods.shared.reading import ReadingAgent
from triplebeam.retrieve.retriever import Retriever
from triplebeam_research.baselines.reasoning_paths import (
    CAME_TO_AN_ANSWER,
    NO_ANSWER,
    Exemplar,
    Vote,
    load_exemplars,
    path_prompt,
    sample_and_vote,
)

STEP_BY_STEP = "Let's think step by step."


@dataclass(frozen=True, kw_only=True)
class ChainOfThought(ReadingAgent):
    """Reasons from what the model knows, or from the passages that one retrieval finds."""

    retrieved: int = 2
    step_by_step: bool = False
    paths: int = 1
    temperature: float = 0.0
    """Above 0 for several paths, which would be one and the same otherwise."""
    seed: int | None = 0
    exemplars: Sequence[Exemplar] = field(default_factory=load_exemplars, repr=False)

    def steps(self, question: str) -> Generator[Step, None, Answer]:
        """Retrieve in the one step, where there is a retrieval."""
        loop, read = Loop(question), None
        if self.retriever is not None:
            step = loop.take(partial(_retrieve, self.retriever, question, self.retrieved))
            yield step
            read = [self._passages[passage_id] for passage_id in step.ranking.ids]
        prompt = path_prompt(question, read, self.exemplars, STEP_BY_STEP if self.step_by_step else "")
        return loop.conclude(lambda: self._choose_answer(loop, self._reason(loop, prompt)))

    def _reason(self, loop: Loop, prompt: Prompt) -> ReadAnswer:
        winner = sample_and_vote(self.model, prompt, paths=self.paths, temperature=self.temperature, seed=self.seed)
        loop.ending = self._describe_ending(winner)
        return winner.path

    def _describe_ending(self, winner: Vote) -> str:
        if not winner.votes:
            return NO_ANSWER
        return CAME_TO_AN_ANSWER if self.paths == 1 else f"{winner.votes} of {self.paths} paths came to this answer"


def _retrieve(retriever: Retriever, question: str, k: int) -> Step:
    ranking = retriever.retrieve(question, k)
    return Step(number=1, query=question, ranking=ranking, so_far=ranking)
