"""FLARE (Jiang, Xu, Gao, Sun, Liu, Dwivedi-Yu, Yang, Callan & Neubig, EMNLP 2023): retrieval where the model is unsure.

The first retrieval is for the question. Then, sentence by sentence, the model drafts the next sentence of its
reasoning. If every token of it is at least as probable as a threshold (θ, 0.8), it is kept. Otherwise it becomes a
query, without its tokens less probable than another threshold (β, 0.4), and is written again from what that finds. A
sentence that says "So the answer is: ..." ends the loop.

Followed to the letter: FLARE-direct with the implicit queries of the paper's section 3.2, as above; only the first
sentence of a reply counts; new passages take the place of the old. θ, β, 2 passages and that the draft sees the
passages of the last retrieval are the authors' released configuration for 2WikiMultihopQA (without ``look_ahead_reads``
it sees none, which is how the paper writes it).

**Without log-probabilities** there is nothing to be sure by: every sentence but the last, "So the answer is", is taken
as unsure and searched for as a whole (θ = 1, β = 0 in the paper's terms: retrieval for every sentence). The first step
says so among its problems. The same happens where the tokens an endpoint gives do not spell the sentence.

What differs: six exemplars of our own (the paper: eight). The limit is a number of sentences, not of tokens. A step of
ours is one retrieval with the sentences that follow from it, so sure sentences make no steps. A query of which nothing
is left is the whole sentence; the authors' code then retrieves nothing. Replies are plain text, since the probabilities
of JSON would count its quotes and names. The ranking is the reciprocal rank fusion of all steps' lists. Where the
reasoning comes to no answer, one is read from the best passages by the `QuestionAnswerer` that all agents share.
"""

import math
import re
from collections.abc import Generator, Sequence
from dataclasses import dataclass, field, replace
from functools import partial

from triplebeam.answer import Answer, Step
from triplebeam.generate.accounting import note_problem, note_warning
from triplebeam.generate.language_model import PromptFailedError, TokenLogProbability, drop_replies
from triplebeam.generate.parse import require_whole_text
from triplebeam.generate.prompts import Template
from triplebeam.methods.shared.loop import Loop
from triplebeam.methods.shared.question_answering import ReadAnswer
from triplebeam.methods.shared.reading import AnsweringAgent
from triplebeam.ranking import Ranking
from triplebeam.retrieve.retriever import check_fields
from triplebeam.text.sentences import sentence_spans
from triplebeam_research.baselines.chain_of_thought import CAME_TO_AN_ANSWER, Exemplar, load_exemplars
from triplebeam_research.templates import load

_CONCLUSION = re.compile(r"\bthe answer is\b:?(?P<answer>.*)", re.IGNORECASE | re.DOTALL)
_LAST_SENTENCE = "the last sentence was reached"
_NO_SENTENCE = "the model gave no further sentence"
_NO_PROBABILITIES = "the model does not report how sure it is (no log-probabilities), so every sentence is searched for"


