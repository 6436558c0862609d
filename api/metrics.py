"""Prometheus metrics of one application, in a registry of its own: no tenant, no caller and no word of a query."""

from __future__ import annotations

from collections import Counter as Tally
from collections.abc import Iterable, Iterator, Sequence
from typing import Final

from prometheus_client import CollectorRegistry, Counter, Gauge, Histogram, generate_latest
from prometheus_client.core import GaugeMetricFamily, Metric
from prometheus_client.registry import Collector

from api.trail import Trail
from search_config import fields
from search_config.client import BulkItem, Engine
from search_config.errors import MafteachError
from search_config.names import Names
from search_config.records import DocumentState

# Seconds; a search takes 20 to 200 ms, an answer by a model several seconds.
BUCKETS: Final = (0.005, 0.01, 0.025, 0.05, 0.1, 0.25, 0.5, 1.0, 2.5, 5.0, 10.0, 30.0)
MS_PER_S: Final = 1000.0
# The label of requests that no route took; their paths are anybody's text.
NO_ROUTE: Final = "none"


class DocumentStates(Collector):
    """Documents of all tenants by state, counted when they are asked for, and whether the engine answers."""

    def __init__(self, engine: Engine, names: Names) -> None:
        self._engine = engine
        self._names = names

    def describe(self) -> Iterable[Metric]:
        """Nothing, so that registering does not ask the engine."""
        return ()

    def collect(self) -> Iterator[Metric]:
        """The gauges; where the engine does not answer, only that."""
        up = GaugeMetricFamily("mafteach_engine_up", "1 while the engine answers.")
        try:
            counts = self._counts()
        except MafteachError:
            up.add_metric([], 0)
            yield up
            return
        up.add_metric([], 1)
        yield up
        states = GaugeMetricFamily("mafteach_documents", "Documents by state.", labels=["state"])
        for state in DocumentState:
            states.add_metric([str(state)], counts.get(str(state), 0))
        yield states

    def _counts(self) -> dict[str, int]:
        body = {"size": 0, "aggs": {"states": {"terms": {"field": fields.STATE, "size": len(DocumentState)}}}}
        answer = self._engine.request("POST", f"/{self._names.documents}/_search", body=body, retry=False)
        return {bucket["key"]: bucket["doc_count"] for bucket in answer["aggregations"]["states"]["buckets"]}


class Metrics:
    """Everything that is counted."""

    def __init__(self, engine: Engine, names: Names) -> None:
        self._registry = registry = CollectorRegistry(auto_describe=False)
        self._requests = Histogram(
            "mafteach_request_seconds",
            "Seconds until an answer was sent.",
            ["method", "route", "status"],
            buckets=BUCKETS,
            registry=registry,
        )
        self._stages = Histogram(
            "mafteach_stage_seconds", "Seconds of a stage.", ["route", "stage"], buckets=BUCKETS, registry=registry
        )
        self._refusals = Counter(
            "mafteach_refusals", "Answers that are a refusal.", ["route", "reason"], registry=registry
        )
        self._empty = Counter("mafteach_no_result", "Searches without a hit.", ["route"], registry=registry)
        self._degraded = Counter("mafteach_degraded", "Answers without a leg.", ["route", "leg"], registry=registry)
        self._truncations = Counter(
            "mafteach_truncations", "Texts that were not read whole.", ["route", "what"], registry=registry
        )
        self._bulk = Counter(
            "mafteach_bulk_items", "Items of bulk requests by outcome.", ["action", "outcome"], registry=registry
        )
        self._lost = Counter("mafteach_query_log_lost", "Rows of the query log that are lost.", registry=registry)
        self._active = Gauge("mafteach_requests_active", "Requests under way.", registry=registry)
        registry.register(DocumentStates(engine, names))

    def begun(self) -> None:
        """A request came."""
        self._active.inc()

    def ended(self, method: str, route: str | None, status: int, seconds: float, trail: Trail) -> None:
        """A request was answered."""
        self._active.dec()
        name = route or NO_ROUTE
        self._requests.labels(method, name, str(status)).observe(seconds)
        for stage, milliseconds in trail.took_ms.items():
            self._stages.labels(name, stage).observe(milliseconds / MS_PER_S)
        if trail.refused:
            self._refusals.labels(name, trail.reason or "other").inc()
        if trail.hits == 0:
            self._empty.labels(name).inc()
        for leg in trail.degraded:
            self._degraded.labels(name, leg).inc()
        for what in trail.truncated:
            self._truncations.labels(name, what).inc()

    def bulk(self, items: Sequence[BulkItem]) -> None:
        """A bulk request was answered."""
        for (action, outcome), count in Tally((item.action, _outcome(item)) for item in items).items():
            self._bulk.labels(action, outcome).inc(count)

    def lost(self, rows: int) -> None:
        """Rows of the query log could not be kept."""
        self._lost.inc(rows)

    def page(self) -> bytes:
        """All metrics in Prometheus's text format."""
        return generate_latest(self._registry)


def _outcome(item: BulkItem) -> str:
    if item.ok:
        return "done"
    return "not_now" if item.transient else "refused"
