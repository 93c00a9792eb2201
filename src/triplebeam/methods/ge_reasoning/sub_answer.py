"""GE-Reasoning, Eq. 3: a sub-answer with its rationale, at temperature 0.6, and how sure the model is of it.

Followed to the letter: the model sees the question, the sub-questions and sub-answers that were kept, and what was
refined from passages where any were retrieved. Line 12 as printed leaves the history out; here it stays, or the model
would know less after a search than before it. Ours: the reply is JSON, with the rationale as a sentence before the
answer, and names the facts that it rests on.
"""

import re
from collections.abc import Sequence
from dataclasses import dataclass, field, replace
from functools import partial
from typing import Annotated, NamedTuple

from pydantic import AfterValidator, BaseModel, BeforeValidator

from triplebeam.generate.language_model import LanguageModel
from triplebeam.generate.parse import Text
from triplebeam.generate.prompts import Template, load
from triplebeam.methods.ge_reasoning.confidence import Confidence, Thresholds, agreement, find_smallest_probability
from triplebeam.methods.shared.replies import request_replies

_PREFACE = re.compile(r"^(so )?(the )?answer( is)?\s*:\s*", re.IGNORECASE)


class Pair(NamedTuple):
    """A sub-question with the sub-answer that was kept: q and r of the paper."""

    question: str
    sentence: str
    answer: str


def _numbers_in(value: object) -> list[int]:
    """Parse whatever numbers a model wrote: a side note in a bad form is not worth a correction."""
    return [int(digits) for digits in re.findall(r"\b\d{1,6}\b", str(value))]


def tidy(text: str) -> str:
    """Put a text on one line; an answer without the words that some models begin it with."""
    return _PREFACE.sub("", " ".join(text.split()))


class _Reply(BaseModel):
    sentence: Text
    answer: Annotated[Text, AfterValidator(tidy)]
    used: Annotated[list[int], BeforeValidator(_numbers_in)]


@dataclass(frozen=True, slots=True)
class SubAnswer:
    """r of the paper: the rationale, the answer alone, and the numbers of the facts it rests on."""

    sentence: str
    answer: str
    used: tuple[int, ...] = ()


@dataclass(frozen=True, kw_only=True)
class SubAnswers:
    """SubanswerGenerate and Confidence of Algorithm 1."""

    model: LanguageModel
    by_probability: Thresholds
    by_agreement: Thresholds
    samples: int = 5
    """Samples of one sub-answer where the endpoint gives no log-probabilities."""
    template: Template = field(default_factory=partial(load, "ge_reasoning/sub_answer"), repr=False)

    def answer(
        self, question: str, pairs: Sequence[Pair], knowledge: str, sub_question: str, attempt: int
    ) -> tuple[SubAnswer, Confidence]:
        """Call the model once given log-probabilities, else ``samples`` times. A retry draws other samples."""
        prompt = self.template.fill(
            question=question, pairs=format_pairs(pairs), knowledge=knowledge, sub_question=sub_question
        )
        prompts = [
            replace(prompt, sample=attempt * self.samples + number, log_probabilities=True)
            for number in range(self.samples)
        ]
        [first] = request_replies(self.model, prompts[:1], _Reply)
        if first and first.log_probabilities:
            probability = find_smallest_probability(first.log_probabilities, first.value.answer)
            confidence = Confidence(probability, "smallest token probability", self.by_probability)
            return _sub_answer(first.value), confidence
        others = request_replies(self.model, prompts[1:], _Reply)
        # A reply that could not be used agrees with nothing.
        nothing = _Reply(sentence="", answer="", used=[])
        replies = [reply.value if reply else nothing for reply in [first, *others]]
        best, share = agreement([reply.answer for reply in replies])
        confidence = Confidence(share, f"agreement of {len(replies)} samples", self.by_agreement)
        return _sub_answer(replies[best]), confidence


def _sub_answer(reply: _Reply) -> SubAnswer:
    return SubAnswer(" ".join(reply.sentence.split()), reply.answer, tuple(dict.fromkeys(reply.used)))


def format_pairs(pairs: Sequence[Pair]) -> str:
    """Format the sub-questions and sub-answers so far, under their numbers."""
    return (
        "\n".join(
            f"({number}) {pair.question}\n{' '.join(filter(None, [pair.sentence, f'Answer: {pair.answer}']))}"
            for number, pair in enumerate(pairs, 1)
        )
        or "(none)"
    )
