"""The server as a whole: its state, its limits, its errors, its numbers; no request ends in an error of the server."""

import logging
import threading
from pathlib import Path

import anyio
import pytest
import schemathesis
from fastapi.testclient import TestClient
from hypothesis import HealthCheck, given, settings
from opentelemetry import trace
from opentelemetry.sdk.trace import TracerProvider
from opentelemetry.sdk.trace.export import SimpleSpanProcessor
from opentelemetry.sdk.trace.export.in_memory_span_exporter import InMemorySpanExporter
from schemathesis import Case

from patience import SECONDS
from serve.asking.served_world import QUESTION, on_loopback, one_reading, wait_until
from serve.http.small_server import Make, error_of
from trials import FULL
from triplebeam.errors import (
    BadInputError,
    ClusterError,
    ExtraMissingError,
    IndexBusyError,
    ModelMissingError,
    TriplebeamError,
)
from triplebeam.serve import running
from triplebeam.serve.http.errors import problem_of
from triplebeam.serve.library import Library
from triplebeam.serve.limits import Limits
from triplebeam.serve.running import Runner, TimeLimitError, TooManyAgentsError
from triplebeam.settings import Settings
from triplebeam.support import prepare
from triplebeam.testing.scripted import Scripted


def test_state(client: TestClient) -> None:
    assert client.get("/health").json() == {"status": "ok"}
    assert client.get("/ready").json() == {"status": "ok", "indexes": {"world": "ok"}}
    assert client.get("/api/version").json()["name"] == "triplebeam"
    paths = client.get("/api/schema").json()["paths"]
    assert "/api/indexes/{name}/documents" in paths
    assert "/v1/chat/completions" in paths


