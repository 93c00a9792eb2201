"""FLARE (Jiang, Xu, Gao, Sun, Liu, Dwivedi-Yu, Yang, Callan & Neubig, EMNLP 2023): retrieval where the model is unsure.

The first retrieval is for the question. Then, sentence by sentence, the model writes the next sentence of its reasoning
for the time being. If every token of it is as probable as a threshold (θ, 0.8), it stands. Else it becomes a query,
without its tokens less probable than another threshold (β, 0.4), and is written again from what that finds. A sentence
that says "So the answer is: ..." ends the loop.

Followed to the letter: FLARE-direct with the implicit queries of the paper's section 3.2, as above; only the first
sentence of a reply counts; new passages take the place of the old. θ, β, 2 passages and that the sentence for the time
being sees the passages of the last retrieval are the authors' released configuration for 2WikiMultihopQA (without
``look_ahead_reads`` it sees none, which is how the paper writes it).

**Without log-probabilities** there is nothing to be sure by: every sentence but the last, "So the answer is", is taken
as unsure and searched for as a whole (θ = 1, β = 0 in the paper's terms: retrieval for every sentence). The first step
tells so among its problems. The same happens where the tokens an endpoint gives do not spell the sentence.

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

from triplebeam.answer import Agent, Answer, Step
from triplebeam.generate.accounting import Account, note_problem, remark
from triplebeam.generate.language_model import LanguageModel, PromptFailedError, TokenLogProbability
from triplebeam.generate.parse import whole_text
from triplebeam.generate.prompts import Template, load
from triplebeam.ingest.sentences import sentence_spans
from triplebeam.methods.shared.accounted_step import taken_steps
from triplebeam.methods.shared.exemplars import Exemplar, load_exemplars
from triplebeam.methods.shared.prompt_text import numbered_passages
from triplebeam.methods.shared.question_answering import QuestionAnswerer, conclude
from triplebeam.methods.shared.reasoning_paths import CAME_TO_AN_ANSWER, Path, reasoned_answer
from triplebeam.passage import Passages
from triplebeam.ranking import Ranking
from triplebeam.retrieve.fuse import reciprocal_rank_fusion
from triplebeam.retrieve.retriever import Retriever

_CONCLUSION = re.compile(r"\bthe answer is\b:?(?P<answer>.*)", re.IGNORECASE | re.DOTALL)
_LAST_SENTENCE = "the last sentence was reached"
_NO_SENTENCE = "the model gave no further sentence"
_NOT_TOLD = "the model does not tell how sure it is (no log-probabilities), so every sentence is searched for"


@dataclass(frozen=True, kw_only=True)
class FLARE(Agent):
    """The agent over any retriever; the paper's is BM25."""

    retriever: Retriever
    model: LanguageModel
    answerer: QuestionAnswerer
    passages: Passages = field(repr=False)
    retrieved: int = 2
    """Passages a retrieval brings."""
    threshold: float = 0.8
    """θ: a sentence with a token less probable than this is searched for."""
    mask: float = 0.4
    """β: a token less probable than this is left out of the query."""
    look_ahead_reads: bool = True
    """Whether the sentence for the time being sees the passages of the last retrieval."""
    max_sentences: int = 10
    answered_from: int = 5
    """Passages that are read where the reasoning comes to no answer."""
    exemplars: Sequence[Exemplar] = field(default_factory=load_exemplars, repr=False)
    template: Template = field(default_factory=partial(load, "flare/sentence"), repr=False)

    def steps(self, question: str) -> Generator[Step, None, Answer]:
        """Each retrieval, and the sentences that follow from it."""
        run = _Run(question, query=question)
        yield from taken_steps(self._step, run)
        if not run.answer:
            return conclude(self.answerer, question, run.steps, run.ending, best=self.answered_from)
        return reasoned_answer(question, Path(" ".join(run.sentences), run.answer), run.steps, run.ending, Account())

    def _step(self, run: "_Run") -> Step:
        query, before = run.query, len(run.sentences)
        ranking = self.retriever.retrieve(query, self.retrieved)
        run.rankings.append(ranking)
        if run.steps:  # the query was a sentence, which is now written again
            run.take(self._next_sentence(run, ranking).text, self.max_sentences)
        while not run.ending:
            ahead = self._next_sentence(run, ranking if self.look_ahead_reads else Ranking())
            if unsure := self._query(run, ahead):
                run.query = unsure
                break
            run.take(ahead.text, self.max_sentences)
        return Step(
            number=len(run.rankings),
            query=query,
            ranking=ranking,
            so_far=reciprocal_rank_fusion(run.rankings),
            thought=" ".join(run.sentences[before:]),
        )

    def _next_sentence(self, run: "_Run", ranking: Ranking) -> "_Sentence":
        """One call; no words where the reply cannot be used."""
        prompt = self.template.fill(
            exemplars="\n\n".join(map(_worked, self.exemplars)),
            passages=numbered_passages([self.passages[passage_id] for passage_id in ranking.ids]),
            question=run.question,
            sentences=" ".join(run.sentences) or "(none)",
        )
        try:
            [completion] = self.model.complete([replace(prompt, log_probabilities=True)])
            text = whole_text(completion)
        except PromptFailedError as problem:
            note_problem(problem)
            return _Sentence("", None)
        sentence = next((text[start:end] for start, end in sentence_spans(text)), "")
        return _Sentence(sentence, tokens_of(sentence, completion.log_probabilities or ()))

    def _query(self, run: "_Run", ahead: "_Sentence") -> str:
        """What to search for before the sentence may stand; nothing where the model is sure of it."""
        if not ahead.text:
            return ""
        if ahead.tokens is None:
            if not run.not_told:
                remark(_NOT_TOLD)
            run.not_told = True
            return "" if _CONCLUSION.search(ahead.text) else ahead.text
        if all(math.exp(token.log_probability) >= self.threshold for token in ahead.tokens):
            return ""
        kept = [token.token if math.exp(token.log_probability) >= self.mask else " " for token in ahead.tokens]
        return " ".join("".join(kept).split()) or ahead.text


