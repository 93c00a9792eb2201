"""The model layer against a real server. What the model says is not judged, only what becomes of it."""

import signal
import subprocess
import sys
import time
from collections.abc import Callable
from dataclasses import replace
from pathlib import Path

import pytest
from pydantic import BaseModel

from triplebeam.generate.accounting import Accounted, account
from triplebeam.generate.ask import ask
from triplebeam.generate.connect import Concurrent, connect
from triplebeam.generate.language_model import Prompt, PromptRefusedError
from triplebeam.generate.openai_compatible import OpenAICompatible
from triplebeam.generate.parse import UnusableReplyError
from triplebeam.system.endpoint import TransientError

pytestmark = [pytest.mark.slow, pytest.mark.xdist_group("llama")]

MODEL = "SmolLM2-135M-Instruct"
PROMPT = Prompt(system="You are brief.", user="What is the capital of France?", max_tokens=32)
#: Half a minute's work at least: a schema that a thousand words must follow leaves the model no way to stop.
_THOUSAND_WORDS = {"type": "array", "items": {"enum": ["river", "sea"]}, "minItems": 1000}
ENDLESS = Prompt(
    system="You are thorough.",
    user="Where does water flow?",
    schema={"type": "object", "properties": {"words": _THOUSAND_WORDS}, "required": ["words"]},
)


class City(BaseModel):
    city: str
    is_capital: bool


@pytest.fixture
def model(llama: str) -> Concurrent:
    return connect(MODEL, base_url=llama, timeout=60.0, concurrency=2)


def test_chat(model: Concurrent) -> None:
    [completion] = model.complete([PROMPT])
    assert completion.text.strip()
    assert completion.finish_reason in ("stop", "length")
    assert completion.log_probabilities is None
    assert not completion.thought
    usage, longer = completion.usage, model.complete([replace(PROMPT, user=PROMPT.user + " And of Spain?")])[0].usage
    assert (usage.calls, usage.estimated) == (1, False), "the endpoint's own counts"
    assert longer.tokens_in > usage.tokens_in > 0


def test_a_schema_is_taken_and_followed(llama: str) -> None:
    endpoint = OpenAICompatible(MODEL, llama, timeout=60.0)
    with account() as bill:
        reply = ask(Accounted(endpoint), PROMPT, City)
    assert isinstance(reply, City)
    assert bill.usage.calls == 1, "the server holds the model to the schema, so nothing had to be corrected"
    assert endpoint.refused == []


def test_log_probabilities_are_those_of_the_reply(model: Concurrent) -> None:
    [completion] = model.complete([replace(PROMPT, log_probabilities=True)])
    tokens = completion.log_probabilities
    assert tokens is not None
    assert "".join(token.token for token in tokens).strip() == completion.text.strip()
    assert all(token.log_probability <= 0 for token in tokens)
    assert any(token.log_probability < 0 for token in tokens)
    assert len(tokens) == completion.usage.tokens_out


def test_a_cut_is_noticed_and_named(model: Concurrent) -> None:
    [completion] = model.complete([replace(PROMPT, max_tokens=3)])
    assert (completion.finish_reason, completion.usage.tokens_out) == ("length", 3)
    with pytest.raises(UnusableReplyError, match="cut off at its limit of tokens") as caught:
        ask(model, replace(PROMPT, max_tokens=3), City)
    assert not caught.value.repairable


def test_a_prompt_beyond_the_context_is_refused_for_its_length(llama: str) -> None:
    endpoint = OpenAICompatible(MODEL, llama, timeout=60.0)
    with pytest.raises(PromptRefusedError, match="context size"):
        ask(endpoint, replace(PROMPT, user="river " * 5000), City)
    assert endpoint.refused == [], "the length is at fault, not the schema that came with it"


def test_after_a_time_out_the_server_is_free_again(
    llama: str, model: Concurrent, wait_for_busy_slots: Callable[[int], None]
) -> None:
    hasty = OpenAICompatible(MODEL, llama, timeout=1.0)
    start = time.monotonic()
    with pytest.raises(TransientError, match=r"did not answer .* within 1 seconds: raise the timeout"):
        hasty.complete([ENDLESS])
    assert time.monotonic() - start < 10
    wait_for_busy_slots(0)
    assert model.complete([PROMPT])[0].text


@pytest.mark.skipif(sys.platform == "win32", reason="Ctrl-C cannot be sent to one process alone")
@pytest.mark.parametrize("prompts", [1, 3])
def test_ctrl_c_ends_the_client_at_once_and_the_requests_with_it(
    prompts: int, llama: str, wait_for_busy_slots: Callable[[int], None]
) -> None:
    code = f"from test_llama_server import *; connect(MODEL, base_url={llama!r}).complete([ENDLESS] * {prompts})"
    with subprocess.Popen(
        [sys.executable, "-c", code], cwd=Path(__file__).parent, stderr=subprocess.PIPE, encoding="utf-8"
    ) as client:
        try:
            wait_for_busy_slots(min(prompts, 2))
            client.send_signal(signal.SIGINT)
            _, errors = client.communicate(timeout=10)
        finally:
            client.kill()
    assert errors.rstrip().endswith("KeyboardInterrupt")
    wait_for_busy_slots(0)
