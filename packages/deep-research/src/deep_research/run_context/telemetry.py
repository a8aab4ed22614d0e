"""OpenTelemetry spans of runs, model calls and searches, by GenAI conventions.

They go where `OTEL_EXPORTER_OTLP_ENDPOINT` says (any collector; Langfuse and LangSmith take OTLP as well), else
nowhere. Questions, prompts and answers are not sent: spans hold names, counts and times.
"""

from collections.abc import Iterator
from contextlib import contextmanager
from functools import cache
from typing import Any

from deep_research.errors import ConfigError
from deep_research.settings import telemetry_endpoint


@contextmanager
def span(name: str, **attributes: Any) -> Iterator[Any]:
    """Give a span for the block, with `set_attributes`; None if nothing is traced."""
    tracer = _tracer(telemetry_endpoint())
    if tracer is None:
        yield None
        return
    named = {key.replace("__", "."): value for key, value in attributes.items()}
    with tracer.start_as_current_span(name, attributes=named) as one:
        yield one


@cache
def _tracer(endpoint: str) -> Any:
    """Return the tracer or None (no endpoint); raise ConfigError without the extra."""
    if not endpoint:
        return None
    try:
        from opentelemetry.exporter.otlp.proto.http.trace_exporter import OTLPSpanExporter  # noqa: PLC0415 - an extra
        from opentelemetry.sdk.resources import Resource  # noqa: PLC0415
        from opentelemetry.sdk.trace import TracerProvider  # noqa: PLC0415
        from opentelemetry.sdk.trace.export import BatchSpanProcessor  # noqa: PLC0415
    except ImportError as error:
        message = "Traces need the extra `otel`: pip install 'deep-research[otel]'."
        raise ConfigError(message, setting="OTEL_EXPORTER_OTLP_ENDPOINT", value=endpoint) from error
    provider = TracerProvider(resource=Resource.create({"service.name": "deep-research"}))
    provider.add_span_processor(BatchSpanProcessor(OTLPSpanExporter()))
    return provider.get_tracer("deep_research")
