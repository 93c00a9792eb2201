"""Accuracy as a model sees it: whether an answer says the same as an accepted one, in whatever words.

GNN-Ret (and Iter-RetGen before it) count an answer as right when a language model says that it matches the gold answer.
The paper does not give its prompt; this one is ours. The verdict is another model's opinion: name the model beside it.
"""

from collections.abc import Sequence

from pydantic import BaseModel

from triplebeam.evaluate.measures import pair_results
from triplebeam.evaluate.questions import Question
from triplebeam.evaluate.run import QuestionResult
from triplebeam.generate.accounting import UNKNOWN_ORIGIN, follow_run, note_warning
from triplebeam.generate.ask import Failed, Reply, ask_many
from triplebeam.generate.language_model import LanguageModel, Prompt
from triplebeam.generate.prompts import Template
from triplebeam.system.progress import Progress, ignore_progress
from triplebeam_research.templates import load

_BATCH_QUESTIONS = 16


class _Reply(BaseModel):
    correct: bool


def judge(
    model: LanguageModel,
    questions: Sequence[Question],
    results: Sequence[QuestionResult],
    progress: Progress = ignore_progress,
) -> list[float | None]:
    """Return 1 or 0 per question, in order. An empty answer is wrong without a call.

    None where there is nothing to judge (no accepted answers, or the method does not answer) and where the model's
    reply could not be used even after a correction; the latter is remarked on the open account, and a caller finds
    them as the None of a question with answers and an answer. An endpoint that is gone raises EndpointError.
    """
    template, pairs = load("judge"), list(pair_results(questions, results))
    verdicts = [0.0 if question.answers and result.answer is not None else None for question, result in pairs]
    asked = [position for position, (_, result) in enumerate(pairs) if verdicts[position] == 0 and _says(result)]
    for start in range(0, len(asked), _BATCH_QUESTIONS):
        batch = asked[start : start + _BATCH_QUESTIONS]
        with follow_run({UNKNOWN_ORIGIN}):  # answers come from documents, and do not say from which
            replies = ask_many(model, [_prompt(template, *pairs[position]) for position in batch], _Reply)
        for position, reply in zip(batch, replies, strict=True):
            verdicts[position] = _verdict(questions[position], reply)
        progress("judge", start + len(batch), len(asked))
    return verdicts


def _says(result: QuestionResult) -> str:
    """Return the answer in one line, empty where there is none."""
    return _one_line(result.answer or "")


def _prompt(template: Template, question: Question, result: QuestionResult) -> Prompt:
    return template.fill(
        question=_one_line(question.question),
        accepted="\n".join(f"- {_one_line(answer)}" for answer in question.answers),
        answer=_says(result),
    )


def _one_line(text: str) -> str:
    """Put an answer on one line: several lines could pass for a part of the prompt."""
    return " ".join(text.split())


def _verdict(question: Question, reply: Reply[_Reply]) -> float | None:
    if isinstance(reply, Failed):
        if reply.endpoint_gone:
            raise reply.error
        note_warning(f"question {question.id!r} was not judged: {reply.error}")
        return None
    return float(reply.value.correct)
