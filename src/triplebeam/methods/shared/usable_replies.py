"""Replies an agent can go on with: those that cannot be used are noted on the open account and left out."""

from dataclasses import replace

from triplebeam.errors import BadInputError
from triplebeam.generate.accounting import note_problem
from triplebeam.generate.ask import Parsed, ask, ask_many
from triplebeam.generate.language_model import LanguageModel, Prompt, PromptFailedError
from triplebeam.generate.parse import ReplyType


def usable_reply(model: LanguageModel, prompt: Prompt, reply_type: type[ReplyType]) -> ReplyType | None:
    """One call; None where the reply cannot be used even after a correction. An endpoint that is gone is raised."""
    try:
        reply = ask(model, prompt, reply_type)
    except PromptFailedError as problem:
        note_problem(problem)
        return None
    return reply


def usable_samples(
    model: LanguageModel,
    prompt: Prompt,
    reply_type: type[ReplyType],
    *,
    count: int,
    temperature: float,
    seed: int | None,
) -> list[ReplyType]:
    """Several samples of one prompt, in order, in one batch."""
    if count < 1:
        raise BadInputError(
            f"A model is asked once or more, not {count} times: set the number of samples to 1 or more."
        )
    samples = [replace(prompt, temperature=temperature, seed=seed, sample=number) for number in range(count)]
    usable = []
    for reply in ask_many(model, samples, reply_type):
        if isinstance(reply, Parsed):
            usable.append(reply.value)
        elif reply.endpoint_gone:
            raise reply.error
        else:
            note_problem(reply.error)
    return usable
