"""GE-Reasoning, section 3.6: the answer to the question, from the sub-answers that were kept, and what it rests on.

Followed to the letter: the model sees the question and the kept pairs (line 25). Ours: where those do not settle it,
the best passages are read, as every agent does; where that is no help either, the variable that is asked for stands.
Without a question graph the passages are read straight away, or the model answers alone in the closed-book form.
"""

from collections.abc import Sequence
from dataclasses import dataclass, field, replace
from functools import partial

from triplebeam.answer import Answer, Evidence
from triplebeam.generate.accounting import account
from triplebeam.generate.language_model import LanguageModel
from triplebeam.generate.prompts import Template, load
from triplebeam.methods.ge_reasoning.run import Finding, Run
from triplebeam.methods.ge_reasoning.sub_answer import shown_pairs
from triplebeam.methods.shared.question_answering import QuestionAnswerer, ReadAnswer, evidence_for, short_answer
from triplebeam.passage import Passages


@dataclass(frozen=True, kw_only=True)
class FinalAnswer:
    """FinalAnswer of Algorithm 1."""

    model: LanguageModel
    passages: Passages = field(repr=False)
    answered_from: int = 5
    template: Template = field(default_factory=partial(load, "ge_reasoning/final_answer"), repr=False)
    alone: Template = field(default_factory=partial(load, "closed_book"), repr=False)

    def conclude(self, run: Run) -> Answer:
        """Lines 25, 26: one call, and another where passages have to be read."""
        best = run.so_far.ids[: self.answered_from]
        with account() as spent:
            reasoned = self._reasoned(run)
            said = reasoned if reasoned.text or not best else self._answerer.answer(run.question, best)
        return Answer(
            question=run.question,
            text=said.text or _target(run),
            # Where the value of a variable is the answer, "not found" would contradict it.
            sentence=said.sentence if said.text or not _target(run) else "",
            ranking=run.so_far,
            evidence=(*evidence_of(run.findings, self.passages), *missing_from(run)),
            steps=tuple(run.steps),
            usage=sum((step.usage for step in run.steps), spent.usage),
            ending="; ".join([run.ending, *spent.problems]),
            loop_text=reasoned.text or _target(run),
        )

    def _reasoned(self, run: Run) -> ReadAnswer:
        """What the kept pairs say. Without any the model has nothing but what it knows, so passages go before that."""
        if run.pairs:
            return short_answer(self.model, self.template.fill(question=run.question, pairs=shown_pairs(run.pairs)))
        return ReadAnswer() if run.so_far else short_answer(self.model, self.alone.fill(question=run.question))

    @property
    def _answerer(self) -> QuestionAnswerer:
        return QuestionAnswerer(model=self.model, passages=self.passages)


def evidence_of(findings: Sequence[Finding], passages: Passages) -> tuple[Evidence, ...]:
    """For each kept answer the facts it rests on, or itself as a fact, each with the words that support it.

    A note says which variable a fact is for, so a fact that two variables rest on stands there twice.
    """
    evidence: dict[Evidence, None] = {}
    for finding in findings:
        rests_on = [(fact.triple, [passages[fact.passage_id]]) for fact in finding.facts]
        if not rests_on:
            read = [passages[id_] for id_ in (finding.knowledge.read if finding.knowledge else ())]
            rests_on = [(finding.own_fact, read)]
        for triple, among in rests_on:
            [fact] = evidence_for([triple], among)
            evidence[replace(fact, note=finding.told)] = None
    return tuple(evidence)


def missing_from(run: Run) -> tuple[Evidence, ...]:
    """The triplets that stayed open, without words: an answer that had to do without one of them is not supported."""
    if not run.graph or not run.findings:
        return ()
    return tuple(
        Evidence(
            triple=triplet.unanswered(), note=f"{', '.join(open_.named for open_ in triplet.variables)}: not found"
        )
        for triplet in run.graph.filled
        if triplet.variables
    )


def _target(run: Run) -> str:
    """The value of the variable that is asked for, where it is one and has a value."""
    targets = run.graph.targets if run.graph else ()
    return run.graph.values.get(targets[0].number, "") if run.graph and len(targets) == 1 else ""
