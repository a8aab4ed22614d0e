"""Spans that are sent only where a collector is named; metrics of a worker."""

import json
import subprocess
import sys
import urllib.request
from pathlib import Path

import pytest

from deep_research_server.workers.run_queue import WorkerMetrics
from tests.model.harness import research, served
from tests.support.fake_web import FakeWeb
from tests.support.web_answers import json_answer

_TRACED = """
import sys
from deep_research.run_context.telemetry import span
with span("chat m", gen_ai__request__model="m"):
    pass
print("opentelemetry" in sys.modules)
"""


@pytest.mark.parametrize("named", [True, False])
def test_spans_are_sent_only_where_a_collector_is_named(named: bool, monkeypatch: pytest.MonkeyPatch) -> None:
    with FakeWeb() as web:
        web.site("collector.test").on("/v1/traces", json_answer({}), method="POST")
        if named:
            monkeypatch.setenv("OTEL_EXPORTER_OTLP_ENDPOINT", web.base("collector.test"))
        said = subprocess.run([sys.executable, "-c", _TRACED], capture_output=True, text=True, timeout=60, check=True)
        assert said.stdout.strip() == str(named)
        assert bool(web.count("collector.test", "/v1/traces")) is named
        if named:
            assert b"gen_ai.request.model" in web.requests[-1].body


def test_a_worker_serves_its_metrics(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    import socket  # noqa: PLC0415

    with socket.socket() as free:
        free.bind(("127.0.0.1", 0))
        port = free.getsockname()[1]
    with served(monkeypatch):
        report = research(tmp_path).report
    metrics = WorkerMetrics(port)
    metrics.begin()
    metrics.end("finished", report)
    with urllib.request.urlopen(f"http://127.0.0.1:{port}/metrics", timeout=10) as answer:
        text = answer.read().decode()
    assert 'deep_research_runs_total{status="finished"} 1.0' in text
    assert f'deep_research_spent_total{{what="model_calls"}} {report.ledger.model_calls}.0' in text


def test_log_records_are_lines_of_json() -> None:
    code = "from deep_research_server.workers.run_queue import log_as_json; import logging; log_as_json(); logging.getLogger('deep_research.x').info('one %s', 1)"
    said = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, timeout=60, check=True)
    line = json.loads(said.stderr)
    assert (line["level"], line["logger"], line["message"]) == ("info", "deep_research.x", "one 1")
