import json
from typing import Any

import pytest
from loopback_endpoint import chat_completion

from triplebeam.generate.language_model import Prompt, TokenLogProbability, Usage
from triplebeam.generate.openai_compatible import completion_from
from triplebeam.generate.parse import strip_thoughts

PROMPT = Prompt(system="abcd", user="ef", log_probabilities=True)


@pytest.mark.parametrize(
    ("text", "said", "thought"),
    [
        ("plain", "plain", False),
        ("<think>a</think>\n\nplain", "plain", True),
        ("the template opened it</think> plain", "plain", True),
        ("<think>a</think><think>b</think>plain", "plain", True),
        (" <think>cut", "", True),
        ("say <think> aloud", "say <think> aloud", False),
    ],
)
def test_thoughts_are_left_out(text: str, said: str, thought: bool) -> None:
    assert strip_thoughts(text) == (said, thought)
    completion = completion_from(json.dumps(chat_completion(text)), PROMPT)
    assert (completion.text, completion.thought) == (said, thought)


def test_log_probabilities_are_those_of_the_reply() -> None:
    tokens = ["<thi", "nk>", "hm", "</think>", "Os", "lo"]
    content = [{"token": token, "logprob": -float(number)} for number, token in enumerate(tokens)]
    body = json.dumps(chat_completion("".join(tokens), logprobs={"content": content}))
    assert completion_from(body, PROMPT).log_probabilities == (
        TokenLogProbability("Os", -4.0),
        TokenLogProbability("lo", -5.0),
    )


@pytest.mark.parametrize("logprobs", [None, {}, {"content": None}, {"content": []}])
def test_log_probabilities_that_are_not_given_are_none(logprobs: Any) -> None:
    assert completion_from(json.dumps(chat_completion("x", logprobs=logprobs)), PROMPT).log_probabilities is None


@pytest.mark.parametrize(
    "usage",
    [None, {}, {"prompt_tokens": None, "completion_tokens": 3}, {"prompt_tokens": -1, "completion_tokens": "x"}],
)
def test_tokens_that_are_not_counted_are_guessed_and_marked(usage: Any) -> None:
    body = json.dumps({**chat_completion("<think>12345</think>6"), "usage": usage})
    assert completion_from(body, PROMPT).usage == Usage(calls=1, tokens_in=2, tokens_out=6, estimated=True)


@pytest.mark.parametrize(("content", "text"), [("", ""), (None, ""), ("cut \ud83d", "cut \ufffd")])
def test_an_empty_reply_is_the_readers_to_judge_and_half_a_character_is_replaced(content: Any, text: str) -> None:
    completion = completion_from(json.dumps(chat_completion(content, finish_reason="content_filter")), PROMPT)
    assert (completion.text, completion.finish_reason) == (text, "content_filter")


def test_a_reply_in_pieces_is_put_together() -> None:
    pieces = [{"type": "thinking", "thinking": [{"type": "text", "text": "hm"}]}, {"type": "text", "text": "Oslo"}]
    body = chat_completion("")
    body["choices"][0]["message"]["content"] = pieces
    assert completion_from(json.dumps(body), PROMPT).text == "Oslo"
