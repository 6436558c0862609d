"""Bulk writes: bounded by count and by bytes, every item's outcome read, items that may succeed later sent again."""

from __future__ import annotations

import json
from collections import deque
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from concurrent.futures import Future, ThreadPoolExecutor
from dataclasses import dataclass
from typing import Any, Final, Literal

from tenacity import RetryCallState, Retrying, retry_if_result, stop_after_attempt, wait_random_exponential
from tenacity.wait import wait_base

from search_config.client import BulkItem, Engine
from search_config.errors import EngineRejected

Action = Literal["index", "create", "update", "delete"]

# An overloaded write queue drains within seconds: five tries over about 15 s.
ITEM_ATTEMPTS: Final = 5
ITEM_WAIT: Final = wait_random_exponential(multiplier=0.25, max=8)
# A concurrent writer of the same row changes it between read and write; the engine then tries again itself.
UPDATE_CONFLICT_RETRIES: Final = 3
TOO_LARGE: Final = 413

Send = Callable[[Sequence["BulkRow"]], list[BulkItem]]


@dataclass(frozen=True, slots=True)
class BulkRow:
    """One action of a bulk request.

    Attributes:
        action: `index` (write whole), `create` (the same, where there is no row yet), `update` (merge a part, or write
            `upsert` where there is no row), `delete`.
        id: the row's `_id`.
        body: the row's JSON; None for `delete`.
        seen: sequence number and primary term of the row as it was read; the action fails with 409 where another
            writer changed it since.
    """

    action: Action
    id: str
    body: str | None = None
    seen: tuple[int, int] | None = None

    def lines(self, index: str) -> list[str]:
        """The row as JSON lines."""
        target: dict[str, Any] = {"_index": index, "_id": self.id}
        if self.seen is not None:
            target["if_seq_no"], target["if_primary_term"] = self.seen
        elif self.action == "update":
            target["retry_on_conflict"] = UPDATE_CONFLICT_RETRIES
        head = to_json({self.action: target})
        return [head] if self.body is None else [head, self.body]


def to_json(value: Mapping[str, Any]) -> str:
    """Compact JSON; refuses NaN and infinity, which the engine would."""
    return json.dumps(value, ensure_ascii=False, separators=(",", ":"), allow_nan=False)


def write(
    engine: Engine,
    index: str,
    rows: Iterable[BulkRow],
    *,
    max_items: int,
    max_bytes: int,
    refresh: Literal["false", "true", "wait_for"] = "false",
    senders: int = 1,
) -> list[BulkItem]:
    """Write rows in as few requests as the bounds allow.

    Args:
        engine: where to.
        index: name of an index or alias.
        rows: read as they are needed, never all at once.
        max_items: most rows of one request.
        max_bytes: most bytes of one request; a row that is larger goes alone.
        refresh: whether what was written can be searched at once.
        senders: requests under way at one time; the next one is made ready meanwhile. With more than one the requests
            may arrive in any order: no row twice, then.

    Returns:
        One outcome a row, in order: read `ok` of each. Items that the engine was too busy for were sent again before.

    Raises:
        EngineUnreachable, EngineOverloaded, EngineRejected: of a whole request; what was sent before it is written.
    """

    def send(part: Sequence[BulkRow]) -> list[BulkItem]:
        return engine.bulk((line for row in part for line in row.lines(index)), refresh=refresh)

    return sent(send, batches(rows, index, max_items, max_bytes), senders)


def sent(send: Send, parts: Iterable[Sequence[BulkRow]], senders: int) -> list[BulkItem]:
    """Send parts, at most `senders` at one time; the outcomes in the order of the parts.

    Raises:
        the first error in that order; parts that were under way beside it are sent all the same.
    """
    if senders == 1:
        return [item for part in parts for item in send_retrying(send, part, wait=ITEM_WAIT)]
    written: list[BulkItem] = []
    under_way: deque[Future[list[BulkItem]]] = deque()
    with ThreadPoolExecutor(senders) as pool:
        for part in parts:
            if len(under_way) == senders:
                written += under_way.popleft().result()
            under_way.append(pool.submit(send_retrying, send, part, wait=ITEM_WAIT))
        for future in under_way:
            written += future.result()
    return written


def batches(rows: Iterable[BulkRow], index: str, max_items: int, max_bytes: int) -> Iterator[list[BulkRow]]:
    """Group rows, in order, within both bounds."""
    part: list[BulkRow] = []
    size = 0
    for row in rows:
        row_bytes = sum(len(line.encode()) + 1 for line in row.lines(index))
        if part and (len(part) >= max_items or size + row_bytes > max_bytes):
            yield part
            part, size = [], 0
        part.append(row)
        size += row_bytes
    if part:
        yield part


def send_retrying(send: Send, rows: Sequence[BulkRow], *, wait: wait_base) -> list[BulkItem]:
    """Send rows; those whose outcome is transient again, alone, with back-off; their last outcome counts."""
    outcomes: dict[int, BulkItem] = {}
    pending = list(range(len(rows)))

    def once() -> list[int]:
        answers = _send_within_limit(send, [rows[i] for i in pending])
        outcomes.update(zip(pending, answers, strict=True))
        pending[:] = [i for i in pending if outcomes[i].transient and not outcomes[i].ok]
        return pending

    retrying = Retrying(
        retry=retry_if_result(bool), stop=stop_after_attempt(ITEM_ATTEMPTS), wait=wait, retry_error_callback=_give_up
    )
    retrying(once)
    return [outcomes[i] for i in range(len(rows))]


def _give_up(_: RetryCallState) -> list[int]:
    """The outcomes of the last try say what failed."""
    return []


def _send_within_limit(send: Send, rows: Sequence[BulkRow]) -> list[BulkItem]:
    """Send; halve what the engine calls too large, down to the one row that is."""
    try:
        return send(rows)
    except EngineRejected as error:
        if getattr(error.__cause__, "status_code", None) != TOO_LARGE:
            raise
        if len(rows) == 1:
            return [BulkItem(action=rows[0].action, id=rows[0].id, status=TOO_LARGE, error=error.what)]
        middle = len(rows) // 2
        return _send_within_limit(send, rows[:middle]) + _send_within_limit(send, rows[middle:])