@dataclass(frozen=True, kw_only=True)
class FLARE(AnsweringAgent):
    """The agent over any retriever; the paper's is BM25."""

    retrieved: int = 2
    """Passages per retrieval."""
    threshold: float = 0.8
    """θ: a sentence with a token less probable than this is searched for."""
    mask: float = 0.4
    """β: a token less probable than this is left out of the query."""
    look_ahead_reads: bool = True
    """Whether the draft of a sentence sees the passages of the last retrieval."""
    max_sentences: int = 10
    exemplars: Sequence[Exemplar] = field(default_factory=load_exemplars, repr=False)
    template: Template = field(default_factory=partial(load, "flare/sentence"), repr=False)

    def __post_init__(self) -> None:
        check_fields(self, "threshold", "mask")
        super().__post_init__()

    def steps(self, question: str) -> Generator[Step, None, Answer]:
        """Yield each retrieval, and the sentences that follow from it."""
        loop = _Sentences(question, self.retriever, query=question)
        yield from loop.take_all(partial(self._step, loop))
        if loop.concluded:
            own = ReadAnswer(loop.concluded, " ".join(loop.sentences), guessed=True)
            return loop.conclude(lambda: self._choose_answer(loop, own))
        return self._conclude(loop)

    def _step(self, loop: "_Sentences") -> Step:
        query, before = loop.query, len(loop.sentences)
        ranking = loop.retrieve(query, self.retrieved)
        if loop.steps:  # the query was a sentence, which is now written again
            loop.write(self._write_sentence(loop, ranking).text, self.max_sentences)
        while not loop.ending:
            ahead = self._write_sentence(loop, ranking if self.look_ahead_reads else Ranking())
            if unsure := self._query(loop, ahead):
                loop.query = unsure
                break
            loop.write(ahead.text, self.max_sentences)
        return Step(
            number=loop.number,
            query=query,
            ranking=ranking,
            so_far=loop.fuse_rankings(),
            thought=" ".join(loop.sentences[before:]),
        )

    def _write_sentence(self, loop: "_Sentences", ranking: Ranking) -> "_Sentence":
        """Call the model once; no words where the reply cannot be used."""
        prompt = self.template.fill(
            exemplars="\n\n".join(map(_format_exemplar, self.exemplars)),
            passages=self._format_passages(ranking.ids),
            question=loop.question,
            sentences=" ".join(loop.sentences) or "(none)",
        )
        prompt = replace(prompt, log_probabilities=True)
        try:
            [completion] = self.model.complete([prompt])
            text = require_whole_text(completion)
        except PromptFailedError as problem:
            drop_replies(self.model, [prompt])
            note_problem(problem)
            return _Sentence("", None)
        sentence = next((text[start:end] for start, end in sentence_spans(text)), "")
        return _Sentence(sentence, tokens_of(sentence, completion.log_probabilities or ()))

    def _query(self, loop: "_Sentences", ahead: "_Sentence") -> str:
        """Return what to search for before the sentence is kept; nothing where the model is sure of it."""
        if not ahead.text:
            return ""
        if ahead.tokens is None:
            if not loop.searches_all:
                note_warning(_NO_PROBABILITIES)
            loop.searches_all = True
            return "" if _CONCLUSION.search(ahead.text) else ahead.text
        if all(math.exp(token.log_probability) >= self.threshold for token in ahead.tokens):
            return ""
        kept = [token.token if math.exp(token.log_probability) >= self.mask else " " for token in ahead.tokens]
        return " ".join("".join(kept).split()) or ahead.text


def tokens_of(sentence: str, tokens: Sequence[TokenLogProbability]) -> Sequence[TokenLogProbability] | None:
    """Return the tokens of a reply that spell a sentence of it; None where they do not, or there are none."""
    start = "".join(token.token for token in tokens).find(sentence) if sentence and tokens else -1
    if start < 0:
        return None
    spelling, position = [], 0
    for token in tokens:
        if position + len(token.token) > start and position < start + len(sentence):
            spelling.append(token)
        position += len(token.token)
    return spelling


def _format_exemplar(exemplar: Exemplar) -> str:
    asked = exemplar.format_question(with_passages=True)
    return f"{asked}\nExample sentences: {exemplar.reasoning} So the answer is: {exemplar.answer}."


@dataclass(frozen=True, slots=True)
class _Sentence:
    """A sentence, and how probable its tokens are, where the model reports it."""

    text: str
    tokens: Sequence[TokenLogProbability] | None


@dataclass
class _Sentences(Loop):
    """What one question has brought so far."""

    query: str = ""
    sentences: list[str] = field(default_factory=list)
    concluded: str = ""
    """The answer that the last sentence gives."""
    searches_all: bool = False

    def write(self, sentence: str, most: int) -> None:
        """Keep a sentence, and say why if it is the last."""
        if sentence:
            self.sentences.append(sentence)
        conclusion = _CONCLUSION.search(sentence)
        if conclusion:
            self.concluded = conclusion["answer"].strip().rstrip(".").rstrip()
        if self.concluded:
            self.ending = CAME_TO_AN_ANSWER
        elif conclusion or not sentence:
            self.ending = _NO_SENTENCE
        elif len(self.sentences) >= most:
            self.ending = _LAST_SENTENCE
