"""Verify-and-Edit (Zhao, Li, Joty, Qin & Bing, ACL 2023): a chain of thought that the model is unsure of is corrected.

1. Five paths are sampled at temperature 0.7, and vote (self-consistency). Where a majority agrees, that is the answer.
2. Else each sentence of the winning path is checked: the model writes a question that verifies it,
3. the retriever is asked that question,
4. the model answers it from what was found, and the answer takes the sentence's place.
5. The model answers once more, from the edited reasoning.

Followed to the letter: these steps; majority means half of the paths or more, rounded up; a verifying question is made
from the question and the one sentence, not from what was edited before it. From GE-Reasoning's comparison: six
exemplars, 2 passages per verifying question.

What differs: the paper gathers whole pages and keeps the three sentences of them nearest to the verifying question;
here the passages are shown as they are retrieved. Among the paths of the winning answer the authors' code takes the
most probable one, ours the first, since not every endpoint gives probabilities. Where the passages do not answer a
verifying question the sentence stays as it was; where the model gives no verifying question, the sentence itself is
searched for. Replies are JSON. The final ranking is the reciprocal rank fusion of all steps' lists.
"""

import json
from collections.abc import Generator, Sequence
from dataclasses import dataclass, field
from functools import partial

from triplebeam.answer import Answer, Step
from triplebeam.generate.accounting import account
from triplebeam.methods.shared.loop import Loop
from triplebeam.methods.shared.question_answering import ReadAnswer
from triplebeam.methods.shared.reading import RetrievingAgent
from triplebeam.methods.shared.replies import request_text
from triplebeam.text.sentences import sentence_spans
from triplebeam_research.baselines.chain_of_thought import (
    NO_ANSWER,
    Exemplar,
    load_exemplars,
    path_prompt,
    sample_and_vote,
)
from triplebeam_research.templates import load


@dataclass(frozen=True, kw_only=True)
class VerifyAndEdit(RetrievingAgent):
    """Checks its reasoning where its paths disagree. Where they agree nothing is retrieved: there are no steps."""

    paths: int = 5
    temperature: float = 0.7
    retrieved: int = 2
    """Passages that a verifying question is answered from."""
    seed: int | None = 0
    exemplars: Sequence[Exemplar] = field(default_factory=load_exemplars, repr=False)

    def steps(self, question: str) -> Generator[Step, None, Answer]:
        """Check one sentence per step."""
        loop = _Reasoning(question, self.retriever)
        with account() as loop.outside:
            prompt = path_prompt(question, None, self.exemplars)
            winner = sample_and_vote(  # step 1
                self.model, prompt, paths=self.paths, temperature=self.temperature, seed=self.seed
            )
        loop.ending = f"{winner.votes} of {self.paths} paths agreed" if winner.votes else NO_ANSWER
        reasoning = winner.path.sentence
        loop.sentences = [reasoning[start:end] for start, end in sentence_spans(reasoning)]
        if not loop.sentences or 2 * winner.votes >= self.paths:
            return loop.conclude(lambda: self._choose_answer(loop, winner.path))
        loop.ending = f"{winner.votes} of {self.paths} paths agreed, and the reasoning was checked"
        for place in range(len(loop.sentences)):
            yield loop.take(partial(self._step, loop, place))
        return loop.conclude(lambda: self._choose_answer(loop, self._answer_again(loop, winner.path.text)))

    def _step(self, loop: "_Reasoning", place: int) -> Step:
        """Run steps 2 to 4 for one sentence."""
        sentence = loop.sentences[place]
        prompt = load("verify_and_edit/verifying_question").fill(question=loop.question, sentence=sentence)
        query = request_text(self.model, prompt, "question") or sentence
        ranking = loop.retrieve(query, self.retrieved)
        prompt = load("verify_and_edit/edit").fill(passages=self._format_passages(ranking.ids), question=query)
        edited = loop.sentences[place] = request_text(self.model, prompt, "sentence") or sentence
        return Step(number=loop.number, query=query, ranking=ranking, so_far=loop.fuse_rankings(), thought=edited)

    def _answer_again(self, loop: "_Reasoning", before: str) -> ReadAnswer:
        """Step 5; where the model has no answer, the one from before counts."""
        examples = "\n\n".join(
            f"{exemplar.format_question(with_passages=False)}\nExample reasoning: {exemplar.reasoning}\nExample reply: "
            + json.dumps({"answer": exemplar.answer}, ensure_ascii=False)
            for exemplar in self.exemplars
        )
        reasoning = " ".join(loop.sentences)
        prompt = load("verify_and_edit/answer").fill(exemplars=examples, question=loop.question, reasoning=reasoning)
        return ReadAnswer(request_text(self.model, prompt, "answer") or before, reasoning, guessed=True)


@dataclass
class _Reasoning(Loop):
    """What checking one question's reasoning has brought so far."""

    sentences: list[str] = field(default_factory=list)