def test_a_server_that_answers_needs_the_weights_that_check_facts(make: Make, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("triplebeam.support.prepare", prepare)
    with make() as searches, make(model=Scripted([])) as answers:
        assert searches.get("/ready").status_code == 200
        ready = answers.get("/ready")
    assert ready.status_code == 503
    assert "granite" in ready.json()["indexes"]["world"]


def test_a_wrong_request_is_refused_in_words_about_the_request(client: TestClient) -> None:
    for body, kind, said in (
        ('{"question": "river", "kk": 3}', "application/json", "body.kk: there is no such parameter here"),
        ("{}", "application/json", "body.question: it is missing"),
        ('{"question":', "application/json", "the body is not JSON"),
        ('{"question": "river"}', "text/plain", "with the header Content-Type: application/json"),
    ):
        response = client.post("/api/indexes/world/search", content=body, headers={"Content-Type": kind})
        assert said in error_of(response, 400)[1]


def test_what_a_cluster_says_and_which_extra_is_lacking_is_for_the_log_alone(
    caplog: pytest.LogCaptureFixture,
) -> None:
    problem = problem_of(ClusterError("OpenSearch at opensearch://inner:9200/x replied 500 (a reason)."), str)
    assert problem.message.startswith("the cluster of this index cannot be reached")
    assert not any(word in problem.message for word in ("inner", "9200", "a reason"))
    assert "opensearch://inner:9200/x replied 500 (a reason)" in caplog.text
    problem = problem_of(ExtraMissingError("mcp"), str)
    assert (problem.status, "lacks the extra 'mcp'" in problem.message, "/" in problem.message) == (503, True, False)
    assert "[mcp]" in caplog.text


def test_an_error_of_an_index_on_a_cluster_does_not_name_its_hosts(client: TestClient) -> None:
    library: Library = client.app.state.library  # type: ignore[attr-defined]
    assert library.redact("see opensearchs://one:9200,[::1]:9201/films there") == "see films there"
    said = library.redact(f"m is not complete in {library.settings.home}: copy it.")
    assert said == "m is not complete in the server's folder of weights: copy it."


def test_our_errors_have_a_status_each() -> None:
    assert (problem_of(BadInputError("x"), str).status, problem_of(BadInputError("x"), str).code) == (400, "bad_input")
    assert problem_of(ModelMissingError("x"), str).status == 503
    assert problem_of(IndexBusyError("x"), str).status == 409
    kinds = TriplebeamError.__subclasses__()
    assert all(problem_of(kind("x"), str).status != 500 for kind in kinds if kind.__module__ == "triplebeam.errors")


def test_a_bug_is_logged_with_an_id_and_reported_without_details(
    make: Make, monkeypatch: pytest.MonkeyPatch, caplog: pytest.LogCaptureFixture
) -> None:
    def broken(self: Library) -> list[str]:
        raise ZeroDivisionError("the secret")

    with make() as client:
        monkeypatch.setattr(Library, "names", broken)
        with caplog.at_level(logging.ERROR, "triplebeam.http"):
            code, message = error_of(client.get("/api/indexes"), 500)
    assert code == "internal"
    assert "secret" not in message
    assert message.rpartition(" ")[2].strip(".") in caplog.text


def test_nobody_learns_where_the_server_keeps_its_files(make: Make, data: Path) -> None:
    next(data.glob("world.index/generations/*/passage_vectors.npy")).unlink()
    with make() as client:
        search = client.post("/api/indexes/world/search", json={"question": "lake"})
        code, message = error_of(search, 503)
        assert (code, "world.index" in message) == ("damaged_index", True)
        assert str(data) not in search.text + client.get("/ready").text
        (data / "keys.json").write_text("[{")
        assert str(data) not in error_of(client.get("/api/methods"), 503)[1]


def test_requests_are_counted_by_the_template_of_their_route(client: TestClient) -> None:
    client.get("/api/indexes/world")
    client.get("/api/indexes/nowhere")
    client.get("/api/no/such/path")
    client.post("/api/indexes/world/search", json={"question": "hell", "method": "bm25"})
    client.request("BREW", "/api/indexes")
    text = client.get("/metrics").text
    assert 'triplebeam_requests_total{method="GET",route="/api/indexes/{name}",status="200"} 1.0' in text
    assert 'triplebeam_requests_total{method="GET",route="/api/indexes/{name}",status="404"} 1.0' in text
    assert 'method="POST",route="/api/indexes/{name}/search",status="200"} 1.0' in text
    assert 'method="other"' in text
    assert 'route="none",status="404"} 1.0' in text
    assert "nowhere" not in text
    assert "triplebeam_agents_running 0.0" in text
    assert "triplebeam_searches_waiting 0.0" in text


def test_two_apps_count_apart(make: Make) -> None:
    with make() as one, make() as other:
        one.get("/health")
        assert "/health" not in other.get("/metrics").text


@pytest.mark.anyio
async def test_a_search_past_its_time_is_504_and_its_thread_is_accounted_for(data: Path) -> None:
    library = Library([data], Settings())
    runner = Runner(library, Limits(search_seconds=0.05, searches=1))
    free = threading.Event()
    with pytest.raises(TimeLimitError, match=r"limit of 0\.05 seconds") as slow:
        await runner.run(free.wait, SECONDS)
    with pytest.raises(TimeLimitError):
        await runner.run(print)
    assert problem_of(slow.value, str).status == 504
    assert runner.busy
    assert runner.counts["searches waiting"] == 0
    free.set()
    await anyio.to_thread.run_sync(wait_until, lambda: not runner.busy)
    assert await Runner(library, Limits()).run(max, 1, 2) == 2
    runner.close()


def test_one_agent_too_many_is_429_until_one_has_ended(data: Path) -> None:
    runner = Runner(Library([data], Settings()), Limits(agents=1))
    free = threading.Event()
    running = runner.start_agent(free.wait)
    with pytest.raises(TooManyAgentsError) as refused:
        runner.start_agent(print)
    assert (problem_of(refused.value, str).status, runner.counts["agents running"]) == (429, 1)
    free.set()
    assert running.result(SECONDS)
    wait_until(lambda: not runner.counts["agents running"])
    assert runner.start_agent(lambda: 2).result(SECONDS) == 2
    runner.close()


def test_folders_that_cannot_be_served(tmp_path: Path) -> None:
    (tmp_path / "bad name.index").mkdir()
    for folders in ([], [tmp_path / "nowhere"], [tmp_path / "bad name.index"]):
        with pytest.raises(BadInputError):
            Library(folders, Settings())


def test_a_search_an_answer_and_its_steps_are_spans_where_they_are_wanted(
    make: Make, monkeypatch: pytest.MonkeyPatch
) -> None:
    kept = InMemorySpanExporter()
    provider = TracerProvider()
    provider.add_span_processor(SimpleSpanProcessor(kept))
    monkeypatch.setattr(trace, "get_tracer", provider.get_tracer)
    for wanted, spans in (("", []), ("1", ["search", "step", "step", "ask"])):
        monkeypatch.setenv("TRIPLEBEAM_TRACING", wanted)
        running.is_tracing.cache_clear()
        with Scripted(one_reading()) as model:
            client = make(model=model)
            client.post("/api/indexes/world/search", json={"question": QUESTION, "method": "bm25"})
            client.post("/api/indexes/world/ask", json={"question": QUESTION})
        assert [span.name for span in kept.get_finished_spans()] == spans, "the last step is the answer"
    *_, step, ask = kept.get_finished_spans()
    assert ask.attributes == {"index": "world", "method": "auto"}
    assert step.parent
    assert step.parent.span_id == ask.context.span_id
    assert not any(QUESTION in str(span.attributes) for span in kept.get_finished_spans())
    running.is_tracing.cache_clear()


EXAMPLES = 12 if FULL else 4
#: A search that is too slow for a loaded machine, a model nobody configured: told, not broken.
TOLD = (503, 504)


@pytest.mark.slow
def test_no_request_ends_in_an_error_of_the_server(make: Make) -> None:
    app = make(limits=Limits(search_seconds=5)).app
    with on_loopback(app) as address:  # type: ignore[arg-type]
        schema = schemathesis.openapi.from_url(f"{address}/api/schema")
        operations = [found.ok() for found in schema.get_all_operations()]
        operations.sort(key=lambda operation: operation.method == "delete")  # the others need what is deleted
        assert len(operations) > 15
        for operation in operations:
            strategies = [operation.as_strategy(generation_mode=mode) for mode in schemathesis.GenerationMode]

            @settings(max_examples=EXAMPLES, derandomize=True, suppress_health_check=list(HealthCheck))
            @given(case=strategies[0] | strategies[1])
            def holds(case: Case) -> None:
                if "name" in case.path_parameters and len(case.path_parameters["name"]) % 2:
                    case.path_parameters["name"] = "world"
                response = case.call(base_url=address, timeout=SECONDS)
                assert response.status_code < 500 or response.status_code in TOLD, (case.as_curl_command(), response)
                if response.status_code >= 400:
                    assert {"code", "message"} <= set(response.json()["error"]), case.as_curl_command()

            holds()