def tokens_of(sentence: str, tokens: Sequence[TokenLogProbability]) -> Sequence[TokenLogProbability] | None:
    """The tokens of a reply that spell a sentence of it; None where they do not, or there are none."""
    start = "".join(token.token for token in tokens).find(sentence) if sentence and tokens else -1
    if start < 0:
        return None
    spelling, position = [], 0
    for token in tokens:
        if position + len(token.token) > start and position < start + len(sentence):
            spelling.append(token)
        position += len(token.token)
    return spelling


def _worked(exemplar: Exemplar) -> str:
    asked = exemplar.asked(with_passages=True)
    return f"{asked}\nExample sentences: {exemplar.reasoning} So the answer is: {exemplar.answer}."


@dataclass(frozen=True, slots=True)
class _Sentence:
    """A sentence, and how probable its tokens are where the model tells."""

    text: str
    tokens: Sequence[TokenLogProbability] | None


@dataclass(slots=True)
class _Run:
    """What one question has brought so far."""

    question: str
    query: str
    sentences: list[str] = field(default_factory=list)
    rankings: list[Ranking] = field(default_factory=list)
    steps: list[Step] = field(default_factory=list)
    answer: str = ""
    ending: str = ""
    not_told: bool = False

    def take(self, sentence: str, most: int) -> None:
        """Let a sentence stand, and say why if it is the last."""
        if sentence:
            self.sentences.append(sentence)
        conclusion = _CONCLUSION.search(sentence)
        if conclusion:
            self.answer = conclusion["answer"].strip().rstrip(".").rstrip()
        if self.answer:
            self.ending = CAME_TO_AN_ANSWER
        elif conclusion or not sentence:
            self.ending = _NO_SENTENCE
        elif len(self.sentences) >= most:
            self.ending = _LAST_SENTENCE
