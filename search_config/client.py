"""The one seam to the engine: opensearch-py's client, its errors made ours, and retries by class of error."""

from __future__ import annotations

import json
from collections.abc import Callable, Iterable, Mapping, Sequence
from functools import partial
from ipaddress import ip_address
from typing import Any, Final, TypeVar, cast
from urllib.parse import urlsplit

from opensearchpy import OpenSearch, Urllib3HttpConnection
from opensearchpy import exceptions as foreign
from pydantic import BaseModel, ConfigDict
from tenacity import Retrying, retry_if_exception_type, stop_after_attempt, wait_random_exponential

from search_config.connection import EngineAccess
from search_config.errors import EngineDiskFull, EngineOverloaded, EngineRejected, EngineUnreachable, MafteachError

Json = Any
Result = TypeVar("Result")

# Statuses by which the engine says "not now": too many requests (queue, circuit breaker), unavailable, time-out.
OVERLOADED_STATUSES: Final = frozenset({429, 503, 504})
# What the engine says of an index that it closed to writes above the flood-stage watermark of the disk.
DISK_FULL: Final = "read-only-allow-delete"
# An overloaded engine usually drains its queues within seconds; five tries spread over about 15 s outlast that.
OVERLOAD_ATTEMPTS: Final = 5
OVERLOAD_WAIT_MAX_S: Final = 8.0
# A broken keep-alive connection deserves one more try; a node that is gone must be reported soon.
UNREACHABLE_ATTEMPTS: Final = 2
# Connections kept open: FastAPI's thread pool has 40 threads, each of which may ask at the same time.
POOL_SIZE: Final = 40
# Asks for an answer as it is, where the client would ask for a packed one.
UNPACKED: Final = {"accept-encoding": "identity"}


class BulkItem(BaseModel):
    """The outcome of one item of a bulk request."""

    model_config = ConfigDict(frozen=True)

    action: str
    id: str
    status: int
    error: str | None = None
    seq_no: int | None = None
    primary_term: int | None = None

    @property
    def ok(self) -> bool:
        return self.error is None

    @property
    def transient(self) -> bool:
        """Whether the same item may succeed later."""
        return self.status in OVERLOADED_STATUSES and not self.disk_full

    @property
    def disk_full(self) -> bool:
        """Whether it was refused since the engine's disk is full."""
        return self.error is not None and DISK_FULL in self.error


def disk_full(reason: str, where: str) -> EngineDiskFull:
    """The error for a write that a full disk refused. Waiting does not help, so it is never tried again by itself."""
    return EngineDiskFull(
        f"The engine's disk is full, so the index takes no more rows: {reason}.",
        where=where,
        remedy="Make room on that disk; the engine lifts the block by itself once there is room. Then repeat the "
        "command: it goes on from here.",
    )


def map_error(error: foreign.OpenSearchException | foreign.ImproperlyConfigured, where: str) -> MafteachError:
    """Our error for one of the client's; the most specific class wins. A test holds that every class is mapped."""
    if isinstance(error, foreign.SSLError):
        return EngineUnreachable(
            f"No TLS connection to OpenSearch: {error.error}.",
            where=where,
            remedy="Set MAFTEACH_OPENSEARCH_CA_FILE to its certificate authority, and use the name in its certificate.",
        )
    if isinstance(error, foreign.ConnectionError):  # ConnectionTimeout and SSLError are subclasses
        return EngineUnreachable(
            "OpenSearch does not answer.",
            where=where,
            remedy="Start it (mafteach node start), or correct MAFTEACH_OPENSEARCH_URL.",
        )
    if isinstance(error, (foreign.AuthenticationException, foreign.AuthorizationException)):
        return EngineRejected(
            f"OpenSearch does not let this service in ({error.status_code}).",
            where=where,
            remedy="Correct MAFTEACH_OPENSEARCH_USERNAME and _PASSWORD (or the AWS credentials), and the user's role.",
        )
    if isinstance(error, foreign.TransportError):
        status, reason = error.status_code, reason_of(error.info, fallback=str(error.error))
        if DISK_FULL in reason:
            return disk_full(reason, where)
        if status in OVERLOADED_STATUSES:
            return EngineOverloaded(f"OpenSearch is overloaded: {reason}.", where=where, remedy="Try again later.")
        return EngineRejected(f"OpenSearch refused this ({status}): {reason}.", where=where)
    return EngineRejected(f"The OpenSearch client failed: {error}.", where=where)


