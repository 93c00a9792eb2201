"""What an experiment would cost: every name is read, every method built, and a few questions are asked for free.

A model stands in for the one that costs money. Its replies have the form that each prompt demands and say nothing. An
``eager`` one affirms and repeats itself, so that an agent stops as soon as it may; the other denies and never says the
same twice, so that it takes all its steps. What a real model needs lies between the two.
"""

import itertools
import json
import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any

from triplebeam.assemble.evaluation import Corpus
from triplebeam.assemble.method import Method
from triplebeam.evaluate.questions import read_questions
from triplebeam.evaluate.run import Run
from triplebeam.generate.accounting import compute_cost
from triplebeam.generate.language_model import Completion, Prompt, Usage, estimate_tokens
from triplebeam_research.experiments.evaluator import ExperimentEvaluator
from triplebeam_research.experiments.experiment import Experiment

#: Questions that are asked for the estimate.
_SAMPLE_QUESTIONS = 3


@dataclass(frozen=True, kw_only=True)
class Planned:
    """A method on all questions, with all seeds: between ``least`` and ``most`` is used."""

    method: str
    questions: int
    seeds: int
    least: Usage
    most: Usage
    dollars: tuple[float, float] | None
    """None where the model's price is not known, or no model is called."""
    seconds: float
    """What searching takes here; the model's time comes on top."""


def plan(evaluator: ExperimentEvaluator, experiment: Experiment, corpus: Corpus) -> list[Planned]:
    """Plan one row per method."""
    questions = len(read_questions(corpus.questions)[: evaluator.limit])
    least, most = (_ask_sample(evaluator, experiment, corpus, StandIn(eager=eager)) for eager in (True, False))
    return [_plan_run(evaluator, experiment, questions, *runs) for runs in zip(least, most, strict=True)]


def _ask_sample(
    evaluator: ExperimentEvaluator, experiment: Experiment, corpus: Corpus, model: "StandIn"
) -> Sequence[Run]:
    with TemporaryDirectory() as folder:  # what a stand-in replied is not a result
        trial = replace(
            evaluator,
            settings=evaluator.settings.model_copy(update={"results": Path(folder)}),
            model=model,
            seeds=(),
            limit=min(_SAMPLE_QUESTIONS, evaluator.limit or _SAMPLE_QUESTIONS),
            parallel=1,  # a question that waits for others takes longer
        )
        return trial.compare(experiment.model_copy(update={"judge": False}), corpus).runs


def _plan_run(evaluator: ExperimentEvaluator, experiment: Experiment, questions: int, low: Run, high: Run) -> Planned:
    given = low.method.endswith("(given)")
    seeds = len(set(evaluator.seeds)) if evaluator.seeds and not given and Method.parse(low.method).uses_model else 1
    judged = experiment.judge and low.results[0].answer is not None
    least, most = (_scale_usage(run, questions * seeds, judged) for run in (low, high))
    settings = evaluator.settings
    costs = [compute_cost(each, settings.model or "", settings.prices) for each in (least, most) if each.calls]
    dollars = (costs[0], costs[-1]) if costs and costs[0] is not None and costs[-1] is not None else None
    seconds = sum(result.seconds for result in high.results) / len(high.results) * questions * seeds
    return Planned(
        method=low.method,
        questions=questions,
        seeds=seeds,
        least=least,
        most=most,
        dollars=dollars,
        seconds=seconds,
    )


def _scale_usage(run: Run, times: int, judged: bool) -> Usage:
    """Scale the mean usage of a question, and of the judge where there is one."""
    used = sum((result.usage for result in run.results), Usage())
    share = times / len(run.results)
    scaled = Usage(
        calls=round(used.calls * share),
        tokens_in=round(used.tokens_in * share),
        tokens_out=round(used.tokens_out * share),
        estimated=True,
    )
    return scaled + estimate_judging(times) if judged else scaled


#: About what a reply has on average; the replies here are shorter than a model's.
_TOKENS_OUT = 100
#: A question of two hops, for GE-Reasoning: no text at random is a question graph.
_GRAPH = {"triplets": [["A", "maker", "#1"], ["#1", "birthplace", "#2"]], "target": ["#2"]}
_QUESTION = re.compile(r"Question: (.*)")
_CONCLUSION = "So the answer is: X."
#: Fields of replies that are empty as a rule, and end or prolong a loop where they are not.
_RARE = frozenset({"premise", "more"})


class StandIn:
    """A language model without one."""

    name = "stand-in"

    def __init__(self, *, eager: bool) -> None:
        self._eager = eager
        self._numbers = itertools.count(1)

    def complete(self, prompts: Sequence[Prompt]) -> list[Completion]:
        """Return one reply per prompt, counted as if it had been paid for."""
        return [self._completion(prompt) for prompt in prompts]

    def _completion(self, prompt: Prompt) -> Completion:
        usage = Usage(calls=1, tokens_in=prompt.estimated_tokens, tokens_out=_TOKENS_OUT, estimated=True)
        if prompt.schema is None:
            return Completion(text=self._text(prompt), usage=usage)
        graph = prompt.template.startswith("ge_reasoning/question_graph")
        reply = _GRAPH if graph else self._fill_schema(prompt.schema, prompt)
        return Completion(text=json.dumps(reply), usage=usage)

    def _text(self, prompt: Prompt) -> str:
        """Return a conclusion; or something to search for that finds passages and was not said before."""
        asked = _QUESTION.search(prompt.user)
        return _CONCLUSION if self._eager else f"Part {next(self._numbers)} of {asked[1] if asked else 'it'}"

    def _fill_schema(self, schema: Any, prompt: Prompt) -> object:
        """Return a value as a JSON schema demands it."""
        if "$ref" in schema:
            definitions: Any = (prompt.schema or {})["$defs"]
            return self._fill_schema(definitions[schema["$ref"].rpartition("/")[2]], prompt)
        if "anyOf" in schema:
            return self._fill_schema(schema["anyOf"][0], prompt)
        match schema.get("type"):
            case "object":
                usual = [(name, each) for name, each in schema["properties"].items() if name not in _RARE]
                return {name: self._fill_schema(each, prompt) for name, each in usual}
            case "array":
                return self._list(schema.get("items") or {"type": "string"}, prompt)
            case "boolean":
                return self._eager
            case "integer" | "number":
                return 1
            case _:
                return self._text(prompt)

    def _list(self, items: Mapping[str, Any], prompt: Prompt) -> list[object]:
        """Return all numbers there may be, three texts, which may be a triple, or one of anything else."""
        if items.get("type") == "integer":
            return list(range(1, 50))
        return [self._fill_schema(items, prompt) for _ in range(3 if items.get("type") == "string" else 1)]


def estimate_judging(questions: int) -> Usage:
    """Estimate the usage of judging answers: a prompt is hardly longer than its instructions."""
    return Usage(calls=questions, tokens_in=questions * _JUDGE_TOKENS, tokens_out=questions * 10, estimated=True)


_JUDGE_TOKENS = estimate_tokens(" " * 1800)
