"""Bulk requests: bounds, order, and which items are sent again. The engine itself is in tests/engine."""

from __future__ import annotations

import json
import threading
from collections.abc import Sequence

import pytest
from hypothesis import given
from hypothesis import strategies as st
from tenacity import wait_none

from ingest.bulk import ITEM_ATTEMPTS, BulkRow, batches, send_retrying, sent, to_json
from search_config.client import BulkItem
from search_config.errors import EngineRejected


def row(id_: str, size: int = 10) -> BulkRow:
    return BulkRow("index", id_, json.dumps({"x": "א" * size}, ensure_ascii=False))


@given(st.lists(st.integers(0, 400), max_size=40), st.integers(1, 10), st.integers(10, 1_000))
def test_batches_keep_order_and_bounds(sizes: list[int], max_items: int, max_bytes: int) -> None:
    rows = [row(str(i), size) for i, size in enumerate(sizes)]
    parts = list(batches(rows, "i", max_items, max_bytes))
    assert [one for part in parts for one in part] == rows
    for part in parts:
        lines = "".join(f"{line}\n" for one in part for line in one.lines("i"))
        assert len(part) == 1 or (len(part) <= max_items and len(lines.encode()) <= max_bytes)


class Receiver:
    """Answers as an engine that is busy, refuses, and takes, by the id of a row."""

    def __init__(self, busy: dict[str, int], largest: int = 1_000) -> None:
        self.busy = busy
        self.largest = largest
        self.seen: list[list[str]] = []

    def __call__(self, rows: Sequence[BulkRow]) -> list[BulkItem]:
        if len(rows) > self.largest:
            cause = ValueError("too large")
            cause.status_code = 413  # type: ignore[attr-defined]
            raise EngineRejected("OpenSearch refused this (413).") from cause
        self.seen.append([one.id for one in rows])
        return [self._answer(one.id) for one in rows]

    def _answer(self, id_: str) -> BulkItem:
        if self.busy.get(id_, 0) > 0:
            self.busy[id_] -= 1
            return BulkItem(action="index", id=id_, status=429, error="queue full")
        if id_.startswith("bad"):
            return BulkItem(action="index", id=id_, status=400, error="mapper error")
        return BulkItem(action="index", id=id_, status=201)


def test_only_transient_items_are_sent_again() -> None:
    receiver = Receiver({"b": 2, "d": 1})
    items = send_retrying(receiver, [row(id_) for id_ in ("a", "b", "bad", "d")], wait=wait_none())
    assert receiver.seen == [["a", "b", "bad", "d"], ["b", "d"], ["b"]]
    assert [(item.id, item.ok) for item in items] == [("a", True), ("b", True), ("bad", False), ("d", True)]


def test_what_stays_busy_is_reported_after_all_tries() -> None:
    receiver = Receiver({"a": 100})
    items = send_retrying(receiver, [row("a"), row("b")], wait=wait_none())
    assert len(receiver.seen) == ITEM_ATTEMPTS
    assert [(item.ok, item.status) for item in items] == [(False, 429), (True, 201)]


def test_a_request_too_large_is_halved_down_to_the_row_that_is() -> None:
    receiver = Receiver({}, largest=1)
    items = send_retrying(receiver, [row(str(i)) for i in range(5)], wait=wait_none())
    assert [item.id for item in items] == ["0", "1", "2", "3", "4"]
    assert all(item.ok for item in items)
    (one,) = send_retrying(Receiver({}, largest=0), [row("x")], wait=wait_none())
    assert (one.ok, one.status) == (False, 413)


def test_lines_name_the_row_and_conflicts() -> None:
    assert BulkRow("index", "1", "{}").lines("i") == ['{"index":{"_index":"i","_id":"1"}}', "{}"]
    assert BulkRow("delete", "1").lines("i") == ['{"delete":{"_index":"i","_id":"1"}}']
    assert "retry_on_conflict" in BulkRow("update", "1", "{}").lines("i")[0]


def test_json_that_the_engine_would_refuse_is_refused_here() -> None:
    with pytest.raises(ValueError, match="not JSON compliant"):
        to_json({"x": float("nan")})


def parts_of(count: int) -> list[list[BulkRow]]:
    return [[BulkRow("delete", f"{number}-{place}") for place in range(3)] for number in range(count)]


def test_two_senders_keep_two_requests_under_way_and_outcomes_in_order() -> None:
    together = threading.Barrier(2, timeout=30)

    def send(part: Sequence[BulkRow]) -> list[BulkItem]:
        together.wait()  # breaks where one request waits for the other's end
        return [BulkItem(action=row.action, id=row.id, status=200) for row in part]

    items = sent(send, parts_of(4), senders=2)
    assert [item.id for item in items] == [row.id for part in parts_of(4) for row in part]


@pytest.mark.parametrize("senders", [1, 2])
def test_a_request_that_fails_raises_and_ends_the_sending(senders: int) -> None:
    begun: list[str] = []

    def send(part: Sequence[BulkRow]) -> list[BulkItem]:
        begun.append(part[0].id)
        if part[0].id == "1-0":
            raise EngineRejected("no")
        return [BulkItem(action=row.action, id=row.id, status=200) for row in part]

    with pytest.raises(EngineRejected):
        sent(send, parts_of(9), senders=senders)
    assert "8-0" not in begun
