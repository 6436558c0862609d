"""OpenTelemetry traces, where a collector is configured: one span a request, and one for each of its stages."""

from __future__ import annotations

from collections.abc import Mapping
from datetime import datetime, timedelta
from typing import Any, Final

from api.trail import Trail
from search_config.errors import MissingExtra
from search_config.settings import Settings

NS: Final = 1_000_000_000
SERVICE: Final = "mafteach"
# What a search calls its own whole; the request's span is that.
WHOLE: Final = "total"


class Tracing:
    """Makes spans of requests that are over, and sends them in batches from a thread of its own."""

    def __init__(self, processor: Any) -> None:
        """Make one over a span processor of the SDK."""
        from opentelemetry.sdk.resources import SERVICE_NAME, Resource
        from opentelemetry.sdk.trace import TracerProvider

        # Not the process's global one: two applications in one process keep apart.
        self._provider = TracerProvider(resource=Resource.create({SERVICE_NAME: SERVICE}))
        self._provider.add_span_processor(processor)
        self._tracer = self._provider.get_tracer(SERVICE)

    @classmethod
    def of(cls, settings: Settings) -> Tracing | None:
        """Tracing to the configured collector; None where there is none.

        Raises:
            MissingExtra
        """
        if settings.otel_endpoint is None:
            return None
        try:
            from opentelemetry.exporter.otlp.proto.http.trace_exporter import OTLPSpanExporter
            from opentelemetry.sdk.trace.export import BatchSpanProcessor
        except ImportError as error:
            raise MissingExtra(
                "Traces need OpenTelemetry.",
                where="MAFTEACH_OTEL_ENDPOINT",
                remedy="Install it: pip install 'mafteach[otel]'",
            ) from error
        endpoint = f"{str(settings.otel_endpoint).rstrip('/')}/v1/traces"
        return cls(BatchSpanProcessor(OTLPSpanExporter(endpoint=endpoint)))

    def request(self, details: Mapping[str, Any], trail: Trail, began_at: datetime, seconds: float) -> None:
        """The spans of one request. Stages stand one after the other: their lengths are measured, their order is the
        pipeline's."""
        from opentelemetry.trace import set_span_in_context

        start = int(began_at.timestamp() * NS)
        attributes = {f"mafteach.{name}": value for name, value in details.items() if value is not None}
        attributes["mafteach.request_id"] = trail.request_id
        name = f"{details['method']} {details.get('path') or 'unknown'}"
        span = self._tracer.start_span(name, start_time=start, attributes=attributes)
        context = set_span_in_context(span)
        at = began_at
        for stage, milliseconds in trail.took_ms.items():
            if stage != WHOLE:
                child = self._tracer.start_span(stage, context=context, start_time=int(at.timestamp() * NS))
                at += timedelta(milliseconds=milliseconds)
                child.end(int(at.timestamp() * NS))
        span.end(start + int(seconds * NS))

    def close(self) -> None:
        """Send what is left."""
        self._provider.shutdown()
