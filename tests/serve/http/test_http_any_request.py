"""Requests of every kind the schema allows, and some it does not: none may end in an error of the server."""

import pytest
import schemathesis
from hypothesis import HealthCheck, given, settings
from schemathesis import Case

from patience import SECONDS
from serve.http.small_server import Make, really_served
from trials import FULL
from triplebeam.serve.limits import Limits

EXAMPLES = 12 if FULL else 4
#: A search that is too slow for a loaded machine, a model nobody configured: told, not broken.
TOLD = (503, 504)


@pytest.mark.slow
def test_no_request_ends_in_an_error_of_the_server(make: Make) -> None:
    app = make(limits=Limits(search_seconds=5)).app
    with really_served(app) as address:  # type: ignore[arg-type]
        schema = schemathesis.openapi.from_url(f"{address}/api/schema")
        operations = [found.ok() for found in schema.get_all_operations()]
        operations.sort(key=lambda operation: operation.method == "delete")  # the others need what is deleted
        assert len(operations) > 15
        for operation in operations:
            strategies = [operation.as_strategy(generation_mode=mode) for mode in schemathesis.GenerationMode]

            @settings(
                max_examples=EXAMPLES,
                deadline=None,
                derandomize=True,
                database=None,
                suppress_health_check=list(HealthCheck),
            )
            @given(case=strategies[0] | strategies[1])
            def holds(case: Case) -> None:
                if "name" in case.path_parameters and len(case.path_parameters["name"]) % 2:
                    case.path_parameters["name"] = "world"
                response = case.call(base_url=address, timeout=SECONDS)
                assert response.status_code < 500 or response.status_code in TOLD, (case.as_curl_command(), response)
                if response.status_code >= 400:
                    assert {"code", "message"} <= set(response.json()["error"]), case.as_curl_command()

            holds()
