"""An answer where the model failed: why, and the passages of one search, which needs no model."""

from collections.abc import Sequence
from dataclasses import replace

from triplebeam import assemble
from triplebeam.answer import Answer, Step
from triplebeam.generate.language_model import Usage

#: How a command ends that a model failed.
MODEL_FAILED_EXIT_CODE = 3


def make_failed_answer(
    index: "assemble.IndexReader", question: str, failure: str, steps: Sequence[Step] = ()
) -> Answer:
    """The answer where the endpoint is gone, with the steps that were taken before."""
    answer = Answer(
        question=question,
        text="",
        failure=failure,
        steps=tuple(steps),
        usage=sum((step.usage for step in steps), Usage()),
        ending="the model's endpoint cannot be used",
    )
    return add_passages(index, answer)


def add_passages(index: "assemble.IndexReader", answer: Answer) -> Answer:
    """The answer, with the passages of one search where the model failed before the agent had found any."""
    if answer.outcome != "model_failed" or answer.ranking:
        return answer
    return replace(answer, ranking=index.retriever().retrieve(answer.question))
