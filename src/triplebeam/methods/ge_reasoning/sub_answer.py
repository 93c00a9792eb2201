"""GE-Reasoning, Eq. 2 and 3, section 3.4 and the confidence of Algorithm 1: a sub-question, its facts and its answer.

Followed to the letter: with the graph the model sees for a sub-question the triplet with one open variable and nothing
else (Eq. 2; Table 2 has one without a graph). For a sub-answer with its rationale, at temperature 0.6 (Eq. 3), it sees
the question, the sub-questions and sub-answers that were kept, and what was refined from passages where any were
retrieved. Passages are refined to the triplets that bear on a sub-question (section 3.4): triplets are extracted from
each passage by itself, then all of them are filtered. The switches are the paper's ablation and our option: without
``filtering`` all triplets are kept, with ``triples`` those that the index holds of the passages are taken, which saves
one call per passage.

Line 12 as printed leaves the history out; here it stays, or the model would know less after a search than before it.
The paper gives neither the formula of the confidence nor the thresholds (lines 9 and 14) and points to FLARE, whose
measure is ours: the smallest probability among the tokens of the answer, taken where the answer is first written, since
a name that is repeated from the sentence before it is always sure. Where an endpoint gives no log-probabilities, it is
the share of several samples that agree. The two are different scales, so each has thresholds of its own.

Ours: replies are JSON; a sub-answer has its rationale as a sentence before the answer, and names the facts that it
rests on; triplets are chosen by number; a reply that cannot be used is noted, and the words of the triplet take the
sub-question's place.
"""

import json
import math
import re
from collections import Counter
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field, replace
from functools import partial
from typing import Annotated, NamedTuple

from pydantic import AfterValidator, BaseModel, BeforeValidator

from triplebeam.generate.language_model import LanguageModel, TokenLogProbability
from triplebeam.generate.parse import Text, TripleRow
from triplebeam.generate.prompts import Template, load
from triplebeam.index.source import TripleStore
from triplebeam.methods.ge_reasoning.question_graph import QuestionTriplet
from triplebeam.methods.shared.facts import Fact
from triplebeam.methods.shared.replies import LLMTripleFilter, filter_triples, request_replies, request_text
from triplebeam.passage import Passages
from triplebeam.support import find_support
from triplebeam.text.names import entity_key, strip_article


@dataclass(frozen=True, slots=True)
class Thresholds:
    """k1: below it, passages are retrieved. k2: below it, even so, the sub-answer is dropped."""

    retrieve: float
    keep: float


@dataclass(frozen=True, slots=True)
class Confidence:
    """A number from 0 to 1, how it came about, in words, and the thresholds it is compared with."""

    value: float
    measure: str
    thresholds: Thresholds

    def __str__(self) -> str:
        return f"{self.measure} {self.value:.2f}"

    @property
    def sure(self) -> bool:
        """Line 9: nothing has to be retrieved."""
        return self.value >= self.thresholds.retrieve

    @property
    def enough(self) -> bool:
        """Line 14: the sub-answer is kept."""
        return self.value >= self.thresholds.keep


def find_smallest_probability(tokens: Sequence[TokenLogProbability], answer: str) -> float:
    """Return the smallest probability among the tokens in which the answer is first written; 0 where there is no
    answer.

    An answer that is not found word for word (the reply was damaged and repaired) is judged by all tokens.
    """
    if not answer.strip():
        return 0.0
    start, end = _locate_answer("".join(token.token for token in tokens), answer)
    smallest, position = 0.0, 0
    for token in tokens:
        if position < end and position + len(token.token) > start:
            smallest = min(smallest, token.log_probability)
        position += len(token.token)
    return math.exp(smallest)


def _locate_answer(reply: str, answer: str) -> tuple[int, int]:
    for written in (json.dumps(answer, ensure_ascii=False)[1:-1], json.dumps(answer)[1:-1]):
        found = re.search(rf"(?<!\w){re.escape(written)}(?!\w)", reply, re.IGNORECASE)
        if found:
            return found.span()
    return 0, len(reply)


