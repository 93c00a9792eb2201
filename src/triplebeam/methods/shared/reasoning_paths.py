"""Chains of thought as data: asked for one or several times, voted on, and turned into an answer.

Neutral ground of the baselines that reason in whole paths: chain of thought, self-consistency, Verify-and-Edit and
ERA-CoT.
"""

import json
from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass

from pydantic import BaseModel

from triplebeam.answer import Answer, Step
from triplebeam.generate.accounting import Account
from triplebeam.generate.language_model import Prompt
from triplebeam.generate.prompts import load
from triplebeam.generate.reply_fields import Text
from triplebeam.methods.shared.exemplars import Exemplar, with_cue
from triplebeam.methods.shared.prompt_text import numbered_passages
from triplebeam.passage import Passage
from triplebeam.ranking import Ranking
from triplebeam.triple import entity_key

#: How a single path ends.
CAME_TO_AN_ANSWER = "the reasoning came to an answer"
NO_ANSWER = "the reasoning came to no answer"
_ARTICLES = ("a", "an", "the")


@dataclass(frozen=True, slots=True)
class Path:
    """One chain of thought and the answer it comes to; no words where it comes to none."""

    reasoning: str = ""
    answer: str = ""


@dataclass(frozen=True, slots=True)
class Vote:
    """The path that speaks for the answer most paths come to, and how many they are."""

    path: Path
    votes: int


class PathReply(BaseModel):
    """A path as a model writes it: the reasoning first, so that the answer follows from it."""

    reasoning: Text
    answer: Text

    def path(self) -> Path:
        """Without the white space around it; an answer of punctuation alone is none."""
        answer = self.answer.strip()
        return Path(self.reasoning.strip(), answer if vote_key(answer) else "")


def path_prompt(
    question: str, passages: Sequence[Passage] | None, exemplars: Sequence[Exemplar], cue: str = ""
) -> Prompt:
    """The few-shot prompt: with passages, though none were found, or closed-book where ``passages`` is None."""
    examples = worked_examples(exemplars, with_passages=passages is not None, cue=cue)
    asked = with_cue(question, cue)
    if passages is None:
        return load("chain_of_thought/without_passages").fill(exemplars=examples, question=asked)
    shown = numbered_passages(passages)
    return load("chain_of_thought/with_passages").fill(exemplars=examples, passages=shown, question=asked)


def worked_examples(exemplars: Sequence[Exemplar], *, with_passages: bool, cue: str = "") -> str:
    """The exemplars with replies as `PathReply` reads them."""
    return "\n\n".join(
        f"{exemplar.asked(with_passages=with_passages, cue=cue)}\nExample reply: "
        + json.dumps({"reasoning": exemplar.reasoning, "answer": exemplar.answer}, ensure_ascii=False)
        for exemplar in exemplars
    )


def vote(paths: Sequence[Path]) -> Vote:
    """The majority by normal form. Of answers with equally many votes, the one that was given first wins.

    Paths without an answer do not vote. The winner is written as the first path that gave it wrote it; where no path
    gave any, the first path stands, without votes.
    """
    counted = Counter(vote_key(path.answer) for path in paths if path.answer)
    if not counted:
        return Vote(next(iter(paths), Path()), 0)
    # Counter keeps the order of first sight, and max takes the first of equals.
    winner = max(counted, key=counted.__getitem__)
    return Vote(next(path for path in paths if vote_key(path.answer) == winner), counted[winner])


def vote_key(answer: str) -> str:
    """The normal form of an answer: an entity's, and without articles unless nothing else is left."""
    key = entity_key(answer)
    if not any(character.isalnum() for character in key):
        return ""
    return " ".join(word for word in key.split() if word not in _ARTICLES) or key


def reasoned_answer(question: str, path: Path, steps: Sequence[Step], ending: str, spent: Account) -> Answer:
    """A path as the answer of an agent, whose last calls, after the last step, are on ``spent``.

    No facts are read as triples with their places, so there is no evidence: it is never marked as supported.
    """
    return Answer(
        question=question,
        text=path.answer,
        sentence=path.reasoning,
        ranking=steps[-1].so_far if steps else Ranking(),
        steps=tuple(steps),
        usage=sum((step.usage for step in steps), spent.usage),
        ending="; ".join([ending, *spent.problems]),
    )