def reason_of(info: Json, *, fallback: str = "no reason given") -> str:
    """The innermost reason in an error body of the engine, as one line."""
    error = info.get("error", info) if isinstance(info, Mapping) else info
    if isinstance(error, str):
        return error
    if not isinstance(error, Mapping):
        return fallback
    causes = [error, *(error.get("root_cause") or [])]
    failed = error.get("failed_shards") or []
    causes += [shard.get("reason", {}) for shard in failed if isinstance(shard, Mapping)]
    while isinstance(causes[-1], Mapping) and isinstance(causes[-1].get("caused_by"), Mapping):
        causes.append(causes[-1]["caused_by"])
    for cause in reversed(causes):
        if isinstance(cause, Mapping) and cause.get("reason"):
            return f"{cause.get('type', 'error')}: {cause['reason']}"
    return fallback


class Engine:
    """A thin, synchronous, thread-safe wrapper: each call gives the engine's JSON or raises one of our errors."""

    def __init__(self, url: str, *, timeout_s: float, access: EngineAccess | None = None) -> None:
        """Make a client; nothing is sent yet.

        Args:
            url: the engine's address.
            timeout_s: seconds that one request may take.
            access: how the connection is secured; None asks for nothing.

        Raises:
            InvalidSettings, MissingExtra: the access can't be had.
        """
        self.url = url.rstrip("/")
        self._on_bulk: Callable[[Sequence[BulkItem]], None] | None = None
        # opensearch-py types its transport only in part; Any keeps the untyped calls at this one seam.
        self._client: Any = OpenSearch(
            hosts=[self.url],
            timeout=timeout_s,
            pool_maxsize=POOL_SIZE,
            connection_class=Urllib3HttpConnection,
            max_retries=0,  # retries are ours, by class of error
            http_compress=not _on_this_machine(self.url),
            **_secured(self.url, access or EngineAccess()),
        )

    def observe_bulk(self, listener: Callable[[Sequence[BulkItem]], None]) -> None:
        """Tell `listener` the outcomes of every bulk request; for metrics."""
        self._on_bulk = listener

    def close(self) -> None:
        """Close all connections."""
        self._client.close()

    def request(
        self,
        method: str,
        path: str,
        *,
        body: Json = None,
        params: Mapping[str, Any] | None = None,
        headers: Mapping[str, str] | None = None,
        retry: bool = True,
    ) -> Json:
        """Send one request.

        Args:
            method: HTTP method.
            path: begins with `/`.
            body: JSON-like, or a string of JSON lines.
            params: the query string.
            headers: beside, or instead of, the client's own.
            retry: whether to try again when the engine is overloaded or a connection broke.

        Raises:
            EngineUnreachable, EngineOverloaded, EngineRejected
        """
        call = partial(self._once, method, path, body, params, headers)
        return _with_retries(call) if retry else call()

    def _once(
        self,
        method: str,
        path: str,
        body: Json,
        params: Mapping[str, Any] | None,
        headers: Mapping[str, str] | None,
    ) -> Json:
        try:
            return self._client.transport.perform_request(
                method, path, params=dict(params or {}), body=body, headers=dict(headers or {})
            )
        except (foreign.OpenSearchException, foreign.ImproperlyConfigured) as error:
            raise map_error(error, f"{method} {self.url}{path}") from error

    def exists(self, path: str) -> bool:
        """Whether HEAD `path` answers 200."""
        return bool(self.request("HEAD", path))

    def get(self, index: str, id_: str) -> Json | None:
        """The `_source` (with `_seq_no`, `_primary_term` beside it: the whole answer) of one row, or None."""
        try:
            return self._client.get(index=index, id=id_)
        except foreign.NotFoundError as error:
            if isinstance(error.info, Mapping) and error.info.get("found") is False:
                return None
            raise map_error(error, f"{self.url}/{index}/_doc/{id_}") from error
        except foreign.OpenSearchException as error:
            raise map_error(error, f"{self.url}/{index}/_doc/{id_}") from error

    def search(self, index: str, body: Json, *, compressed: bool = True, **params: Any) -> Json:
        """One `_search`. `compressed=False` for answers that do not shrink: packing them takes the engine ten times as
        long as sending them."""
        headers = None if compressed else UNPACKED
        return self.request("POST", f"/{index}/_search", body=body, params=params, headers=headers)

    def msearch(self, searches: Sequence[tuple[Mapping[str, Any], Mapping[str, Any]]]) -> list[Json]:
        """One `_msearch`; each (header, body) gives one answer, in order. An answer may hold `error`: read it."""
        lines = "".join(f"{_dumps(header)}\n{_dumps(body)}\n" for header, body in searches)
        answer = self.request("POST", "/_msearch", body=lines)
        return list(answer["responses"])

    def bulk(self, lines: Iterable[str], *, refresh: str = "false") -> list[BulkItem]:
        """One `_bulk` of JSON lines; every item's outcome, in order. A refusal of the whole raises after retries."""
        body = "".join(f"{line}\n" for line in lines)
        answer = self.request("POST", "/_bulk", body=body, params={"refresh": refresh})
        items = [_bulk_item(item) for item in answer["items"]]
        if self._on_bulk is not None:
            self._on_bulk(items)
        return items


