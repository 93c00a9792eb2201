"""Chains of thought as data: asked for one or several times, voted on, and turned into an answer.

Neutral ground of the baselines that reason in whole paths: chain of thought, self-consistency, Verify-and-Edit and
ERA-CoT.
"""

import json
from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass

from pydantic import BaseModel

from triplebeam.generate.language_model import LanguageModel, Prompt
from triplebeam.generate.parse import Text
from triplebeam.generate.prompts import format_passages
from triplebeam.methods.shared.question_answering import ReadAnswer
from triplebeam.methods.shared.replies import request_samples
from triplebeam.passage import Passage
from triplebeam.text.names import entity_key, strip_articles
from triplebeam_research.baselines.exemplars import Exemplar, with_cue
from triplebeam_research.templates import load

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
