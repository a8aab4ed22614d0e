"""The HTTP API keeps to its own OpenAPI document, whatever it is sent (schemathesis)."""

from pathlib import Path
from typing import Any

import pytest
import schemathesis
from hypothesis import HealthCheck, Phase, settings
from schemathesis.checks import not_a_server_error
from schemathesis.specs.openapi.checks import response_schema_conformance, status_code_conformance

from deep_research_server.http_app import make_app
from deep_research_server.run_service import ServerOptions
from tests.server.conftest import Finished

SCHEMA = schemathesis.openapi.from_dict(make_app(ServerOptions(Path("/nonexistent"))).openapi())
CHECKS = [not_a_server_error, status_code_conformance, response_schema_conformance]


@pytest.mark.filterwarnings("ignore::hypothesis.errors.HypothesisDeprecationWarning")
@SCHEMA.exclude(path_regex="/events$").exclude(path_regex="^/v1/", method="POST").parametrize()
@settings(
    max_examples=8,
    deadline=None,
    database=None,
    derandomize=True,
    phases=(Phase.explicit, Phase.generate),
    suppress_health_check=list(HealthCheck),
)
def test_no_request_breaks_the_server(case: Any, finished: Finished) -> None:
    known = {"run_id": finished.run_id, "source": "s1", "passage": "s1p1", "number": 1}
    if case.method == "GET":  # where nothing is begun, what a path names exists
        case.path_parameters = {n: known.get(n, v) for n, v in (case.path_parameters or {}).items()}
    if case.operation.path == "/api/v1/runs" and case.method == "POST" and isinstance(case.body, dict):
        case.body = {**case.body, "model_provider": "finder", "strategy": "", "sources": None, "workflow": "quick"}
    answer = case.call_and_validate(base_url=finished.address, checks=CHECKS, timeout=60)
    if case.operation.path == "/api/v1/runs" and answer.status_code == 201:
        finished.http.delete(f"/api/v1/runs/{answer.json()['id']}")


def test_the_document_describes_every_route() -> None:
    document = make_app(ServerOptions(Path("/nonexistent"))).openapi()
    assert len(document["paths"]) >= 25
    for path, methods in document["paths"].items():
        for method, operation in methods.items():
            assert operation["summary"], (method, path)
            assert operation.get("description"), (method, path)
            assert operation["responses"], (method, path)