def _on_this_machine(url: str) -> bool:
    """Whether an engine is reached without a network, where packing costs both sides more than sending."""
    host = urlsplit(url).hostname or ""
    try:
        return ip_address(host).is_loopback
    except ValueError:
        return host == "localhost"


def _secured(url: str, access: EngineAccess) -> dict[str, Any]:
    """The client's own words for an access."""
    wanted: dict[str, Any] = {}
    if url.startswith("https:"):
        # Its own checks would take another list of authorities than the system's.
        wanted = {"ssl_context": access.tls} if access.verify else {"verify_certs": False, "ssl_show_warn": False}
    return wanted if access.authorize is None else {**wanted, "http_auth": access.authorize}


def _bulk_item(item: Mapping[str, Any]) -> BulkItem:
    ((action, outcome),) = item.items()
    failed = outcome.get("error")
    return BulkItem(
        action=action,
        id=outcome.get("_id") or "",
        status=int(outcome["status"]),
        error=reason_of(failed) if failed else None,
        seq_no=outcome.get("_seq_no"),
        primary_term=outcome.get("_primary_term"),
    )


def _dumps(value: Mapping[str, Any]) -> str:
    return json.dumps(value, ensure_ascii=False, separators=(",", ":"))


def _with_retries(call: Callable[[], Result]) -> Result:
    """The call, tried again where its error may pass. The first try has nothing around it: nearly all need no other."""
    try:
        return call()
    except (EngineOverloaded, EngineUnreachable) as error:
        failed: list[MafteachError] = [error]

    def again() -> Result:
        # The first try counts as one.
        if failed:
            raise failed.pop()
        return call()

    overload = Retrying(
        retry=retry_if_exception_type(EngineOverloaded),
        stop=stop_after_attempt(OVERLOAD_ATTEMPTS),
        wait=wait_random_exponential(multiplier=0.25, max=OVERLOAD_WAIT_MAX_S),
        reraise=True,
    )
    broken = Retrying(
        retry=retry_if_exception_type(EngineUnreachable), stop=stop_after_attempt(UNREACHABLE_ATTEMPTS), reraise=True
    )
    return cast(Result, overload(broken, again))
