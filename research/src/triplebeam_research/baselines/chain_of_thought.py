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

What differs: the exemplars are our own, one set for all datasets, with and without passages
(``prompts/chain_of_thought/exemplars.toml``): GE-Reasoning's are not ours to ship. The reply is JSON with the
reasoning first, so Kojima's cue comes after the question, in the exemplars too, not at the head of the reply, and their
second prompt, which extracts the answer, is not needed. Answers are equal by a normal form (case, punctuation,
articles); ties go to the answer that was given first, and a path without an answer has no vote. The model may have no
answer at all; where an ``answerer`` is given, as in the papers' experiments, that one answers then.

Paths are data here, asked for one or several times and voted on: Verify-and-Edit, FLARE and ERA-CoT use them, too.
"""

import json
import tomllib
from collections import Counter
from collections.abc import Generator, Sequence
from dataclasses import dataclass, field
from functools import cache, partial
from importlib import resources

from pydantic import BaseModel, ConfigDict, Field

from triplebeam.answer import Answer, Step
from triplebeam.generate.language_model import LanguageModel, Prompt
from triplebeam.generate.parse import Text
from triplebeam.generate.prompts import format_passages
from triplebeam.methods.shared.loop import Loop
from triplebeam.methods.shared.question_answering import ReadAnswer
from triplebeam.methods.shared.reading import ReadingAgent
from triplebeam.methods.shared.replies import request_samples
from triplebeam.passage import Passage
from triplebeam.retrieve.retriever import Retriever
from triplebeam.text.names import entity_key, strip_articles
from triplebeam_research.templates import load


class _Strict(BaseModel):
    model_config = ConfigDict(frozen=True, extra="forbid")


class _ExemplarPassage(_Strict):
    title: str
    text: str


class Exemplar(_Strict):
    """A question, the sentences that lead to its answer, and what one search for it might find."""

    question: str
    reasoning: str
    answer: str
    passage: tuple[_ExemplarPassage, ...] = Field(min_length=1)

    def format_question(self, *, with_passages: bool, cue: str = "") -> str:
        """Format the example as it is asked, with a cue after the question if any; its reply is the prompt's own."""
        passages = [Passage(str(place), given.text, given.title) for place, given in enumerate(self.passage)]
        shown = f"Example passages:\n{format_passages(passages)}\n" if with_passages else ""
        return f"{shown}Example question: {with_cue(self.question, cue)}"


class _File(_Strict):
    exemplar: tuple[Exemplar, ...]


@cache
def load_exemplars() -> Sequence[Exemplar]:
    """Load the six exemplars that come with the package."""
    file = resources.files("triplebeam_research").joinpath("prompts", "chain_of_thought", "exemplars.toml")
    return _File.model_validate(tomllib.loads(file.read_text(encoding="utf-8"))).exemplar


def with_cue(question: str, cue: str) -> str:
    """Return the question, followed by what the model is asked to do before it answers."""
    return f"{question}\n{cue}" if cue else question


#: How a single path ends.
CAME_TO_AN_ANSWER = "the reasoning came to an answer"
NO_ANSWER = "the reasoning came to no answer"


@dataclass(frozen=True, slots=True)
class Vote:
    """The path that speaks for the answer most paths come to, and how many they are."""

    path: ReadAnswer
    votes: int


class PathReply(BaseModel):
    """A path as a model writes it: the reasoning first, so that the answer follows from it.

    As an answer it has its reasoning for the sentence, and no evidence: it is always marked as a guess.
    """

    reasoning: Text
    answer: Text

    def path(self) -> ReadAnswer:
        """Return the path without the white space around it; an answer of punctuation alone is none."""
        answer = self.answer.strip()
        return ReadAnswer(answer if vote_key(answer) else "", self.reasoning.strip(), guessed=True)


def path_prompt(
    question: str, passages: Sequence[Passage] | None, exemplars: Sequence[Exemplar], cue: str = ""
) -> Prompt:
    """Build the few-shot prompt: with passages, though none were found, or closed-book where ``passages`` is None."""
    examples = format_exemplars(exemplars, with_passages=passages is not None, cue=cue)
    asked = with_cue(question, cue)
    if passages is None:
        return load("chain_of_thought/without_passages").fill(exemplars=examples, question=asked)
    shown = format_passages(passages)
    return load("chain_of_thought/with_passages").fill(exemplars=examples, passages=shown, question=asked)


def format_exemplars(exemplars: Sequence[Exemplar], *, with_passages: bool, cue: str = "") -> str:
    """Format the exemplars with replies as `PathReply` reads them."""
    return "\n\n".join(
        f"{exemplar.format_question(with_passages=with_passages, cue=cue)}\nExample reply: "
        + json.dumps({"reasoning": exemplar.reasoning, "answer": exemplar.answer}, ensure_ascii=False)
        for exemplar in exemplars
    )


def sample_and_vote(model: LanguageModel, prompt: Prompt, *, paths: int, temperature: float, seed: int | None) -> Vote:
    """Sample several paths for one prompt, and vote."""
    replies = request_samples(model, prompt, PathReply, count=paths, temperature=temperature, seed=seed)
    return vote([reply.path() for reply in replies])


def vote(paths: Sequence[ReadAnswer]) -> Vote:
    """Choose the majority by normal form. Of answers with equally many votes, the one that was given first wins.

    Paths without an answer do not vote. The winner is written as the first path that gave it wrote it; where no path
    gave any, the first path wins, without votes.
    """
    counted = Counter(vote_key(path.text) for path in paths if path.text)
    if not counted:
        return Vote(next(iter(paths), ReadAnswer()), 0)
    # Counter keeps the order of first sight, and max takes the first of equals.
    winner = max(counted, key=counted.__getitem__)
    return Vote(next(path for path in paths if vote_key(path.text) == winner), counted[winner])


def vote_key(answer: str) -> str:
    """Return the normal form of an answer: an entity's, and without articles unless nothing else is left."""
    key = entity_key(answer)
    if not any(character.isalnum() for character in key):
        return ""
    return strip_articles(key) or key


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
