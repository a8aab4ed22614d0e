"""What a worker tells its operators: Prometheus metrics, and a line of JSON for each thing that it logs."""

import json
import logging
from datetime import UTC, datetime

from deep_research.data import Report
from deep_research.errors import ConfigError


class JsonLines(logging.Formatter):
    """Writes a log record as one line of JSON."""

    def format(self, record: logging.LogRecord) -> str:
        """Return the line."""
        at = datetime.fromtimestamp(record.created, UTC).isoformat(timespec="milliseconds")
        told = {"at": at, "level": record.levelname.lower(), "logger": record.name, "message": record.getMessage()}
        if record.exc_info and record.exc_info[0] is not None:
            told["error"] = f"{record.exc_info[0].__name__}: {record.exc_info[1]}"
        return json.dumps(told, ensure_ascii=False)


def log_as_json() -> None:
    """Send the program's log records to standard error, each as a line of JSON."""
    handler = logging.StreamHandler()
    handler.setFormatter(JsonLines())
    logging.basicConfig(level=logging.INFO, handlers=[handler], force=True)


class WorkerMetrics:
    """Counts what a worker does."""

    def __init__(self, port: int) -> None:
        """Serve the metrics on `port` of 127.0.0.1. Raises ConfigError without the extra."""
        try:
            from prometheus_client import Counter, Gauge, Histogram, start_http_server  # noqa: PLC0415 - an extra
        except ImportError as error:
            message = "Metrics need the extra `metrics`: pip install 'deep-research-server[metrics]'."
            raise ConfigError(message, setting="metrics-port", value=port) from error
        self._runs = Counter("deep_research_runs", "Runs by how their sitting ended.", ["status"])
        self._active = Gauge("deep_research_active_runs", "Runs that this worker carries out at the moment.")
        self._seconds = Histogram("deep_research_run_seconds", "Work at a run.", buckets=(5, 15, 60, 180, 600, 1800))
        self._spent = Counter("deep_research_spent", "Model calls, tokens, dollars, searches and sources.", ["what"])
        start_http_server(port, addr="127.0.0.1")

    def begin(self) -> None:
        """Count a run that begins, or goes on."""
        self._active.inc()

    def end(self, status: str, report: Report | None = None) -> None:
        """Count a run whose sitting has ended."""
        self._active.dec()
        self._runs.labels(status).inc()
        if report is not None:
            self._seconds.observe(report.ledger.seconds)
            for what, amount in report.ledger.model_dump(exclude={"seconds"}).items():
                self._spent.labels(what).inc(amount or 0)