def agreement(answers: Sequence[str]) -> tuple[int, float]:
    """Return which of several samples the others agree with most, and the share that does; 0 where that is no answer.

    Answers are one under the normal form of names, without an article; of those equally common, the first counts.
    """
    keys = [strip_article(entity_key(answer)) for answer in answers]
    counts = Counter(keys)
    best = max(range(len(keys)), key=lambda number: (counts[keys[number]], -number))
    return best, counts[keys[best]] / len(keys) if keys[best] else 0.0


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


class _SubAnswerReply(BaseModel):
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
        [first] = request_replies(self.model, prompts[:1], _SubAnswerReply)
        if first and first.log_probabilities:
            probability = find_smallest_probability(first.log_probabilities, first.value.answer)
            confidence = Confidence(probability, "smallest token probability", self.by_probability)
            return _sub_answer(first.value), confidence
        others = request_replies(self.model, prompts[1:], _SubAnswerReply)
        # A reply that could not be used agrees with nothing.
        nothing = _SubAnswerReply(sentence="", answer="", used=[])
        replies = [reply.value if reply else nothing for reply in [first, *others]]
        best, share = agreement([reply.answer for reply in replies])
        confidence = Confidence(share, f"agreement of {len(replies)} samples", self.by_agreement)
        return _sub_answer(replies[best]), confidence


def _sub_answer(reply: _SubAnswerReply) -> SubAnswer:
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


@dataclass(frozen=True, kw_only=True)
class SubQuestions:
    """SubquestionGenerate of Algorithm 1."""

    model: LanguageModel
    guided: Template = field(default_factory=partial(load, "ge_reasoning/sub_question"), repr=False)
    unguided: Template = field(default_factory=partial(load, "ge_reasoning/next_sub_question"), repr=False)

    def from_triplet(self, triplet: QuestionTriplet) -> str:
        """Eq. 2: what fills the triplet's open variable."""
        prompt = self.guided.fill(triplet=str(triplet))
        return request_text(self.model, prompt, "question") or triplet.words

    def propose_next(self, question: str, pairs: Sequence[Pair]) -> str:
        """Ask what to ask next, without graph guidance; empty where nothing is left to ask."""
        prompt = self.unguided.fill(question=question, pairs=format_pairs(pairs))
        return request_text(self.model, prompt, "question")


class _Triplets(BaseModel):
    triplets: list[TripleRow]


@dataclass(frozen=True, kw_only=True)
class Refinement:
    """KnowledgeRefine of Algorithm 1."""

    model: LanguageModel
    passages: Passages = field(repr=False)
    triples: TripleStore | None = field(default=None, repr=False)
    filtering: bool = True
    extract_template: Template = field(default_factory=partial(load, "ge_reasoning/extract"), repr=False)
    filter_template: Template = field(default_factory=partial(load, "ge_reasoning/filter"), repr=False)

    def refine(self, passage_ids: Sequence[str], sub_question: str) -> list[Fact]:
        """Return the facts that help with the sub-question, each once with its words, the better passage's first."""
        found = (
            self._extract_facts(passage_ids) if self.triples is None else self._load_facts(self.triples, passage_ids)
        )
        facts = list({fact.triple: fact for fact in reversed(list(found))}.values())[::-1]
        if facts and self.filtering:
            chosen = LLMTripleFilter(model=self.model, template=self.filter_template)
            facts = [facts[number] for number in chosen.keep(sub_question, [fact.triple for fact in facts])]
        return [replace(fact, span=find_support(fact.triple, self.passages[fact.passage_id])) for fact in facts]

    def _extract_facts(self, passage_ids: Sequence[str]) -> Iterator[Fact]:
        prompts = [self.extract_template.fill(passage=self.passages[id_].searchable) for id_ in passage_ids]
        for id_, reply in zip(passage_ids, request_replies(self.model, prompts, _Triplets), strict=True):
            yield from (Fact(triple, id_) for triple in (filter_triples(reply.value.triplets) if reply else ()))

    def _load_facts(self, triples: TripleStore, passage_ids: Sequence[str]) -> Iterator[Fact]:
        stored = triples.triples_of(passage_ids)
        for number, id_ in zip(stored, triples.passage_of(stored), strict=True):
            yield Fact(triples.triple(int(number)), id_)
