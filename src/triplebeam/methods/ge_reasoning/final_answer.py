"""GE-Reasoning, section 3.6: the answer to the question, from the sub-answers that were kept, and what it rests on.

Followed to the letter: the model sees the question and the kept pairs (line 25). Ours: where those do not settle it,
the best passages are read, as every agent does; where that does not help either, the value of the variable that is
asked for is the answer. Without a question graph the passages are read straight away, or the model answers alone in the
closed-book form. An answer with a pair that the model knew without a search is a guess, and says which pair.
"""

from collections.abc import Sequence
from dataclasses import dataclass, field, replace
from functools import partial

from triplebeam.answer import Answer, Evidence
from triplebeam.generate.language_model import LanguageModel
from triplebeam.generate.prompts import Template, load
from triplebeam.methods.ge_reasoning.run import Finding, Rounds
from triplebeam.methods.ge_reasoning.sub_answer import format_pairs
from triplebeam.methods.shared.facts import Fact, find_support
from triplebeam.methods.shared.question_answering import (
    Answerer,
    ClosedBookAnswerer,
    QuestionAnswerer,
    ReadAnswer,
    is_answer,
    read_short_answer,
)
from triplebeam.passage import Passages


@dataclass(frozen=True, kw_only=True)
class FinalAnswer:
    """FinalAnswer of Algorithm 1."""

    model: LanguageModel
    passages: Passages = field(repr=False)
    answered_from: int = 5
    template: Template = field(default_factory=partial(load, "ge_reasoning/final_answer"), repr=False)
    answerer: Answerer | None = None

    def conclude(self, loop: Rounds) -> Answer:
        """Lines 25, 26: one call, and another where passages have to be read."""
        evidence = (*evidence_of(loop.findings, self.passages), *list_open_triplets(loop))
        return loop.conclude(lambda: self._make_answer(loop), evidence)

    def _make_answer(self, loop: Rounds) -> ReadAnswer:
        reasoned = self._reason_from_pairs(loop)
        loop.answer = reasoned.text or _target(loop)
        loop.missing = _list_missing(loop)
        settled = is_answer(reasoned.text) if self.answerer else reasoned.text or not loop.so_far
        if settled:
            return replace(reasoned, guessed=not loop.grounded)
        return self._read(loop)

    def _reason_from_pairs(self, loop: Rounds) -> ReadAnswer:
        """Answer from the kept pairs. Without any, passages go before what the model remembers."""
        if self._has_enough(loop):
            return read_short_answer(
                self.model, self.template.fill(question=loop.question, pairs=format_pairs(loop.pairs))
            )
        if loop.so_far or self.answerer:
            return ReadAnswer()
        return ClosedBookAnswerer(model=self.model).answer(loop.question)

    def _has_enough(self, loop: Rounds) -> bool:
        """Return whether to answer from the kept pairs, although a variable that is asked for may have no value."""
        return bool(loop.pairs)

    def _read(self, loop: Rounds) -> ReadAnswer:
        return self._answerer.answer(loop.question, loop.fuse_rankings().ids[: self.answered_from])

    @property
    def _answerer(self) -> Answerer:
        return self.answerer or QuestionAnswerer(model=self.model, passages=self.passages)


def evidence_of(findings: Sequence[Finding], passages: Passages) -> tuple[Evidence, ...]:
    """Return for each kept answer the facts it rests on, or itself as a fact, each with the words that support it.

    A note says which variable a fact is for, so a fact that two variables rest on is listed twice.
    """
    evidence: dict[Evidence, None] = {}
    for finding in findings:
        evidence |= dict.fromkeys(
            fact.evidence(finding.note) for fact in finding.facts or [_make_fact(finding, passages)]
        )
    return tuple(evidence)


def _make_fact(finding: Finding, passages: Passages) -> Fact:
    if finding.knowledge is None:
        return Fact(finding.own_fact, from_memory=True)
    return find_support(finding.own_fact, [passages[id_] for id_ in finding.knowledge.read])


def list_open_triplets(loop: Rounds) -> tuple[Evidence, ...]:
    """Return the triplets that stayed open, without words: an answer without one of them is not supported."""
    if not loop.graph or not loop.findings:
        return ()
    return tuple(
        Evidence(
            triple=triplet.make_open_fact(), note=f"{', '.join(open_.named for open_ in triplet.variables)}: not found"
        )
        for triplet in loop.graph.filled
        if triplet.variables
    )


def _list_missing(loop: Rounds) -> tuple[str, ...]:
    """Return the sub-questions that no document answers, and those that the model answered without one."""
    open_ = loop.graph.candidates() if loop.graph else ()
    tried = [loop.sub_questions[triplet] for triplet in open_ if triplet in loop.sub_questions]
    remembered = [finding.ask.sub_question for finding in loop.findings if finding.from_memory]
    return (
        *(f"No document answers the question: {question}" for question in tried),
        *(f"No document was searched for the question: {question}" for question in remembered),
    )


def _target(loop: Rounds) -> str:
    """Return the value of the variable that is asked for, where it is one and has a value."""
    targets = loop.graph.targets if loop.graph else ()
    return loop.graph.values.get(targets[0].number, "") if loop.graph and len(targets) == 1 else ""
