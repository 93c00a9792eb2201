"""Extraction by a model on the command line: estimated, kept within a budget, retried, and looked at by a doctor."""

import json
import re
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any, TypeAlias

import pytest
import typer
from typer.testing import CliRunner

from generate.loopback_endpoint import Endpoint, chat_completion, serve
from triplebeam.errors import TriplebeamError
from triplebeam.serve.cli.doctor import doctor
from triplebeam.serve.cli.index import index
from triplebeam.serve.cli.status import status

#: Runs a command: its exit code, stdout and stderr, or the error a user would be told.
Command: TypeAlias = Callable[..., tuple[int, str, str]]

COUNT = 30
#: Its price comes with the package: 0.25 and 2.00 US dollars a million tokens.
MODEL = "gpt-5-mini"


@pytest.fixture
def command(tmp_path: Path, monkeypatch: pytest.MonkeyPatch, tiny_model: str) -> Command:
    """The commands in a folder with a corpus, no model and no weights but the tiny embedder's."""
    for name in ("MODEL", "BASE_URL", "API_KEY", "OFFLINE", "EXTRACTION_MODEL", "COMPLETIONS"):
        monkeypatch.delenv(f"TRIPLEBEAM_{name}", raising=False)
    for name in ("OPENAI_API_KEY", "OPENAI_BASE_URL"):
        monkeypatch.delenv(name, raising=False)
    monkeypatch.setenv("TRIPLEBEAM_HOME", str(tmp_path / "home"))
    monkeypatch.setenv("TRIPLEBEAM_EMBEDDER", tiny_model)
    monkeypatch.setenv("COLUMNS", "200")
    monkeypatch.setenv("NO_PROXY", "127.0.0.1")
    monkeypatch.chdir(tmp_path)
    rows = [
        {"id": f"p{n:02}", "text": f"The river {n:02} flows north." + " It is long." * (n % 7)} for n in range(COUNT)
    ]
    (tmp_path / "rivers.jsonl").write_text("\n".join(map(json.dumps, rows)), encoding="utf-8")
    app = typer.Typer()
    for each in (index, doctor, status):
        app.command()(each)

    def run(*arguments: object) -> tuple[int, str, str]:
        result = CliRunner().invoke(app, [str(argument) for argument in arguments])
        if isinstance(result.exception, TriplebeamError):
            return 2, result.stdout, f"{result.stderr}{result.exception}"
        if result.exception and not isinstance(result.exception, SystemExit):
            raise result.exception
        return result.exit_code, result.stdout, result.stderr

    return run


def river(request: dict[str, Any]) -> int:
    """Which passage a request is about."""
    return int(request["messages"][1]["content"].partition("river ")[2][:2])


