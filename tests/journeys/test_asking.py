"""`triplebeam ask` at every effort, against an endpoint on loopback that says what the test tells it to."""

import json
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

from generate.loopback_endpoint import Endpoint, serve
from journeys.command_line import Quick

FACT = {"facts": [["Danube", "flows through", "Vienna"]]}
ANSWERED = {"missing": "", "answerable": True, "used": [1], "answer": "Vienna"}
OPEN = {"missing": "the city", "answerable": False, "used": [], "answer": ""}
FOUND = {"found": True, "answer": "Vienna", "sentence": "The Danube flows through Vienna."}
NOT_FOUND = {"found": False, "answer": "", "sentence": "The passages do not say."}


@pytest.fixture
def model(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> Iterator[Endpoint]:
    with serve() as endpoint:
        monkeypatch.setenv("TRIPLEBEAM_MODEL", "gpt-4o-mini")
        monkeypatch.setenv("TRIPLEBEAM_BASE_URL", endpoint.base_url)
        monkeypatch.setenv("TRIPLEBEAM_API_KEY", "secret-key")
        monkeypatch.setenv("TRIPLEBEAM_COMPLETIONS", str(tmp_path / "completions.sqlite"))
        yield endpoint


def says(endpoint: Endpoint, *replies: dict[str, Any]) -> None:
    endpoint.says_in_turn(*(json.dumps(reply) for reply in replies))


def test_without_a_model_it_shows_passages_and_says_how_to_get_more(quick: Quick, small_index: Path) -> None:
    code, stdout, stderr = quick("ask", small_index, "Which river?")
    assert (code, " 1. " in stdout) == (0, True)
    assert "No language model is configured" in stderr
    assert "TRIPLEBEAM_MODEL" in stderr
    code, stdout, said = quick("ask", small_index, "Which river?", "--json")
    assert (code, stdout) == (2, "")
    assert "no language model is configured, so there is no answer" in said
    assert "--effort none" in said
    found = json.loads(quick("ask", small_index, "Which river?", "--json", "--effort", "none")[1])
    assert found.keys() == json.loads(quick("search", small_index, "Which river?", "--json")[1]).keys()


@pytest.mark.parametrize("command", ["search", "ask"])
def test_a_question_needs_no_quotation_marks(quick: Quick, small_index: Path, command: str) -> None:
    words = ["where", "does", "the", "river", "rise"]
    _, together, _ = quick(command, small_index, " ".join(words), "-k", "2")
    _, apart, _ = quick(command, small_index, *words, "-k", "2")
    assert apart == together != ""


def test_effort_none_makes_no_call_and_effort_low_two(quick: Quick, small_index: Path, model: Endpoint) -> None:
    code, stdout, _ = quick("ask", small_index, "Which river?", "--effort", "none")
    assert (code, " 1. " in stdout, model.requests) == (0, True, [])
    says(model, FACT, FOUND)
    code, stdout, _ = quick("ask", small_index, "Which city?", "--effort", "low")
    assert code == 0
    assert "The Danube flows through Vienna." in stdout
    assert len(model.requests) == 2
    assert "2 calls" in stdout
    assert "$0.0000" in stdout, "a known model has a price"


def test_effort_auto_climbs_when_one_reading_does_not_answer(quick: Quick, small_index: Path, model: Endpoint) -> None:
    says(model, FACT, NOT_FOUND, FACT, ANSWERED, FOUND)
    code, stdout, _ = quick("ask", small_index, "Which city?")
    assert code == 0
    assert "Step 2" in stdout
    assert "one step did not answer it" in stdout


def test_the_trace_as_json_and_what_was_paid_for_is_not_paid_for_twice(
    quick: Quick, small_index: Path, model: Endpoint
) -> None:
    says(model, FACT, FACT, ANSWERED, FOUND)
    code, stdout, _ = quick("ask", small_index, "Which city?", "--effort", "high", "--json")
    assert code == 0
    trace = json.loads(stdout)
    assert trace["steps"][0]["usage"]["tokens_in"] == 33, "the endpoint's own counts"
    assert trace["supported"] is False, "no passage of this index says so"
    assert "secret-key" not in stdout
    asked = len(model.requests)
    _, stdout, _ = quick("ask", small_index, "Which city?", "--effort", "high")
    assert len(model.requests) == asked
    assert "0 calls" in stdout
    assert "from the cache" in stdout
    assert b"secret-key" not in Path("completions.sqlite").read_bytes()


def test_a_repaired_model_is_asked_again(quick: Quick, small_index: Path, model: Endpoint) -> None:
    """Nonsense is the model's failure, not the documents', and is not kept."""
    model.says("I am a helpful assistant.")
    code, stdout, stderr = quick("ask", small_index, "Which city?", "--effort", "low")
    assert code == 3
    assert "The model failed, so there is no answer." in stdout
    assert "documents" not in stdout
    assert "[1] " in stdout, "the passages"
    assert stderr.strip() == (
        "triplebeam: The model's reply holds no JSON object; it begins with 'I am a helpful assistant.': "
        "ask again or use a stronger model."
    )
    code, stdout, _ = quick("ask", small_index, "Which city?", "--effort", "low", "--json")
    assert (code, json.loads(stdout)["outcome"]) == (3, "model_failed")
    assert json.loads(stdout)["passages"]
    says(model, FACT, FOUND)
    assert quick("ask", small_index, "Which city?", "--effort", "low")[0] == 0


@pytest.mark.parametrize("by", ["flag", "setting"])
def test_the_cache_can_be_passed_over(
    quick: Quick, small_index: Path, model: Endpoint, monkeypatch: pytest.MonkeyPatch, by: str
) -> None:
    flags = ["--no-cache"] if by == "flag" else []
    says(model, FACT, FOUND, FACT, {**FOUND, "answer": "Linz", "sentence": "It is Linz."})
    assert "Vienna" in quick("ask", small_index, "Which city?", "--effort", "low")[1]
    with monkeypatch.context() as patched:
        if by == "setting":
            patched.setenv("TRIPLEBEAM_NO_CACHE", "1")
        assert "It is Linz." in quick("ask", small_index, "Which city?", "--effort", "low", *flags)[1]
    assert "It is Linz." in quick("ask", small_index, "Which city?", "--effort", "low")[1], "the new reply is stored"
    assert len(model.requests) == 4


def test_an_endpoint_that_is_gone_is_one_line_and_the_passages(
    quick: Quick, small_index: Path, model: Endpoint, monkeypatch: pytest.MonkeyPatch
) -> None:
    model.refuses(401, "bad key")
    refused = "answered HTTP 401"
    nobody = "http://127.0.0.1:1/v1 cannot be reached"
    page = "is no chat completion; it begins with '<html>"
    for said, address in ((refused, model.base_url), (page, model.base_url), (nobody, "http://127.0.0.1:1/v1")):
        monkeypatch.setenv("TRIPLEBEAM_BASE_URL", address)
        code, stdout, stderr = quick("ask", small_index, "Which city?")
        assert code == 3
        assert [said in line for line in stderr.strip().splitlines()] == [True]
        assert "[1] " in stdout
        assert "secret-key" not in stderr + stdout
        code, stdout, stderr = quick("ask", small_index, "Which city?", "--json")
        answer = json.loads(stdout)
        assert (code, answer["outcome"], len(answer["passages"])) == (3, "model_failed", 3)
        assert said in answer["verdict"]
        model.answer = lambda request: (200, "<html>Welcome</html>")