def extraction(request: dict[str, Any]) -> dict[str, Any]:
    """A triple, at a price that rises with the passage's length; whoever asks something else is greeted."""
    if "response_format" not in request:
        return chat_completion("ready")
    user = request["messages"][1]["content"]
    reply = chat_completion('{"entities": [], "triples": [["The river", "flows", "north"]]}')
    return {**reply, "usage": {"prompt_tokens": 1000 + len(user) // 4, "completion_tokens": 10 + len(user) // 2}}


@pytest.fixture
def endpoint(command: Command, monkeypatch: pytest.MonkeyPatch) -> Iterator[Endpoint]:
    with serve() as endpoint:
        endpoint.answer = lambda request: (200, extraction(request))
        monkeypatch.setenv("TRIPLEBEAM_MODEL", MODEL)
        monkeypatch.setenv("TRIPLEBEAM_BASE_URL", endpoint.base_url)
        yield endpoint


def counts(command: Command) -> dict[str, int]:
    counted: dict[str, int] = json.loads(command("status", "my.index", "--json")[1])["counts"]
    return counted


class TestDryRun:
    """What it will cost, before it does."""

    ARGUMENTS = ("index", "my.index", "rivers.jsonl", "--extractor", "llm")

    def test_the_sample_is_paid_for_once_and_the_estimate_is_right(self, command: Command, endpoint: Endpoint) -> None:
        code, stdout, stderr = command(*self.ARGUMENTS, "--dry-run")
        assert code == 0
        assert not Path("my.index").exists()
        assert len(endpoint.requests) == 20
        assert "Extracting 20 of 30 passages" in stderr
        assert "20 passages: 1.0 triples per passage, 0 failed" in stdout
        assert re.search(r"passages +30\n +characters +[\d,]+\n", stdout)
        estimates = re.findall(r"tokens (?:in|out) +([\d,]+) ± ([\d,]+)", stdout)
        assert command(*self.ARGUMENTS)[0] == 0
        assert len(endpoint.requests) == COUNT, "the sample's completions are used again"
        replies = [extraction(request)["usage"] for request in endpoint.requests]
        for (total, spread), name in zip(estimates, ("prompt_tokens", "completion_tokens"), strict=True):
            truth = sum(reply[name] for reply in replies)
            assert abs(truth - int(total.replace(",", ""))) <= int(spread.replace(",", "")) + 1
        assert "price  $0.0" in stdout

    def test_an_unknown_price(self, command: Command, endpoint: Endpoint, monkeypatch: pytest.MonkeyPatch) -> None:
        monkeypatch.setenv("TRIPLEBEAM_MODEL", "my-own")
        _, stdout, _ = command(*self.ARGUMENTS, "--dry-run")
        assert 'unknown: set it in triplebeam.toml, prices = {"my-own" =' in stdout

    def test_no_model(self, command: Command) -> None:
        code, stdout, message = command(*self.ARGUMENTS, "--dry-run")
        assert (code, stdout) == (2, "")
        assert "TRIPLEBEAM_MODEL" in message

    def test_without_a_model_it_costs_nothing(self, command: Command) -> None:
        code, stdout, _ = command("index", "my.index", "rivers.jsonl", "--dry-run")
        assert (code, Path("my.index").exists()) == (0, False)
        assert "nothing: the extractor local calls no model" in stdout

    def test_what_cannot_be_estimated(self, command: Command, endpoint: Endpoint) -> None:
        Path("empty").mkdir()
        assert "nothing to index" in command("index", "my.index", "empty", "--extractor", "llm", "--dry-run")[2]
        assert "--extractor llm only" in command(*self.ARGUMENTS, "--keywords", "--dry-run")[2]
        assert "give only one" in command("index", "my.index", "--retry-failed", "--dry-run")[2]
        assert endpoint.requests == []


class TestBudget:
    """A run stops at the cap and the next goes on."""

    def test_it_stops_and_goes_on(self, command: Command, endpoint: Endpoint) -> None:
        arguments = ("index", "my.index", "rivers.jsonl", "--extractor", "llm", "--budget", "0.004")
        code, stdout, stderr = command(*arguments)
        assert (code, stdout) == (0, "")
        asked = len(endpoint.requests)
        assert 2 < asked < COUNT
        assert f"leaves {COUNT - asked} passages unfinished" in stderr
        assert counts(command)["passages_without_extraction"] == COUNT - asked
        while len(endpoint.requests) < COUNT:
            before = len(endpoint.requests)
            assert command(*arguments)[0] == 0
            assert len(endpoint.requests) > before
        assert len(endpoint.requests) == COUNT, "nothing is paid for twice"
        assert counts(command)["triples"] == COUNT

    def test_an_unknown_price(self, command: Command, endpoint: Endpoint, monkeypatch: pytest.MonkeyPatch) -> None:
        monkeypatch.setenv("TRIPLEBEAM_MODEL", "my-own")
        arguments = ("index", "my.index", "rivers.jsonl", "--extractor", "llm", "--budget", "0.004")
        code, _, message = command(*arguments)
        assert code == 2
        assert "the price of the model 'my-own' is not known" in message
        Path("triplebeam.toml").write_text('prices = {"my-own" = {input = 0.25, output = 2.0}}', encoding="utf-8")
        assert command(*arguments)[0] == 0

    def test_what_cannot_be_meant(self, command: Command) -> None:
        for arguments, words in (
            (("rivers.jsonl", "--budget", "1"), "extractors that call a model"),
            (("rivers.jsonl", "--retry-failed"), "leave one of them out"),
            ((), "there is no SOURCE: name the index, then files or folders, as in `triplebeam index my.index docs/`"),
        ):
            code, stdout, message = command("index", "my.index", *arguments)
            assert (code, stdout) == (2, "")
            assert words in message
        assert not Path("my.index").exists()


class TestQuarantine:
    """What fails is told, kept and taken up again."""

    def test_failures_are_reported_by_reason_and_retried(self, command: Command, endpoint: Endpoint) -> None:
        endpoint.answer = lambda request: (
            200,
            chat_completion(f"Sorry {river(request)}.") if river(request) % 10 == 3 else extraction(request),
        )
        arguments = ("index", "my.index", "rivers.jsonl", "--extractor", "llm", "--max-failures", "0.2")
        code, stdout, stderr = command(*arguments)
        assert (code, stdout) == (1, ""), "the exit code says that some failed"
        assert "3 × The model's reply holds no JSON object" in stderr
        assert "(p03, p13, p23)" in stderr
        assert counts(command)["passages_failed"] == 3
        code, stdout, _ = command("doctor", "my.index")
        assert "the extraction of 3 passages failed → run `triplebeam index my.index --retry-failed`" in stdout
        endpoint.answer = lambda request: (200, extraction(request))
        before = len(endpoint.requests)
        code, stdout, stderr = command("index", "my.index", "--retry-failed")
        assert (code, stdout) == (0, "")
        assert sorted(map(river, endpoint.requests[before:])) == [3, 13, 23]
        assert (counts(command)["passages_failed"], counts(command)["triples"]) == (0, COUNT)

    def test_too_many_stop_the_run(self, command: Command, endpoint: Endpoint) -> None:
        endpoint.says("Sorry.")
        code, _, message = command("index", "my.index", "rivers.jsonl", "--extractor", "llm")
        assert code == 2
        assert "passages failed, more than the 5% allowed" in message
        assert "calls, " in message, "what was paid is told all the same"
        assert len(endpoint.requests) < 2 * 40

    def test_many_passages_without_triples_are_suspicious(self, command: Command, endpoint: Endpoint) -> None:
        endpoint.says('{"entities": [], "triples": []}')
        code, _, stderr = command("index", "my.index", "rivers.jsonl", "--extractor", "llm")
        assert code == 0
        assert "30 of 30 passages have no triples, which is suspicious" in stderr
        assert counts(command)["passages_without_triples"] == COUNT


class TestDoctor:
    """One line a check, and an exit code for scripts."""

    def test_nothing_configured_is_not_broken(self, command: Command) -> None:
        code, stdout, _ = command("doctor")
        assert code == 0
        lines = stdout.splitlines()
        assert [line.split()[0] for line in lines] == ["–", "✔", "–"]
        assert "TRIPLEBEAM_MODEL" in lines[0]
        assert "triplebeam doctor --install" in lines[2]

    def test_weights_that_may_not_be_fetched_are(self, command: Command, monkeypatch: pytest.MonkeyPatch) -> None:
        monkeypatch.setenv("TRIPLEBEAM_OFFLINE", "1")
        monkeypatch.delenv("TRIPLEBEAM_EMBEDDER")
        code, stdout, _ = command("doctor")
        assert code == 1
        assert [line.split()[0] for line in stdout.splitlines()] == ["–", "✘", "✘"]

    def test_all_is_well(self, command: Command, endpoint: Endpoint) -> None:
        command("index", "my.index", "rivers.jsonl", "--extractor", "llm")
        code, stdout, _ = command("doctor", "my.index", "--json")
        report = json.loads(stdout)
        states = {check["name"]: check["state"] for check in report["checks"]}
        assert (code, report["healthy"]) == (0, True)
        assert states == {
            "language model": "ok",
            "endpoint": "ok",
            "log-probabilities": "note",
            "tokens": "ok",
            "output mode": "ok",
            "valid JSON": "ok",
            "triples": "ok",
            "embedder": "ok",
            "English parser": "note",
            "index": "ok",
            "quarantine": "ok",
        }

    def test_an_endpoint_without_json_schema(self, command: Command, endpoint: Endpoint) -> None:
        def answer(request: dict[str, Any]) -> tuple[int, dict[str, Any]]:
            if request.get("response_format", {}).get("type") == "json_schema":
                return 400, {"error": {"message": "response_format json_schema is not supported"}}
            return 200, extraction(request)

        endpoint.answer = answer
        code, stdout, _ = command("doctor")
        assert code == 0
        assert "JSON mode, without a schema →" in stdout

    def test_a_dead_endpoint(self, command: Command, endpoint: Endpoint) -> None:
        endpoint.refuses(401, "wrong key")
        code, stdout, _ = command("doctor")
        assert code == 1
        assert len(endpoint.requests) == 1
        assert "✘" in stdout

    def test_an_index_that_is_not_there(self, command: Command) -> None:
        code, stdout, _ = command("doctor", "no.index")
        assert code == 1
        assert "there is no index at no.index: make one with" in stdout


def test_each_command_has_examples(command: Command) -> None:
    for name in ("doctor", "index"):
        code, stdout, _ = command(name, "--help")
        assert code == 0
        assert f"triplebeam {name} " in stdout
